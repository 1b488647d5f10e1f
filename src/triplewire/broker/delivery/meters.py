"""What is counted of sending, for ``/metrics``."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)


@dataclass
class Histogram:
    """How often something took at most so many seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


@dataclass
class Meters:
    """By channel, since the broker started: notifications received by others, attempts that failed, and the time
    from a notification's being written to its being received, of those that are sent at once.
    """

    received: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    waits: dict[str, Histogram] = field(default_factory=lambda: defaultdict(Histogram))
