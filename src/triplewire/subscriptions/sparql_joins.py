"""What a query joins, as far as it tells how many rows that may come to. Needs no parser, and so does who reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from triplewire.subscriptions.pattern import Arc


@dataclass(frozen=True)
class Reach(Arc):
    """The object can be reached from the subject by any number of arcs."""


class Joined(NamedTuple):
    """What a group of a query joins: triples, so many rows that it brings along, and others' rows, of any branch."""

    arcs: tuple[Arc, ...]
    rows: int
    branches: tuple[tuple[Joined, ...], ...]

    def groups(self) -> Iterator[Joined]:
        """This one, and all within."""
        yield self
        for branch in self.branches:
            for one in branch:
                yield from one.groups()
