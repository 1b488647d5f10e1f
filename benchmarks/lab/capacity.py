"""How many machines so many subscriptions and events a second need: a model of the costs that were measured.

An event costs a core ``fixed + slope · (subscriptions / 1000) ** power`` microseconds: reading, lifting and telling,
and matching, whose power is that of the engine's growth. ``fixed`` and ``slope`` are fitted on the first two points of
``pipeline-cores``, which are of one core; the others are for checking. Subscriptions are cut into shards when they do
not fit into a machine's memory, or when that takes fewer machines; each shard is given every event.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.lab.experiment import Row
from benchmarks.lab.figure import column
from benchmarks.lab.fit import exponent
from benchmarks.lab.record import Record

CORES, MEMORY = 16, 64e9
"""Of a machine."""
USED = 0.7
"""The share of a machine's cores and memory that is planned for."""
FITTED = 2
MOST_SHARDS = 4096


@dataclass(frozen=True)
class Check:
    """A point that the model was not fitted on."""

    subscriptions: int
    cores: int
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1

    def __str__(self) -> str:
        cores = f"{self.cores} core{'s' if self.cores > 1 else ''}"
        return (
            f"{self.subscriptions:,} subscriptions on {cores}: predicted {self.predicted:,.0f} events a second, "
            f"measured {self.measured:,.0f} ({self.error:+.0%})."
        )


@dataclass(frozen=True)
class Costs:
    """Microseconds of a core, and bytes of memory."""

    fixed: float
    slope: float
    power: float
    bytes: float

    def event(self, subscriptions: float) -> float:
        """Microseconds of a core for an event."""
        return self.fixed + self.slope * (subscriptions / 1000) ** self.power

    def machines(self, subscriptions: float, rate: float) -> int:
        """The fewest machines, over all numbers of shards."""
        least = max(1, math.ceil(subscriptions * self.bytes / (MEMORY * USED)))
        shards = {least * 2**doubling for doubling in range(12)} | {least}
        return min(n * self._copies(subscriptions / n, rate) for n in shards if n <= max(least, MOST_SHARDS))

    def _copies(self, subscriptions: float, rate: float) -> int:
        return max(1, math.ceil(rate * self.event(subscriptions) / (CORES * USED * 1e6)))

    def check(self, point: Row) -> Check:
        size, cores, measured = (_number(point, name) for name in ("subscriptions", "cores", "events a second"))
        return Check(int(size), int(cores), cores * 1e6 / self.event(size), measured)


def fitted(points: Sequence[Row], growth: Sequence[Row]) -> tuple[Costs, list[Check]]:
    """The model, from ``pipeline-cores`` and ``growth-subscriptions``, and the points that it was not fitted on."""
    power = exponent(column(list(growth), "subscriptions", "µs"))
    first, second = points[0], points[min(1, len(points) - 1)]
    span = (_number(second, "subscriptions") / 1000) ** power - (_number(first, "subscriptions") / 1000) ** power
    slope = max((_spent(second) - _spent(first)) / span, 0.0) if span else 0.0
    largest = max(points, key=lambda point: _number(point, "subscriptions"))
    size = _number(largest, "index, MB") * 2**20 / _number(largest, "subscriptions")
    costs = Costs(_spent(first) - slope * (_number(first, "subscriptions") / 1000) ** power, slope, power, size)
    return costs, [costs.check(point) for point in points[FITTED:]]


def kept() -> tuple[Costs, list[Check]] | None:
    """The model of the data that was kept, if it was."""
    points, growth = (Record.read(name) for name in ("pipeline-cores", "growth-subscriptions"))
    return fitted(points.rows, growth.rows) if points and growth else None


def _spent(point: Row) -> float:
    """Microseconds of a core for an event."""
    return _number(point, "cores") * 1e6 / _number(point, "events a second")


def _number(point: Row, name: str) -> float:
    return float(point[name])  # type: ignore[arg-type]


SIZES = tuple(10**power for power in range(4, 10))
RATES = tuple(10**power for power in range(2, 7))


def page(costs: Costs, checks: Sequence[Check]) -> str:
    """The page on capacity: the model, its assumptions, how well it tells points it was not fitted on, and a table."""
    head = "| subscriptions | " + " | ".join(f"{rate:,} events/s" for rate in RATES) + " |"
    rows = [f"| {size:,} | " + " | ".join(f"{costs.machines(size, rate):,}" for rate in RATES) + " |" for size in SIZES]
    points = "\n".join(f"- {one}" for one in checks)
    return f"""# Capacity

How many machines so many subscriptions and events a second need, by a model of the costs that the lab measured. Made by
`make figures`; other numbers by `python -m benchmarks capacity --subscriptions N --events R`.

## The model

An event costs a core {costs.fixed:,.0f} µs for reading, exchange and telling, and {costs.slope:,.2f} µs ·
(subscriptions / 1000)^{costs.power:.2f} for matching. The power is the slope of [growth with subscriptions](lab.md);
the other two numbers are fitted on the first two points of the experiment `pipeline-cores`, which are of one core.
A subscription takes {costs.bytes:,.0f} bytes of an index.

Where the subscriptions do not fit into the memory of one machine, or fewer machines are needed so, they are cut into
shards. Each event goes to every shard; a shard that one machine is too slow for has several copies, among which the
events are shared out.

## What is assumed

- A machine has {CORES} cores of the kind that was measured and {MEMORY / 1e9:.0f} GB of memory; {USED:.0%} of either
  is planned for.
- Events have 55 triples, subscriptions 7 vertices and 8 arcs, and share beginnings as the lab's do. Other events cost
  in proportion to their triples; subscriptions with less in common cost more ([growth](lab.md)).
- Cores of one machine do not slow each other, and the network carries the events: at 1,000,000 events a second of 5 kB
  each shard takes in 5 GB a second, which takes several network cards or fewer events a copy.
- Delivery is not in it. It costs by the notification, not by the subscription: see the stages in the [lab](lab.md).
- Beyond the sizes that were measured the power is assumed to stay as it is.

## Points that it was not fitted on

{points}

## Machines

{head}
|{"---|" * (len(RATES) + 1)}
{chr(10).join(rows)}
"""
