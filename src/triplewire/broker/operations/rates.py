"""How far everything has got, looked at every two seconds, so that rates can be told of the last two minutes."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from triplewire.store import Store

EVERY = 2.0
KEPT = 60


@dataclass(frozen=True)
class Look:
    """How far log, pipeline and notifications had got at a time."""

    at: datetime
    log: int
    pipeline: int
    notifications: int

    @property
    def lag(self) -> int:
        return max(self.log - self.pipeline, 0)


class Rates:
    """Looks at how far everything has got. It costs three small queries, however large the store is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._looks: deque[Look] = deque(maxlen=KEPT + 1)
        self._looking = Lock()

    async def keep_looking(self) -> None:
        """Look every two seconds until cancelled, so that whoever comes sees what was before."""
        while True:
            with suppress(Exception):  # a courtesy, which the broker can do without
                await asyncio.to_thread(self.looks)
            await asyncio.sleep(EVERY)

    def looks(self) -> list[Look]:
        """What was seen of late, the newest last; nothing of it is much older than two seconds."""
        with self._looking:
            now, store = datetime.now(UTC), self._store
            if not self._looks or (now - self._looks[-1].at).total_seconds() >= EVERY * 0.9:
                done = store.pipeline_position()
                self._looks.append(Look(now, store.last_position(), done, store.last_notification()))
            return list(self._looks)
