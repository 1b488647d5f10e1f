"""Writing many things in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Together(Generic[Item, Result]):
    """Writes items to a store. Those that come while a commit is under way share the next one.

    ``write`` takes a list of items and returns as many results, once they are durable.
    """

    def __init__(self, write: Callable[[list[Item]], Sequence[Result]]) -> None:
        self._commit = write
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def write(self, item: Item) -> Result:
        """The result, once the item is durable."""
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await done

    async def _write(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                results = await asyncio.to_thread(self._commit, [item for item, _ in group])
            except Exception as error:
                for _, done in group:
                    if not done.done():
                        done.set_exception(error)
                continue
            for (_, done), result in zip(group, results, strict=True):
                if not done.done():  # whoever waited may have gone
                    done.set_result(result)
