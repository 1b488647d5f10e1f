"""Writing published events to the log, many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from triplewire.lift.cloudevents import Envelope
from triplewire.store import Store

Row = tuple[str, str, str]


class Publisher:
    """Writes events to the log. Those that arrive while a commit is under way share the next one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[tuple[list[Row], asyncio.Future[list[int]]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def publish(self, envelopes: Sequence[Envelope]) -> list[int]:
        """The events' log positions, once they are durable."""
        rows = [(e.source, e.id, e.as_json()) for e in envelopes]  # here, where it fails for nobody else
        done: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._waiting.append((rows, done))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await done

    async def _write(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            together = [row for rows, _ in group for row in rows]
            try:
                positions = iter(await asyncio.to_thread(self._store.append, together))
            except Exception as error:
                for _, done in group:
                    if not done.done():
                        done.set_exception(error)
                continue
            for rows, done in group:
                written = [next(positions) for _ in rows]
                if not done.done():  # its client may have gone
                    done.set_result(written)
