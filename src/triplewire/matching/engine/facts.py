"""What an event says, vertex by vertex: the closed event ready to be put into numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.closure import ClosedEvent, close
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.profile import event_profile
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import RDF, Resource, Term, Triple
from triplewire.subscriptions.pattern import Scope

Arcs = dict[NamedNode, list[tuple[int, int]]]


class Facts:
    """An event closed under the model, its vertices numbered."""

    def __init__(self, event: Event, model: ConceptModel) -> None:
        self.event = event
        self.model = model

    @cached_property
    def closed(self) -> ClosedEvent:
        return close(self.event.graph, self.model)

    @cached_property
    def profile(self) -> frozenset[NamedNode]:
        return event_profile(self.event.graph, self.model)

    @cached_property
    def vertices(self) -> list[Term]:
        """Every vertex of G*, and the home vertex even if it is none."""
        found = dict.fromkeys(end for triple in self.closed.closed for end in (triple.subject, triple.object))
        return list(found if self.closed.home is None else found | {self.closed.home: None})

    @cached_property
    def numbers(self) -> dict[Term, int]:
        return {term: number for number, term in enumerate(self.vertices)}

    @cached_property
    def types(self) -> dict[Resource, list[Resource]]:
        """The classes of each vertex in G*."""
        return _types(self.closed.closed)

    @cached_property
    def asserted_types(self) -> dict[Resource, list[Resource]]:
        return _types(self.closed.asserted)

    def arcs(self, scope: Scope) -> Arcs:
        """The arcs in a scope, by property, each as the numbers of its ends."""
        triples = {
            Scope.CLOSED: self.closed.closed,
            Scope.RELATIONS: self.closed.relations,
            Scope.ASSERTED: self.closed.asserted,
        }[scope]
        found: Arcs = {}
        for subject, property_, object_ in triples:
            found.setdefault(property_, []).append((self.numbers[subject], self.numbers[object_]))
        return found


def _types(triples: Iterable[Triple]) -> dict[Resource, list[Resource]]:
    found: dict[Resource, list[Resource]] = {}
    for subject, property_, object_ in triples:
        if property_ == RDF.type and not isinstance(object_, Literal):
            found.setdefault(subject, []).append(object_)
    return found
