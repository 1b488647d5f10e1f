"""Experiments: what is measured, at which points, in three sizes."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Literal

Value = str | int | float | bool | None
Row = dict[str, Value]
"""What was measured at one point, under the names that figures know; the point's parameters are part of it."""
Point = dict[str, Value]
Scale = Literal["tiny", "normal", "full"]
"""In the tests, in ``make bench``, in ``make bench-full``."""
Measure = Callable[..., Row | Iterable[Row]]


@dataclass(frozen=True)
class Experiment:
    """A measure, called once for each point with the point's parameters.

    ``seconds`` is about how long all normal points take: the share of the time budget that it gets. ``absent`` says
    what is missing where it cannot be run, such as data or a program; None where it can.
    """

    name: str
    shows: str
    points: dict[Scale, list[Point]]
    seconds: float
    measure: Measure
    absent: Callable[[], str | None]

    def rows(self, point: Point) -> list[Row]:
        """The rows of one point."""
        found = self.measure(**point)
        return [point | row for row in ([found] if isinstance(found, dict) else found)]


EXPERIMENTS: dict[str, Experiment] = {}


def grid(**parameters: Value | tuple[Value, ...]) -> list[Point]:
    """All points of a grid: a parameter with several values is varied, the last one fastest."""
    values = [value if isinstance(value, tuple) else (value,) for value in parameters.values()]
    return [dict(zip(parameters, chosen, strict=True)) for chosen in product(*values)]


def experiment(
    name: str,
    shows: str,
    *,
    tiny: list[Point],
    normal: list[Point],
    full: list[Point] | None = None,
    seconds: float,
    absent: Callable[[], str | None] = lambda: None,
) -> Callable[[Measure], Measure]:
    """Register a measure as an experiment. A budget cuts points from the end: extremes come first."""

    def register(measure: Measure) -> Measure:
        if name in EXPERIMENTS:
            raise ValueError(f"there are two experiments {name!r}")
        points: dict[Scale, list[Point]] = {"tiny": tiny, "normal": normal, "full": full or normal}
        EXPERIMENTS[name] = Experiment(name, shows, points, seconds, measure, absent)
        return measure

    return register


def load() -> None:
    """Import every module of ``experiments``, so that all are registered."""
    package = import_module("benchmarks.lab.experiments")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
