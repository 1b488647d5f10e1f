"""What a lifter makes of a document: entries, each of which becomes an event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pyoxigraph import BlankNode, Literal

from triplewire.errors import EventError
from triplewire.rdf.terms import Resource, Triple


class Entry(NamedTuple):
    """An event in the making: its triples, its home vertex if the format has one, its key among others if any."""

    triples: Iterable[Triple]
    home: Resource | None = None
    key: str | None = None


class Blanks:
    """Fresh blank nodes: ``_:b0``, ``_:b1``, …"""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self) -> BlankNode:
        self._count += 1
        return BlankNode(f"b{self._count - 1}")


def check_literals(triples: Iterable[Triple], limit: int) -> None:
    """Refuse a literal that is longer than the limit."""
    for subject, property_, object_ in triples:
        if isinstance(object_, Literal) and len(object_.value) > limit:
            raise EventError(
                f"the value of {property_} at {subject} has {len(object_.value):,} characters; the limit is {limit:,}"
            )


def shown(value: Any, most: int = 60) -> str:
    """A value in an error message, cut to a length that a person reads."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}…"
