"""What a lifter makes of a document: entries, each of which becomes an event."""

from __future__ import annotations

from typing import NamedTuple

from pyoxigraph import BlankNode, Literal

from triplewire.errors import EventError
from triplewire.rdf.graph import Arcs
from triplewire.rdf.terms import Resource


class Entry(NamedTuple):
    """An event in the making: its arcs, its home vertex if the format has one, its key among others if any."""

    arcs: Arcs
    home: Resource | None = None
    key: str | None = None


class Blanks:
    """Fresh blank nodes: ``_:b0``, ``_:b1``, …"""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self) -> BlankNode:
        self._count += 1
        return BlankNode(f"b{self._count - 1}")


def check_literals(arcs: Arcs, limit: int) -> None:
    """Refuse a literal that is longer than the limit."""
    for subject, property_, object_, *_ in arcs:
        if isinstance(object_, Literal) and len(object_.value) > limit:
            raise EventError(
                f"the value of {property_} at {subject} has {len(object_.value):,} characters; the limit is {limit:,}"
            )
