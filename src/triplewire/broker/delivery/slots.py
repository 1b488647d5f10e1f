"""Places for what is under way at once; who matters more is let in first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count


class Slots:
    """So many places. While all are taken, the next free one goes to the highest priority, then to who came first."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._arrivals = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def at(self, priority: int) -> AsyncIterator[None]:
        """Hold a place."""
        await self._enter(priority)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, priority: int) -> None:
        if self._free:
            self._free -= 1
            return
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (-priority, next(self._arrivals), called))
        try:
            await called
        except asyncio.CancelledError:
            if called.done() and not called.cancelled():
                self._leave()  # called in just before: the next one may have the place
            raise

    def _leave(self) -> None:
        while self._waiting:
            *_, called = heappop(self._waiting)
            if not called.done():
                called.set_result(None)
                return
        self._free += 1
