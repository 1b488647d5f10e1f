"""One SPARQL ``ASK`` for each subscription, as one would do with a triple store: in Oxigraph and in rdflib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import pyoxigraph
import rdflib
from pyoxigraph import Literal, NamedNode, Quad
from rdflib.plugins.sparql import prepareQuery

from benchmarks.peers.tasks import Answer, Filters, Graphs, Shape, Watch, taken
from benchmarks.workloads.comparisons import Test
from triplewire.rdf.terms import RDF

EX = "http://example.org/"
HOME = NamedNode(f"{EX}home")

Triples = list[tuple[NamedNode, NamedNode, NamedNode | Literal]]


def asks(task: Graphs | Filters) -> list[str]:
    """The subscriptions as queries."""
    if isinstance(task, Filters):
        return [_comparing(tests) for tests in task.tests]
    return [_finding(pattern) for pattern in task.patterns]


def triples(task: Graphs | Filters) -> list[Triples]:
    """The events as graphs, the home vertex named."""
    if isinstance(task, Filters):
        return [[(HOME, _attribute(n), Literal(value)) for n, value in enumerate(values)] for values in task.values]
    return [_arcs(shape) for shape in task.shapes]


def _arcs(shape: Shape) -> Triples:
    named = [HOME, *(NamedNode(f"{EX}n{n}") for n in range(1, len(shape.classes)))]
    types: Triples = [(one, RDF.type, NamedNode(f"{EX}C{cls}")) for one, cls in zip(named, shape.classes, strict=True)]
    return types + [(named[s], NamedNode(f"{EX}p{p}"), named[o]) for s, p, o in shape.arcs]


def _finding(pattern: Shape) -> str:
    """Two vertices of different classes differ anyway: each has one class."""
    named = [str(HOME), *(f"?v{n}" for n in range(1, len(pattern.classes)))]
    parts = [f"{named[s]} <{EX}p{p}> {named[o]}" for s, p, o in pattern.arcs]
    parts += [f"{one} a <{EX}C{cls}>" for one, cls in zip(named, pattern.classes, strict=True)]
    pairs = combinations(range(len(named)), 2)
    unlike = [f"{named[a]} != {named[b]}" for a, b in pairs if pattern.classes[a] == pattern.classes[b]]
    condition = f"FILTER({' && '.join(unlike)})" if unlike else ""
    return f"ASK {{ {' . '.join(parts)} {condition} }}"


def _comparing(tests: Sequence[Test]) -> str:
    parts = []
    for number, (attribute, operator, operand) in enumerate(tests):
        name, value = f"?v{number}", Literal(operand)
        condition = f"STRSTARTS({name}, {value})" if operator == "strstarts" else f"{name} {operator} {value}"
        parts.append(f"{HOME} {_attribute(attribute)} {name} FILTER({condition})")
    return f"ASK {{ {' '.join(parts)} }}"


def _attribute(number: int) -> NamedNode:
    return NamedNode(f"{EX}a{number}")


def oxigraph(task: Graphs | Filters, limit: float) -> Answer:
    queries, watch = asks(task), Watch(limit)

    def match(event: Triples) -> set[int]:
        store = pyoxigraph.Store()
        store.extend(Quad(*triple) for triple in event)
        return _yes(queries, store.query, watch)

    return taken(match, triples(task), watch)


def in_rdflib(task: Graphs | Filters, limit: float) -> Answer:
    """A query is parsed when it is first asked, and kept. One may take long, so the graph looks at the time."""
    queries, prepared, watch = asks(task), cache(prepareQuery), Watch(limit)

    class Watched(rdflib.Graph):
        def triples(self, *pattern: Any) -> Any:
            watch.check()
            return super().triples(*pattern)

    def match(event: str) -> set[int]:
        graph = Watched().parse(data=event, format="nt")
        return _yes(queries, lambda query: graph.query(prepared(query)), watch)

    return taken(match, ["".join(f"{s} {p} {o} .\n" for s, p, o in event) for event in triples(task)], watch)


def _yes(queries: Sequence[str], ask: Callable[[str], object], watch: Watch) -> set[int]:
    found = set()
    for number, query in enumerate(queries):
        watch.check()
        if ask(query):
            found.add(number)
    return found
