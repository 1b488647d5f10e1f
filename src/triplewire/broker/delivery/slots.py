"""Places for what is under way at once: nobody takes them all, and of one's own what matters more goes first."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count


class Slots:
    """So many places. While there is none for all who want one, the next goes to the owner who has the fewest.

    Of one owner's it goes to the highest priority, then to who came first. A quarter of the places is kept from whoever
    has all others, so that somebody who comes later need not wait for theirs.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._most = places - places // 4
        self._held: Counter[str] = Counter()
        self._arrivals = count()
        self._waiting: dict[str, list[tuple[int, int, asyncio.Future[None]]]] = {}

    @asynccontextmanager
    async def at(self, priority: int, owner: str) -> AsyncIterator[None]:
        """Hold a place."""
        await self._enter(priority, owner)
        try:
            yield
        finally:
            self._leave(owner)

    async def _enter(self, priority: int, owner: str) -> None:
        if self._admits(owner):
            self._take(owner)
            return
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting.setdefault(owner, []), (-priority, next(self._arrivals), called))
        try:
            await called
        except asyncio.CancelledError:
            if called.done() and not called.cancelled():
                self._leave(owner)  # called in just before: the next one may have the place
            raise

    def _admits(self, owner: str) -> bool:
        return self._free > 0 and self._held[owner] < self._most

    def _take(self, owner: str) -> None:
        self._free -= 1
        self._held[owner] += 1

    def _leave(self, owner: str) -> None:
        self._free += 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        while (next_ := self._next()) is not None:
            self._take(next_)

    def _next(self) -> str | None:
        """Call in whoever is next, if anybody may come in; whose that is."""
        for owner in [owner for owner, own in self._waiting.items() if _none_is_left(own)]:
            del self._waiting[owner]
        waiting = [owner for owner in self._waiting if self._admits(owner)]
        if not waiting:
            return None
        owner = min(waiting, key=lambda one: (self._held[one], self._waiting[one][0][:2]))
        *_, called = heappop(self._waiting[owner])
        called.set_result(None)
        return owner


def _none_is_left(waiting: list[tuple[int, int, asyncio.Future[None]]]) -> bool:
    """Whether nobody waits any more, once those are let go who have gone."""
    while waiting and waiting[0][-1].done():
        heappop(waiting)
    return not waiting
