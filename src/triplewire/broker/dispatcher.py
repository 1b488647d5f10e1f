"""Sending notifications to webhooks: in order, until they are received, and nobody waiting for anybody else."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

import triplewire
from triplewire.broker.addresses import Addresses
from triplewire.broker.circuits import Circuit, Circuits
from triplewire.broker.together import Together
from triplewire.broker.webhooks import message, message_id, signed
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.store import Attempt, Delivery, Notification, Store, moment_of

INTERVAL, LONGEST_INTERVAL = 0.1, 1.0
FIRST_DELAY, LONGEST_DELAY, GROWTH = timedelta(seconds=5), timedelta(hours=6), 3
PATIENCE = timedelta(days=3)
"""A webhook that fails for so long is stopped. What waits for it goes on waiting."""
TIMEOUT = httpx.Timeout(15, connect=5, pool=60)
WHOLE_TIMEOUT = 30
"""For a receiver that answers a byte at a time."""
AT_ONCE = {False: 256, True: 64}
"""How many are under way at once that work, and that are failing, so that those never take these ones' place."""
MOST_READ = 64 * 1024
PAGE = 20

log = logging.getLogger(__name__)


def delay(attempts: int, jitter: float) -> timedelta:
    """How long to wait after so many failed attempts: ever longer, and by a jitter in [0, 1) not the same for all."""
    longer: int = GROWTH ** min(attempts - 1, 16)
    return min(FIRST_DELAY * longer, LONGEST_DELAY) * (0.5 + jitter / 2)


class Dispatcher:
    """Delivers what the store has waiting. One per store.

    Each subscription's notifications are sent one after the other; the next is sent once it is written down that
    the one before was received. If that cannot be written, it is sent again.
    """

    def __init__(
        self,
        store: Store,
        addresses: Addresses,
        lifting: Lifting = DEFAULT,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._lifting = lifting
        self._clock = clock
        self._jitter = jitter
        self._client = addresses.client(timeout=TIMEOUT, headers={"User-Agent": f"Triplewire/{triplewire.__version__}"})
        self._circuits = Circuits()
        self._slots = {failing: asyncio.Semaphore(count) for failing, count in AT_ONCE.items()}
        self._settling: Together[Attempt, Delivery | None] = Together(store.deliveries.settle)
        self._under_way: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Deliver until cancelled; then let what is under way come to its end."""
        seen, looked = -1, 0.0
        try:
            while True:
                try:
                    newest = await asyncio.to_thread(self._store.last_notification)
                    if newest != seen or time.monotonic() - looked >= LONGEST_INTERVAL:
                        await self.look()
                        seen, looked = newest, time.monotonic()
                except Exception as error:  # what waits is still there when the store answers again
                    log.error("cannot read deliveries: %s", error)
                    await asyncio.sleep(LONGEST_INTERVAL)
                await asyncio.sleep(INTERVAL)
        finally:
            await self.close()

    async def look(self) -> None:
        """Begin to send what is due now."""
        now = self._clock()
        for subscription, url in await asyncio.to_thread(self._store.deliveries.due, moment_of(now)):
            circuit = self._circuits.of(url)
            if subscription not in self._under_way and circuit.admits(now):
                circuit.under_way += 1
                self._under_way[subscription] = asyncio.create_task(self._deliver(subscription, url, circuit))

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while self._under_way:
            await asyncio.wait(self._under_way.values())

    async def close(self, patience: float = 2.0) -> None:
        """Let what is under way come to its end, but not forever. What does not is sent again another time."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.settled(), patience)
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.aclose()

    async def _deliver(self, subscription: str, url: str, circuit: Circuit) -> None:
        """Send what waits for a webhook, until nothing does, or something fails, or somebody changes it."""
        try:
            while await self._deliver_page(subscription, url, circuit):
                pass
        except Exception as error:
            log.error("the delivery of %r was interrupted: %s", subscription, type(error).__name__)
        finally:
            circuit.under_way -= 1
            self._circuits.forget(url)
            del self._under_way[subscription]

    async def _deliver_page(self, subscription: str, url: str, circuit: Circuit) -> bool:
        """Send a few, and say whether to go on."""
        known, page = await asyncio.to_thread(self._page, subscription)
        if known is None or (known.url, known.state) != (url, "active"):
            return False
        for found, body in page:
            async with circuit.slots, self._slots[known.failing_since is not None]:
                if circuit.is_open(self._clock()):
                    return False
                attempt = await self._attempt(known, found, body, circuit)
            stands = await self._settling.write(attempt)
            if attempt.reason or stands is None or (stands.last, stands.state) != (found.number, "active"):
                return stands is not None and not attempt.reason and stands.state == "active"
            known = stands
        return bool(page)

    def _page(self, subscription: str) -> tuple[Delivery | None, list[tuple[Notification, bytes]]]:
        """How a delivery stands, and the next few that wait, with what is to be sent of each."""
        known = self._store.deliveries.of([subscription], moment_of(self._clock())).get(subscription)
        if known is None:
            return None, []
        few = 1 if known.failing_since else PAGE
        waiting = self._store.deliveries.waiting(subscription, known.last, few)
        return known, [(found, message(found, known.format, self._lifting)) for found in waiting]

    async def _attempt(self, known: Delivery, found: Notification, body: bytes, circuit: Circuit) -> Attempt:
        headers = signed(body, message_id(found), int(self._clock().timestamp()), known.secrets)
        after = timedelta()
        try:
            async with asyncio.timeout(WHOLE_TIMEOUT):
                status, after = await self._send(known.url, body, dict(headers))
        except Exception as error:  # whatever goes wrong with one receiver is a matter of this delivery
            circuit.failed(self._clock())
            return self._failed(known, found, _why(error), after)
        circuit.succeeded()
        if 200 <= status < 300:
            now = moment_of(self._clock())
            return Attempt(known, found.number, now, now)
        return self._failed(known, found, _said(status), after, gone=status == HTTPStatus.GONE)

    async def _send(self, url: str, body: bytes, headers: dict[str, str]) -> tuple[int, timedelta]:
        """The status that a receiver answers with, and how long it asks to be left alone."""
        headers |= {"Content-Type": "application/json"}
        async with self._client.stream("POST", url, content=body, headers=headers) as answer:
            read = 0
            async for chunk in answer.aiter_raw():  # to its end, if that is near: then the connection can be used again
                read += len(chunk)
                if read > MOST_READ:
                    break
            return answer.status_code, _retry_after(answer.headers.get("retry-after", ""), self._clock())

    def _failed(
        self, known: Delivery, found: Notification, reason: str, after: timedelta, gone: bool = False
    ) -> Attempt:
        now = self._clock()
        due = now + max(delay(known.attempts + 1, self._jitter()), min(after, LONGEST_DELAY))
        since = datetime.fromisoformat(known.failing_since) if known.failing_since else now
        state = "ended" if gone else "stopped" if now - since >= PATIENCE else "active"
        return Attempt(known, found.number, moment_of(now), moment_of(due), reason, state)


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "no answer in time"
    what = "connection" if isinstance(error, httpx.ConnectError) else "answer"
    return f"no {what}: {str(error) or type(error).__name__}"


def _said(status: int) -> str:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    moved = ", and redirects are not followed" if 300 <= status < 400 else ""
    return f"the answer was {status} {phrase}".strip() + moved


def _retry_after(header: str, now: datetime) -> timedelta:
    """For how long a receiver asks to be left alone, in seconds or until a date; not at all, if it says neither."""
    if header.isascii() and header.isdigit():
        return timedelta(seconds=min(int(header[:9]), LONGEST_DELAY.total_seconds()))
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, TypeError):
        return timedelta()
    return max((until if until.tzinfo else until.replace(tzinfo=UTC)) - now, timedelta())
