"""The second oracle: pattern and mapping translated to SPARQL, and Oxigraph asked on a materialised G*.

It shares with brute force only the values that go in and out. G* comes from property paths over the model's own
statements, and the operators of filters are Oxigraph's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

from pyoxigraph import DefaultGraph, NamedNode, Quad, QuerySolution, QuerySolutions, Store

from triplewire.concepts.closure import ClosedEvent
from triplewire.concepts.datatypes import datatype_tree
from triplewire.concepts.model import ConceptModel
from triplewire.errors import UsageError
from triplewire.matching.answer import outcome, told, told_match
from triplewire.matching.matcher import Binding, Match
from triplewire.matching.residual import written_forms
from triplewire.matching.translation import ASSERTED, HOME, MODEL, RELATIONS, Names, prefixed, translate
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import OWL, RDF, RDFS, Resource, Term, Triple, renamed
from triplewire.subscriptions.pattern import Alternative, Home, Subscription, Variable, Vertex

Tables: TypeAlias = list[tuple[Mapping[Any, Iterable[Resource]], NamedNode]]

_SUBCLASS = "(rdfs:subClassOf|owl:sameAs|^owl:sameAs)*"
_NUMBERED = 'FILTER(REGEX(STR(?p), "^http://www.w3.org/1999/02/22-rdf-syntax-ns#_[1-9][0-9]*$"))'
_LISTS = [
    "INSERT { ?l rdfs:member ?x . GRAPH tw:relations { ?l rdfs:member ?x } } "
    "WHERE { GRAPH tw:asserted { ?l rdf:rest*/rdf:first ?x FILTER(!isLiteral(?l)) } }",
]
_RULES = [
    # an arc under its super-properties and, reversed, under its inverses
    "INSERT { ?s ?q ?o } WHERE { GRAPH tw:model { ?p rdfs:subPropertyOf ?q } ?s ?p ?o }",
    "INSERT { ?o ?q ?s } WHERE { GRAPH tw:model { ?p owl:inverseOf ?q } ?s ?p ?o FILTER(!isLiteral(?o)) }",
    f"INSERT {{ ?s rdfs:member ?o }} WHERE {{ ?s ?p ?o {_NUMBERED} }}",
    # a type under its superclasses
    f"INSERT {{ ?s a ?d }} WHERE {{ ?s a ?c . GRAPH tw:model {{ ?c {_SUBCLASS} ?d }} FILTER(isIRI(?c) && isIRI(?d)) }}",
]
_RDFS_RULES = [
    f"INSERT {{ ?s a ?c }} WHERE {{ ?s ?p ?o . GRAPH tw:model {{ ?p rdfs:domain/{_SUBCLASS} ?c }} FILTER(isIRI(?c)) }}",
    f"INSERT {{ ?o a ?c }} WHERE {{ ?s ?p ?o . GRAPH tw:model {{ ?p rdfs:range/{_SUBCLASS} ?c }} "
    "FILTER(isIRI(?c) && !isLiteral(?o)) }",
]
_RELATION_RULES = [
    "INSERT { GRAPH tw:relations { ?s ?q ?o } } "
    "WHERE { GRAPH tw:model { ?p rdfs:subPropertyOf ?q } GRAPH tw:relations { ?s ?p ?o } }",
    "INSERT { GRAPH tw:relations { ?o ?q ?s } } "
    "WHERE { GRAPH tw:model { ?p owl:inverseOf ?q } GRAPH tw:relations { ?s ?p ?o } FILTER(!isLiteral(?o)) }",
    "INSERT { GRAPH tw:relations { ?s rdfs:member ?o } } "
    f"WHERE {{ GRAPH tw:relations {{ ?s ?p ?o {_NUMBERED} }} }}",
]


class SparqlOracle:
    """Asks Oxigraph about every subscription on every event."""

    def __init__(self, model: ConceptModel) -> None:
        self.model = model
        self._subscriptions: dict[str, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        patterns = [alternative.pattern for alternative in subscription.alternatives]
        if any(pattern.interests or pattern.is_graded for pattern in patterns):
            raise UsageError("SPARQL cannot express similarity")
        self._subscriptions[subscription.id] = subscription

    def remove(self, id_: str) -> None:
        del self._subscriptions[id_]

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        names = _names(event.graph, self.model)
        store = materialise(event.graph, self.model, names)
        closed = _closed(store, event.graph, names, self.model)
        found = []
        for id_ in sorted(self._subscriptions):
            subscription = self._subscriptions[id_]
            asked = [_ask(alternative, store, closed) for alternative in subscription.alternatives]
            rows = outcome(subscription, closed, asked, bindings)
            if rows is not None and bindings:
                found.append(told_match(event.id, subscription, closed, 1.0, rows))
            elif rows is not None:
                found.append(Match(event.id, id_))
        return found


def materialise(graph: Graph, model: ConceptModel, names: Names) -> Store:
    """G* in the default graph; the event as asserted, its relations, and the model in graphs of their own."""
    store = Store()
    event = [renamed(triple, names) for triple in graph.triples]
    store.extend(Quad(*t, ASSERTED) for t in event)
    store.extend(Quad(*t, DefaultGraph()) for t in event)
    store.extend(Quad(*t, RELATIONS) for t in event if t.property != RDF.type)
    statements = list(_statements(model, names))
    store.extend(Quad(*t, MODEL) for t in statements)
    vertices = {end for t in event for end in (t.subject, t.object)}
    types = (t for t in statements if t.property == RDF.type and t.subject in vertices)
    store.extend(Quad(*t, DefaultGraph()) for t in types)
    _to_fixpoint(store, _LISTS)
    _to_fixpoint(store, _RELATION_RULES)
    store.update(prefixed("DELETE WHERE { GRAPH tw:relations { ?s a ?c } }"))
    _to_fixpoint(store, _RULES + (_RDFS_RULES if model.typing == "rdfs" else []))
    return store


def _to_fixpoint(store: Store, rules: list[str]) -> None:
    size = -1
    while size != len(store):
        size = len(store)
        for rule in rules:
            store.update(prefixed(rule))


def _statements(model: ConceptModel, names: Names) -> Iterator[Triple]:
    """The model's tables as the RDF that they came from, with the tree of datatypes; properties keep their names."""
    properties: Tables = [(model.property_parents, RDFS.subPropertyOf), (model.inverses, OWL.inverseOf)]
    classes: Tables = [(model.class_parents, RDFS.subClassOf), (model.types, RDF.type), (model.same, OWL.sameAs)]
    classes.append((datatype_tree(), RDFS.subClassOf))
    typings: Tables = [(model.domains, RDFS.domain), (model.ranges, RDFS.range)]
    for triple in _rows(properties):
        yield triple
    for triple in _rows(classes):
        yield renamed(triple, names)
    for property_, word, cls in _rows(typings):
        yield Triple(property_, word, names.get(cls, cls))  # type: ignore[arg-type]


def _rows(tables: Tables) -> Iterator[Triple]:
    for table, word in tables:
        yield from (Triple(child, word, parent) for child, parents in table.items() for parent in parents)


def _names(graph: Graph, model: ConceptModel) -> Names:
    """One name for all that are the same: the event's own, of several the first; else the first of all."""
    names: dict[Resource, Resource] = {}
    for name in model.same:
        group = {name}
        while wider := {other for one in group for other in model.same.get(one, ())} - group:
            group |= wider
        names[name] = min(group & graph.resources or group, key=str)
    return names


def _ask(alternative: Alternative, store: Store, event: ClosedEvent) -> list[Binding] | None:
    """What the mappings of an alternative's pattern tell, literals in the event's own form; None if there is none."""
    home = event.home
    if alternative.pattern.needs_home and home is None:
        return None
    query = translate(alternative.pattern, event.names)
    found = cast(QuerySolutions, store.query(query, substitutions={HOME: home} if home is not None else None))
    own = written_forms(event.asserted)

    def image(row: QuerySolution, vertex: Vertex) -> Term | None:
        match vertex:
            case Variable(name):
                term: Term = row[f"v_{name}"]
                return own.get(term, term)
            case Home():
                return home
            case _:
                return event.name(vertex)

    return [told(alternative, partial(image, row)) for row in found] or None


def _closed(store: Store, graph: Graph, names: Names, model: ConceptModel) -> ClosedEvent:
    """The materialised graphs as the value that residuals are checked on, literals in the event's own form."""
    own = written_forms(graph.triples)

    def triples(graph: NamedNode | DefaultGraph) -> frozenset[Triple]:
        quads = store.quads_for_pattern(None, None, None, graph)
        return frozenset(Triple(q.subject, q.predicate, own.get(q.object, q.object)) for q in quads)  # type: ignore[arg-type]

    home = graph.home and names.get(graph.home, graph.home)
    return ClosedEvent(model, home, triples(ASSERTED), triples(RELATIONS), triples(DefaultGraph()), names)
