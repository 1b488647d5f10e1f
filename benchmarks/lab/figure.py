"""Figures: each a function from the rows of its experiments to panels and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchmarks.lab.chart import Bars, Panel
from benchmarks.lab.experiment import Row

Holds = Literal["holds", "holds in part", "does not hold", "no claim"]


@dataclass(frozen=True)
class Section:
    """A part of the page; parts stand in their ``order``."""

    order: int
    title: str
    intro: str


@dataclass(frozen=True)
class Drawn:
    """What the data shows. The sentence and the verdict are made from the rows, so that they change with them."""

    panels: tuple[Panel | Bars, ...]
    sentence: str
    holds: Holds = "no claim"


Draw = Callable[..., Drawn]


@dataclass(frozen=True)
class Figure:
    """A figure of the page: ``draw`` is called with the rows of each of its experiments.

    ``claim`` is what is to be seen, in a paper's own terms where it is a paper's.
    """

    name: str
    title: str
    section: Section
    experiments: tuple[str, ...]
    claim: str
    draw: Draw


FIGURES: dict[str, Figure] = {}


def figure(name: str, title: str, section: Section, experiments: tuple[str, ...], claim: str) -> Callable[[Draw], Draw]:
    """Register a figure."""

    def register(draw: Draw) -> Draw:
        if name in FIGURES:
            raise ValueError(f"there are two figures {name!r}")
        FIGURES[name] = Figure(name, title, section, experiments, claim, draw)
        return draw

    return register


def column(rows: list[Row], x: str, y: str, **where: object) -> list[tuple[float, float]]:
    """The points of a line: two columns of the rows that have these values, without those that lack either.

    They are in order of x, as rows need not be: an experiment may begin with its extremes.
    """
    chosen = (row for row in rows if all(row.get(key) == value for key, value in where.items()))
    points = [(row[x], row[y]) for row in chosen if row.get(x) is not None and row.get(y) is not None]
    return sorted(points)  # type: ignore[arg-type]


def ordered(rows: list[Row], by: str) -> list[Row]:
    """Rows in order of a column."""
    return sorted(rows, key=lambda row: float(row[by] or 0))
