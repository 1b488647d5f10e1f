"""Places for what is under way at once: nobody takes them all, and of one's own what matters more goes first."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count


class Slots:
    """So many places. While there is none for all who want one, the next goes to the owner who has the fewest.

    Of those who have as few, they have it in turn; of one owner's, the highest priority, then who came first. A quarter
    of the places is kept from whoever has all others, so that somebody who comes later need not wait for theirs.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._most = places - places // 4
        self._held: Counter[str] = Counter()
        self._arrivals = count()
        self._waiting: dict[str, list[tuple[int, int, asyncio.Future[None]]]] = {}
        self._lines: dict[int, OrderedDict[str, None]] = {}
        """Who waits, by how many places they have. There are few lines: who stands in different ones has different
        numbers of places, and all together have no more than there are."""

    @asynccontextmanager
    async def at(self, priority: int, owner: str) -> AsyncIterator[None]:
        """Hold a place."""
        await self._enter(priority, owner)
        try:
            yield
        finally:
            self._leave(owner)

    async def _enter(self, priority: int, owner: str) -> None:
        if self._free > 0 and self._held[owner] < self._most:
            self._hold(owner, 1)
            return
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting.setdefault(owner, []), (-priority, next(self._arrivals), called))
        self._line_up(owner)
        try:
            await called
        except asyncio.CancelledError:
            if called.done() and not called.cancelled():
                self._leave(owner)  # called in just before: the next one may have the place
            raise

    def _leave(self, owner: str) -> None:
        self._hold(owner, -1)
        while self._free > 0 and self._lines and (fewest := min(self._lines)) < self._most:
            self._call(next(iter(self._lines[fewest])))

    def _call(self, owner: str) -> None:
        """Call in the next of an owner's, unless it has gone."""
        *_, called = heappop(self._waiting[owner])
        if not self._waiting[owner]:
            self._step_out(owner)
            del self._waiting[owner]
        if not called.done():
            called.set_result(None)
            self._hold(owner, 1)

    def _hold(self, owner: str, more: int) -> None:
        """Have an owner hold one more, or one less; they stand last in their new line."""
        self._step_out(owner)
        self._free -= more
        self._held[owner] += more
        if not self._held[owner]:
            del self._held[owner]
        self._line_up(owner)

    def _line_up(self, owner: str) -> None:
        if owner in self._waiting:
            self._lines.setdefault(self._held[owner], OrderedDict()).setdefault(owner)

    def _step_out(self, owner: str) -> None:
        if owner in self._waiting:
            line = self._lines[self._held[owner]]
            del line[owner]
            if not line:
                del self._lines[self._held[owner]]
