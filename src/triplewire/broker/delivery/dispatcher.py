"""Sending notifications: in order, until they are received, and nobody waiting for anybody else."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from triplewire.broker.delivery.addresses import Addresses
from triplewire.broker.delivery.channels import Channel, Webhooks
from triplewire.broker.delivery.circuits import Circuit, Circuits
from triplewire.broker.delivery.connections import Connections
from triplewire.broker.delivery.hub import WebSub
from triplewire.broker.delivery.mail import Mail
from triplewire.broker.delivery.mailer import Mailer
from triplewire.broker.delivery.parcels import Parcel, is_joined, parcels, portion
from triplewire.broker.delivery.retries import Answer, failed, no_answer
from triplewire.broker.delivery.slots import Slots
from triplewire.broker.operations.logs import tell
from triplewire.broker.operations.meters import Meters
from triplewire.broker.together import Together
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.store import Attempt, Delivery, Due, Notification, Standing, Store, moment_of

INTERVAL, SHORTEST, LONGEST_INTERVAL = 0.1, 0.01, 1.0
"""Seconds between two looks for new notifications, and where a look takes no time; and for whatever else is due."""
LATEST = 5.0
"""Seconds until whatever else is due is looked for though there is much to do: those that fail have their turn, too."""
WHOLE_TIMEOUT = 30
"""Seconds, whatever is waited for."""
AT_ONCE = {Standing.PROVEN: 256, Standing.NEW: 256, Standing.FAILING: 64}
"""How many are under way at once, by what is known of them, so that the dead never take the place of the living."""
MOST_OF_ONE = 512
"""So many deliveries of one owner are under way, or wait for a place, at once; the others are looked at later."""
FEW = 4
"""So many of those that fail are begun at a time."""
GROUP = 32
"""So many are read, or prepared, together: the next ones are, while these are being sent."""

log = logging.getLogger(__name__)


class Dispatcher:
    """Delivers what the store has waiting. One per store.

    Each delivery's parcels are sent one after the other; the next is sent once it is written down that the one
    before was received. If that cannot be written, it is sent again. ``links`` is where we are reached.
    """

    def __init__(
        self,
        store: Store,
        addresses: Addresses,
        lifting: Lifting = DEFAULT,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        jitter: Callable[[], float] = random.random,
        meters: Meters | None = None,
        mailer: Mailer | None = None,
        links: str = "",
        circuits: Circuits | None = None,
    ) -> None:
        self._store = store
        self._lifting = lifting
        self._clock = clock
        self._jitter = jitter
        self._connections = Connections(addresses)
        self._channels: dict[str, Channel] = {
            "webhook": Webhooks(self._connections, lifting, clock, links),
            "email": Mail(mailer, lifting),
            "websub": WebSub(self._connections, lifting),
        }
        self._circuits = circuits or Circuits()
        self._slots = {standing: Slots(count) for standing, count in AT_ONCE.items()}
        self._reading: Together[int, tuple[Delivery | None, list[Notification]]] = Together(self._read, GROUP)
        self._preparing: Together[tuple[Delivery, Parcel], Any] = Together(self._prepare, GROUP)
        self._settling: Together[Attempt, Delivery | None] = Together(store.deliveries.settle)
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._again: set[int] = set()
        self._failing: dict[int, Due] = {}
        self._trying: asyncio.Task[None] | None = None
        self._owners: Counter[str] = Counter()
        self._meters = meters or Meters()

    async def run(self) -> None:
        """Deliver until cancelled; then let what is under way come to its end."""
        seen, looked, quick = -1, 0.0, None
        try:
            while True:
                try:
                    quick = newest = self._store.glance()
                    if newest is None:
                        newest = await asyncio.to_thread(self._store.look)
                    if newest != seen:
                        seen = newest if await self.look(Standing.NEW) else -1
                    if time.monotonic() - looked >= (LATEST if self._is_busy() else LONGEST_INTERVAL):
                        looked = time.monotonic()
                        await self.look()
                except Exception as error:  # what waits is still there when the store answers again
                    log.error("cannot read deliveries: %s", error)
                    await asyncio.sleep(LONGEST_INTERVAL)
                await asyncio.sleep(INTERVAL if quick is None or seen < 0 else SHORTEST)
        finally:
            await self.close()

    async def look(self, worst: Standing = Standing.FAILING) -> bool:
        """Begin to send what is due now to those of a standing up to the ``worst``, all in turn.

        Those that fail are tried a few at a time, while nobody else has anything to be sent. Whether that was all of
        it, as none has too much under way.
        """
        complete = True
        for due in await asyncio.to_thread(self._store.deliveries.due, self._clock(), worst):
            if due.standing is not Standing.FAILING:
                complete &= self._begin(due)
            elif due.delivery not in self._under_way:
                self._failing[due.delivery] = due
        if self._failing and (self._trying is None or self._trying.done()):
            self._trying = asyncio.create_task(self._try_again())
        return complete

    def _begin(self, due: Due) -> bool:
        """Begin to send, unless that is under way or the host is left alone; or say that its owner has too much."""
        if due.delivery in self._under_way:
            self._again.add(due.delivery)
            return True
        if self._owners[due.owner] >= MOST_OF_ONE:
            return False
        circuit = self._circuits.of(due.url)
        if circuit.admits(self._clock()):
            circuit.under_way += 1
            self._owners[due.owner] += 1
            self._under_way[due.delivery] = asyncio.create_task(self._deliver(due, circuit))
        return True

    async def _try_again(self) -> None:
        """Begin to send to those that fail, a few at a time."""
        while self._failing:
            await self._calm()
            for number in list(islice(self._failing, FEW)):
                self._begin(self._failing.pop(number))
            await asyncio.sleep(SHORTEST)

    async def _calm(self) -> None:
        """Wait until nothing is to be read or prepared, but not for long."""
        until = time.monotonic() + LONGEST_INTERVAL
        while self._is_busy() and time.monotonic() < until:
            await asyncio.sleep(SHORTEST)

    def _is_busy(self) -> bool:
        return self._reading.is_busy or self._preparing.is_busy

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while self._under_way or self._failing:
            await asyncio.wait([*self._under_way.values(), *([self._trying] if self._trying else [])])

    async def close(self, patience: float = 2.0) -> None:
        """Let what is under way come to its end, but not forever. What does not is sent again another time."""
        self._failing.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.settled(), patience)
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._connections.close()

    async def _deliver(self, due: Due, circuit: Circuit) -> None:
        """Send what waits, until nothing does, or something fails, or somebody changes it."""
        try:
            while await self._deliver_page(due, circuit):
                pass
        except Exception as error:
            log.error("the delivery of %r was interrupted: %s", due.subscription, type(error).__name__)
        finally:
            circuit.under_way -= 1
            self._owners[due.owner] -= 1
            if not self._owners[due.owner]:
                del self._owners[due.owner]
            self._circuits.forget(due.url)
            self._again.discard(due.delivery)
            del self._under_way[due.delivery]

    async def _deliver_page(self, due: Due, circuit: Circuit) -> bool:
        """Send a few, and say whether to go on, as there are more."""
        self._again.discard(due.delivery)
        known, waiting = await self._reading.done(due.delivery, due.standing)
        if known is None or (known.url, known.state) != (due.url, "active") or known.due > moment_of(self._clock()):
            return False
        more = len(waiting) == portion(known, self._clock()).limit
        page = await self._parcels(known, waiting)
        for parcel in page:
            prepared = await self._prepared(known, parcel)
            async with circuit.slots, self._slots[known.standing].at(known.terms.priority, due.owner):
                if circuit.is_open(self._clock()):
                    return False
                attempt = await self._attempt(known, parcel, prepared, circuit)
            if attempt.reason:
                await self._calm()
            stands = await self._settling.done(attempt)
            if attempt.reason or stands is None or stands.state != "active" or stands.due > attempt.moment:
                return False
            if stands.last != parcel.number:
                return True
            known = stands
        return more or due.delivery in self._again

    def _read(self, numbers: list[int]) -> list[tuple[Delivery | None, list[Notification]]]:
        """How deliveries stand, and what waits next for each."""
        now = self._clock()
        known = self._store.deliveries.at(numbers, moment_of(now))
        waiting = self._store.deliveries.waiting([portion(one, now) for one in known.values()])
        found = dict(zip(known, waiting, strict=True))
        return [(known.get(number), found.get(number, [])) for number in numbers]

    async def _parcels(self, known: Delivery, waiting: Sequence[Notification]) -> list[Parcel]:
        if known.terms.duplicates:  # to compare graphs may take long
            return await asyncio.to_thread(parcels, self._store, known, waiting, self._lifting)
        return parcels(self._store, known, waiting, self._lifting)

    async def _prepared(self, known: Delivery, parcel: Parcel) -> Any:
        """What is to be sent of a parcel."""
        if not parcel.notifications:
            return None
        if is_joined(known):  # many at once may take long
            return await asyncio.to_thread(self._channels[known.channel].prepare, known, parcel)
        return await self._preparing.done((known, parcel), known.standing)

    def _prepare(self, several: list[tuple[Delivery, Parcel]]) -> list[Any]:
        return [_or_error(self._channels[known.channel].prepare, known, parcel) for known, parcel in several]

    async def _attempt(self, known: Delivery, parcel: Parcel, prepared: Any, circuit: Circuit) -> Attempt:
        if not parcel.notifications:
            moment = moment_of(self._clock())
            return Attempt(known, parcel.number, moment, moment, count=0, omitted=parcel.suppressed)
        began = time.monotonic()
        try:
            async with asyncio.timeout(WHOLE_TIMEOUT):
                answer = await self._channels[known.channel].send(known, prepared)
            circuit.succeeded()
        except Exception as error:  # whatever goes wrong with one receiver is a matter of this delivery
            circuit.failed(self._clock())
            answer = no_answer(error)
        attempt = self._came_of(known, parcel, answer)
        _tell(attempt, answer.status, time.monotonic() - began)
        return attempt

    def _came_of(self, known: Delivery, parcel: Parcel, answer: Answer) -> Attempt:
        if answer.reason:
            self._meters.failed.labels(known.channel).inc()
            return failed(known, parcel, answer, self._clock(), self._jitter())
        self._count(known, parcel)
        now = self._clock()
        next_ = now + timedelta(seconds=known.terms.throttling)
        received = Attempt(known, parcel.number, moment_of(now), moment_of(next_), count=len(parcel.notifications))
        return replace(received, omitted=parcel.suppressed, told=parcel.told)

    def _count(self, known: Delivery, parcel: Parcel) -> None:
        self._meters.received.labels(known.channel).inc(len(parcel.notifications))
        if not is_joined(known):
            for found in parcel.notifications:
                wait = self._clock() - datetime.fromisoformat(found.created)
                self._meters.waits.labels(known.channel).observe(wait.total_seconds())


def _or_error(prepare: Callable[[Delivery, Parcel], Any], known: Delivery, parcel: Parcel) -> Any:
    try:
        return prepare(known, parcel)
    except Exception as error:  # whatever cannot be told is a matter of this delivery
        return error


def _tell(attempt: Attempt, status: int | None, seconds: float) -> None:
    """Log what came of an attempt. Of the address only the host: the rest may be as good as a password."""
    known = attempt.delivery
    given_up = any(one.kind == "undelivered" for one in attempt.omitted)
    became = "put aside" if given_up else "failed" if attempt.state == "active" else attempt.state
    tell(
        log,
        logging.WARNING if attempt.reason else logging.INFO,
        f"delivery {became if attempt.reason else 'sent'}",
        subscription=known.subscription,
        channel=known.channel,
        host=urlsplit(known.url).hostname or known.url.rpartition("@")[2],
        status=status,
        ms=round(seconds * 1000, 1),
        attempt=known.attempts + 1,
        notifications=attempt.count,
    )
