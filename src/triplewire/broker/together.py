"""Doing many things in one go: one transaction, one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Together(Generic[Item, Result]):
    """Does things in a thread of its own. Those that come while it is busy are done next, together.

    ``do`` takes a list of items and returns as many results, once all are done; an error among them is that item's own.
    At most ``most`` are done at once, and what comes of a lower ``rank`` goes first.
    """

    def __init__(self, do: Callable[[list[Item]], Sequence[Result | Exception]], most: int | None = None) -> None:
        self._do = do
        self._thread = ThreadPoolExecutor(1)
        self._most = most
        self._waiting: list[tuple[int, Item, asyncio.Future[Result]]] = []
        self._working: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        return self._working is not None and not self._working.done()

    async def done(self, item: Item, rank: int = 0) -> Result:
        """The result, once it is there."""
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((rank, item, result))
        if not self.is_busy:
            self._working = asyncio.create_task(self._work())
        return await result

    async def _work(self) -> None:
        while self._waiting:
            self._waiting.sort(key=lambda one: one[0])
            group = self._waiting[: self._most]
            del self._waiting[: len(group)]
            try:
                working = asyncio.get_running_loop().run_in_executor(self._thread, self._do, [one[1] for one in group])
                results = await working
            except Exception as error:
                results = [error] * len(group)
            for (*_, waiting), result in zip(group, results, strict=True):
                if waiting.done():  # whoever waited may have gone
                    continue
                if isinstance(result, Exception):
                    waiting.set_exception(result)
                else:
                    waiting.set_result(result)
