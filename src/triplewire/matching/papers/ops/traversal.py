"""The event's arcs, breadth first from the home vertex, as typed-statements."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.metastatements import MetaStatement
from triplewire.concepts.model import ConceptModel
from triplewire.matching.papers.eventgraph import EventGraph
from triplewire.matching.papers.ops.ems import EMSArray
from triplewire.rdf.terms import RDFS


class TypedStatements(NamedTuple):
    """The arcs from one vertex to another, with their meta-statements: several if a vertex has several classes, or if
    several properties hold."""

    subject: int
    object: int
    metas: tuple[MetaStatement, ...]


def traverse(event: EventGraph, array: EMSArray) -> Iterator[TypedStatements]:
    """Every pair of vertices that is joined and can be reached from the home vertex, once, breadth first.

    G* holds an arc under all its properties and a vertex under all its classes. Here only the lowest are named, as an
    event does; the array's ancestors have the others.
    """
    if event.home is None:
        return
    classes = _Classes(event)
    queue, reached = deque([event.home]), {event.home}
    while queue:
        subject = queue.popleft()
        for object_, properties in event.leaving[subject].items():
            lowest = _lowest(properties, array.superproperties)
            parts = product(classes.of(subject), lowest, classes.of(object_))
            yield TypedStatements(subject, object_, tuple(map(MetaStatement._make, parts)))
            if object_ not in reached:
                reached.add(object_)
                queue.append(object_)


class _Classes:
    """The lowest classes of an event's vertices."""

    def __init__(self, event: EventGraph) -> None:
        self._event = event
        self._model: ConceptModel = event.event.model
        self._known: dict[int, list[NamedNode]] = {}

    def of(self, vertex: int) -> list[NamedNode]:
        """The datatype of a literal, the lowest classes of a resource; ``rdfs:Resource`` if it has none."""
        found = self._known.get(vertex)
        if found is None:
            found = self._known[vertex] = self._lowest(vertex)
        return found

    def _lowest(self, vertex: int) -> list[NamedNode]:
        term = self._event.terms[vertex]
        if isinstance(term, Literal):
            return [term.datatype]
        names = (self._model.names.get(cls, cls) for cls in self._event.types(vertex))
        classes = {cls for cls in names if isinstance(cls, NamedNode)} - {RDFS.Resource}
        return _lowest(classes, self._model.superclasses) or [RDFS.Resource]


def _lowest(terms: Iterable[NamedNode], above: Callable[[NamedNode], frozenset[NamedNode]]) -> list[NamedNode]:
    """Those that no other one is below, in order; of equivalent ones the first."""
    kept: list[NamedNode] = []
    ordered = sorted(terms, key=str)
    if len(ordered) < 2:
        return ordered
    for term in ordered:
        below = (other for other in ordered if other != term and term in above(other))
        if not any(other not in above(term) or str(other) < str(term) for other in below):
            kept.append(term)
    return kept
