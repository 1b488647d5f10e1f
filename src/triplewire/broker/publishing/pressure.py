"""How much more can be taken in: the events that wait to be written, those that wait to be matched, and the disk."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from triplewire.broker.http.problems import ProblemError
from triplewire.broker.publishing.publisher import Publisher
from triplewire.store import Store

FRESH = 0.5
"""For so many seconds what was measured is good enough."""
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Beyond these nothing more is taken in: events to be written, events to be matched, free bytes of the disk."""

    waiting: int = 10_000
    lag: int = 1_000_000
    free: int = 200 * MEBIBYTE


@dataclass(frozen=True)
class Measured:
    """The newest event's position, the one up to which events are matched, and the bytes that are free."""

    log: int
    pipeline: int
    free: int | None

    @property
    def lag(self) -> int:
        return max(self.log - self.pipeline, 0)


class Pressure:
    """Refuses events while there are too many, so that those which were accepted come through."""

    def __init__(self, store: Store, home: Path | None, limits: Limits) -> None:
        self.limits = limits
        self._store = store
        self._home = home
        self._measured: Measured | None = None
        self._at = 0.0

    async def check(self, publisher: Publisher, more: int) -> None:
        """Refuse ``more`` events if too many wait to be written or to be matched, or if the disk is full."""
        if self._measured is None or time.monotonic() - self._at > FRESH:
            self._at = time.monotonic()  # whoever comes meanwhile goes by what was known before
            self._measured = await asyncio.to_thread(self.measured)
        for reason, seconds in self.reasons(self._measured):
            raise _refused(reason, seconds)
        if (waiting := publisher.waiting) and waiting + more > self.limits.waiting:
            raise _refused(f"{waiting:,} events are waiting to be written", 1)

    def measured(self) -> Measured:
        free = None if self._home is None else shutil.disk_usage(self._home).free
        return Measured(self._store.last_position(), self._store.pipeline_position(), free)

    def reasons(self, found: Measured) -> Iterator[tuple[str, int]]:
        """Why nothing is taken in, if so, and for how many seconds it may well stay so."""
        if found.free is not None and found.free < self.limits.free:
            yield f"the disk has {found.free // MEBIBYTE:,} MiB left, and {self.limits.free // MEBIBYTE:,} are kept", 60
        if found.lag > self.limits.lag:
            yield f"{found.lag:,} events are waiting to be matched", 5


def _refused(reason: str, seconds: int) -> ProblemError:
    detail = f"{reason}; send it again later"
    return ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Retry-After": str(seconds)})
