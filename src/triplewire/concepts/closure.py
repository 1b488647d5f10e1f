"""G*: an event together with what the concept model adds to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel, reachable
from triplewire.concepts.profile import Profiles
from triplewire.concepts.taxonomy import Attached
from triplewire.rdf.graph import Graph
from triplewire.rdf.terms import RDF, RDFS, Resource, Term, Triple, renamed


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
    names: Mapping[Resource, Resource]

    def name(self, term: Term) -> Term:
        """The name under which this event knows a term."""
        return term if isinstance(term, Literal) else self.names.get(term, term)

    @cached_property
    def vertices(self) -> frozenset[Term]:
        return frozenset(end for triple in self.closed for end in (triple.subject, triple.object))

    @cached_property
    def profiles(self) -> Profiles:
        """What the event and its vertices are about."""
        return Profiles(Graph(self.asserted, self.home), self.model)

    def profiles_with(self, attached: Attached) -> Profiles:
        """The same as if the model had some further concepts."""
        return Profiles(self.profiles.graph, self.model, attached) if attached else self.profiles

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
        names = self.model.aliases(vertex)
        tables = (self.model.types, self.model.class_parents)
        by_model = {self.name(cls) for table in tables for name in names for cls in table.get(name, ())}
        return frozenset(by_event | by_model - {vertex})


def close(graph: Graph, model: ConceptModel) -> ClosedEvent:
    """Add to an event everything the concept model says of it, and nothing else."""
    names = _own_names(graph, model)
    asserted = frozenset(renamed(triple, names) for triple in graph.triples) if names else graph.triples
    members = set(_list_members(asserted))
    silent = {property_: model.is_silent(property_) for property_ in {triple.property for triple in asserted}}
    speaking = members | {triple for triple in asserted if not silent[triple.property]}
    relations = {fact for t in speaking if t.property != RDF.type for fact in _under_entailed(t, model)}
    relations |= asserted - speaking
    closed: set[Triple] = set(asserted - speaking)
    new = speaking | {renamed(triple, names) for triple in _known_types(graph, model)}
    while new:
        closed |= new
        new = {renamed(fact, names) for triple in new for fact in consequences(triple, model)} - closed
    return ClosedEvent(
        model=model,
        home=graph.home and names.get(graph.home, graph.home),
        asserted=asserted,
        relations=frozenset(arc for arc in relations if arc.property != RDF.type),
        closed=frozenset(closed),
        names=names,
    )


def _known_types(graph: Graph, model: ConceptModel) -> Iterator[Triple]:
    """The types that the model asserts of the event's vertices."""
    for vertex in graph.resources:
        for name in model.aliases(vertex):
            yield from (Triple(vertex, RDF.type, cls) for cls in model.types.get(name, ()))


def _list_members(asserted: frozenset[Triple]) -> Iterator[Triple]:
    """``rdfs:member`` from each cell of an RDF list to every member from there on."""
    first = {(t.subject, t.object) for t in asserted if t.property == RDF.first}
    if not first:
        return
    rest: dict[Resource, set[Resource]] = defaultdict(set)
    for t in asserted:
        if t.property == RDF.rest and not isinstance(t.object, Literal):
            rest[t.subject].add(t.object)
    for cell in {cell for cell, _ in first} | rest.keys():
        tail = reachable(cell, lambda one: rest.get(one, ()))
        yield from (Triple(cell, RDFS.member, member) for one, member in first if one in tail)


def consequences(triple: Triple, model: ConceptModel) -> Iterator[Triple]:
    """What follows from one triple in one step."""
    subject, property_, object_ = triple
    yield from _under_entailed(triple, model)
    if property_ == RDF.type and isinstance(object_, NamedNode):
        yield from (Triple(subject, RDF.type, cls) for cls in model.superclasses(object_))
    if model.typing == "rdfs":
        yield from _typed(subject, model.domains.get(property_, ()), model)
        if not isinstance(object_, Literal):
            yield from _typed(object_, model.ranges.get(property_, ()), model)


def _typed(vertex: Resource, classes: Iterable[Resource], model: ConceptModel) -> Iterator[Triple]:
    return (Triple(vertex, RDF.type, named) for cls in classes for named in model.superclasses(cls))


def _under_entailed(triple: Triple, model: ConceptModel) -> Iterator[Triple]:
    """The arc under every property that holds with its own. An arc to a literal cannot be turned round."""
    subject, property_, object_ = triple
    if isinstance(object_, Literal):
        yield from (Triple(subject, above, object_) for above in model.superproperties(property_))
    else:
        for entailed, back in model.entailed(property_):
            yield Triple(object_, entailed, subject) if back else Triple(subject, entailed, object_)


def _own_names(graph: Graph, model: ConceptModel) -> Mapping[Resource, Resource]:
    """The name of each thing with synonyms: the event's own, of several the first in code-point order."""
    if not model.names:
        return model.names
    names = dict(model.names)
    for vertex in sorted(graph.resources & model.names.keys(), key=str, reverse=True):
        names |= dict.fromkeys(model.aliases(vertex), vertex)
    return names
