"""Whether the store can be written, for whoever asks, and however many do."""

from __future__ import annotations

import asyncio
import logging
import time

from triplewire.errors import StoreError
from triplewire.store import Store

PATIENCE, FRESH = 5.0, 1.0
"""Seconds that the store has to answer, and for which an answer is good enough."""

log = logging.getLogger(__name__)


class Probe:
    """Writes to the store, to see that it can be done: once a second at most, and once at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._at = 0.0
        self._writing: asyncio.Task[bool] | None = None

    async def is_writable(self) -> bool:
        """Whether it can be done, as far as can be told in time."""
        if self._writing is None or (self._writing.done() and time.monotonic() - self._at > FRESH):
            self._at = time.monotonic()
            self._writing = asyncio.create_task(asyncio.to_thread(self._write))
        try:
            return await asyncio.wait_for(asyncio.shield(self._writing), PATIENCE)
        except TimeoutError:
            return False

    def _write(self) -> bool:
        try:
            self._store.probe()
        except StoreError as error:
            log.error("the store cannot be written: %s", error)
            return False
        return True
