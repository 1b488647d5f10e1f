"""New notifications as they arise, for any number of listeners."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Hashable, Sequence
from dataclasses import dataclass, field

from triplewire.store import Notification, Store

INTERVAL, SHORTEST = 0.02, 0.005
"""Seconds between two looks at the store, and where a look takes no time; half of that is lost on an event's way."""
WINDOW = 1000
AT_ONCE = 100
"""So many are read and told together at most: the first are told while the others are read."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Batch:
    """Notifications that are told together, and how they were written for those who are told the same."""

    notifications: Sequence[Notification]
    written: dict[Hashable, bytes] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return self.notifications[-1].number


class Feed:
    """Follows the store's notifications for all listeners at once, and rests while there are none.

    The newest notifications are kept in a window, so that each is read from the store once, not once per listener.
    A listener that is further behind reads the store by itself until it has caught up.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners = 0
        self._poller: asyncio.Task[None] | None = None
        self._window: deque[Batch] = deque()
        self._held = 0  # so many notifications are in the window
        self._floor: int | None = None  # the window holds everything after this number
        self._newest: int | None = None
        self._grown = asyncio.Event()
        self._ended = False

    def end(self) -> None:
        """Let go of the listeners: we are going down."""
        self._ended = True
        self._wake()

    async def follow(self, number: int) -> AsyncGenerator[Batch]:
        """The notifications after a number, those together that are there together, until the feed is ended."""
        self._enter()
        try:
            while not self._ended:
                grown = self._grown
                if found := await self._after(number):
                    yield found
                    number = found.last
                else:
                    await grown.wait()
        finally:
            self._leave()

    async def _after(self, number: int) -> Batch | None:
        if self._floor is None or number < self._floor:
            found = await asyncio.to_thread(self._store.notifications, number, AT_ONCE)
            return Batch(found) if found else None
        new: Batch | None = None
        for batch in reversed(self._window):  # most have heard all but the last
            if batch.last <= number:
                break
            new = batch
        if new is None or new.notifications[0].number > number:
            return new
        return Batch([found for found in new.notifications if found.number > number])

    async def _poll(self) -> None:
        while True:
            try:
                quick = newest = self._store.glance()
                if newest is None:
                    newest = await asyncio.to_thread(self._store.look)
                if newest == self._newest or not await self._advance():
                    await asyncio.sleep(INTERVAL if quick is None else SHORTEST)
            except Exception as error:  # the listeners wait until the store answers again
                logger.error("cannot read notifications: %s", error)
                await asyncio.sleep(1)

    async def _advance(self) -> bool:
        """Put what is new into the window, and say whether there was anything."""
        if self._floor is None:
            self._floor = self._newest = await asyncio.to_thread(self._store.last_notification)
            self._wake()  # what was written since the listeners looked is below the window, and theirs to read
            return True
        found = self._store.at_a_glance(self._newest or 0, AT_ONCE)
        if found is None:
            found = await asyncio.to_thread(self._store.notifications, self._newest or 0, AT_ONCE)
        if found:
            self._newest = found[-1].number
            self._window.append(Batch(found))
            self._held += len(found)
            while self._held > WINDOW:
                passed = self._window.popleft()
                self._held -= len(passed.notifications)
                self._floor = passed.last
            self._wake()
            await asyncio.sleep(0)  # it is told before more is read
        return bool(found)

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()

    def _enter(self) -> None:
        self._listeners += 1
        if self._listeners == 1:
            self._poller = asyncio.create_task(self._poll())

    def _leave(self) -> None:
        self._listeners -= 1
        if self._listeners == 0 and self._poller is not None:
            self._poller.cancel()
            self._poller, self._floor, self._newest = None, None, None
            self._window.clear()
            self._held = 0
