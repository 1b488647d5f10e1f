"""G*: an event together with what the concept model adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel
from triplewire.rdf.graph import Graph
from triplewire.rdf.terms import RDF, Resource, Term, Triple


@dataclass(frozen=True)
class ClosedEvent:
    """An event's graph closed under the concept model.

    ``asserted`` are the event's own triples, ``closed`` is G*, and ``relations`` is the part of it that does not
    come from ``rdf:type``. Names that the model declares to be the same are one name in all three: the event's own.
    """

    model: ConceptModel
    home: Resource | None
    asserted: frozenset[Triple]
    relations: frozenset[Triple]
    closed: frozenset[Triple]
    names: dict[Term, Term]

    def name(self, term: Term) -> Term:
        """The name under which this event knows a term."""
        return self.names.get(term, term)

    @cached_property
    def vertices(self) -> frozenset[Term]:
        return frozenset(end for triple in self.closed for end in (triple.subject, triple.object))

    def has_class(self, vertex: Term, cls: Resource) -> bool:
        """Whether a class constraint holds of a vertex."""
        if vertex not in self.vertices:
            return False
        if isinstance(vertex, Literal):
            return cls in self.model.literal_classes(vertex)
        return cls in EVERY_RESOURCE or Triple(vertex, RDF.type, self.name(cls)) in self.closed

    def asserted_classes(self, vertex: Term) -> frozenset[Term]:
        """The classes that event or model state outright for a vertex, and its stated parents if it is a class."""
        if isinstance(vertex, Literal):
            return frozenset({vertex.datatype})
        by_event = {t.object for t in self.asserted if t.subject == vertex and t.property == RDF.type}
        tables = (self.model.types, self.model.class_parents)
        by_model = {c for alias in self.model.aliases(vertex) for table in tables for c in table.get(alias, ())}  # type: ignore[call-overload]
        return frozenset(by_event | {self.name(cls) for cls in by_model} - {vertex})


def close(graph: Graph, model: ConceptModel) -> ClosedEvent:
    """Add to an event everything the concept model says of it, and nothing else."""
    names = _own_names(graph, model)

    def named(triple: Triple) -> Triple:
        subject, property_, object_ = triple
        return Triple(names.get(subject, subject), property_, names.get(object_, object_))  # type: ignore[arg-type]

    asserted = frozenset(map(named, graph.triples))
    relations = {
        fact for t in asserted if t.property != RDF.type for fact in _under_entailed(t, model) if fact.property != RDF.type
    }
    known = {Triple(v, RDF.type, c) for v in graph.vertices for a in model.aliases(v) for c in model.types.get(a, ())}  # type: ignore[arg-type]
    closed = set(asserted)
    new = closed | set(map(named, known))
    while new:
        closed |= new
        new = {named(fact) for triple in new for fact in _consequences(triple, model)} - closed
    home = graph.home and names.get(graph.home, graph.home)
    return ClosedEvent(model, home, asserted, frozenset(relations), frozenset(closed), names)  # type: ignore[arg-type]


def _consequences(triple: Triple, model: ConceptModel) -> Iterator[Triple]:
    """What follows from one triple in one step."""
    subject, property_, object_ = triple
    yield from _under_entailed(triple, model)
    if property_ == RDF.type and isinstance(object_, NamedNode):
        yield from (Triple(subject, RDF.type, cls) for cls in model.superclasses(object_))
    if model.typing == "rdfs":
        yield from (Triple(subject, RDF.type, cls) for cls in model.domains.get(property_, ()))
        if not isinstance(object_, Literal):
            yield from (Triple(object_, RDF.type, cls) for cls in model.ranges.get(property_, ()))


def _under_entailed(triple: Triple, model: ConceptModel) -> Iterator[Triple]:
    """The arc under every property that holds with its own. An arc to a literal cannot be turned round."""
    subject, property_, object_ = triple
    if isinstance(object_, Literal):
        yield from (Triple(subject, above, object_) for above in model.superproperties(property_))
    else:
        for entailed, back in model.entailed(property_):
            yield Triple(object_, entailed, subject) if back else Triple(subject, entailed, object_)


def _own_names(graph: Graph, model: ConceptModel) -> dict[Term, Term]:
    """The name of each term with synonyms: the event's own, of several the first in code-point order."""
    names = dict(model.names)
    for vertex in sorted((v for v in graph.vertices if v in model.names), key=str, reverse=True):
        names |= dict.fromkeys(model.aliases(vertex), vertex)
    return names
