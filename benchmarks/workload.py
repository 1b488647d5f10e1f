"""The workload of the OPS paper's Figure 8: graphs that keep to meta-statements, and subscriptions cut out of them.

C classes, ten properties, each class with exactly two of them, one range for each: 2·C meta-statements. An event has
50 blank nodes and 55 arcs, a subscription 10 vertices and 11 arcs. Both are cut out of a few large graphs, so that
some percent of the subscriptions match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from pyoxigraph import BlankNode, NamedNode

from triplewire.concepts.metastatements import MetaStatement
from triplewire.concepts.model import ConceptModel
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import RDF, Triple, Vocabulary
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    ClassConstraint,
    Pattern,
    Scope,
    Subscription,
    Variable,
    Vertex,
)

EX = Vocabulary("http://example.org/")
PROPERTIES = [EX[f"p{n}"] for n in range(10)]

Cut = list[tuple[int, NamedNode, int]]
"""Arcs between the vertices of a large graph."""


@dataclass(frozen=True)
class Large:
    """A graph to cut parts out of; vertex 0 is home."""

    classes: Sequence[NamedNode]
    arcs: Cut

    def part(self, rng: Random, vertices: int, arcs: int) -> Cut | None:
        """A random part with so many vertices and arcs, all reachable from the home vertex; None if none was found."""
        inside, chosen = {0}, []
        while len(inside) < vertices:
            ways = [arc for arc in self.arcs if arc[0] in inside and arc[2] not in inside]
            if not ways:
                return None
            chosen.append(rng.choice(ways))
            inside.add(chosen[-1][2])
        more = [arc for arc in self.arcs if arc[0] in inside and arc[2] in inside and arc not in chosen]
        wanted = arcs - len(chosen)
        return chosen + rng.sample(more, wanted) if len(more) >= wanted else None


class Workload:
    """Subscriptions and events without end, the same for the same seed."""

    def __init__(self, classes: int = 10, bases: int = 12, seed: int = 1) -> None:
        self._rng = rng = Random(seed)
        names = [EX[f"C{n}"] for n in range(classes)]
        statements = {
            cls: [MetaStatement(cls, p, rng.choice(names)) for p in rng.sample(PROPERTIES, 2)] for cls in names
        }
        self.model = ConceptModel(meta_statements=tuple(sorted(s for both in statements.values() for s in both)))
        self._bases = [_large(rng, names[n % classes], statements) for n in range(bases)]

    def subscription(self, id_: str, vertices: int = 10, arcs_: int = 11) -> Subscription:
        base, arcs = self._part(vertices, arcs_)
        vertex: dict[int, Vertex] = {n: Variable(str(n)) if n else HOME for arc in arcs for n in (arc[0], arc[2])}
        pattern = Pattern(
            arcs=tuple(Arc(vertex[s], p, vertex[o], Scope.RELATIONS) for s, p, o in arcs),
            classes=tuple(ClassConstraint(name, base.classes[n]) for n, name in vertex.items()),
            mapping="injective",
        )
        return Subscription(id_, (Alternative(pattern),))

    def event(self, id_: str, vertices: int = 50, arcs_: int = 55) -> Event:
        base, arcs = self._part(vertices, arcs_)
        node = {n: BlankNode(f"n{n}" if n else "H") for arc in arcs for n in (arc[0], arc[2])}
        triples = [Triple(node[s], p, node[o]) for s, p, o in arcs]
        types = [Triple(name, RDF.type, base.classes[n]) for n, name in node.items()]
        return Event("benchmark", id_, Graph(triples + types, node[0]))

    def _part(self, vertices: int, arcs: int) -> tuple[Large, Cut]:
        while True:
            base = self._rng.choice(self._bases)
            found = base.part(self._rng, vertices, arcs)
            if found is not None:
                return base, found


def _large(rng: Random, home: NamedNode, statements: dict[NamedNode, list[MetaStatement]]) -> Large:
    """A tree of 58 vertices, and nine arcs more between those near its root."""
    classes, arcs = [home], []
    while len(classes) < 58:
        subject = rng.randrange(len(classes))
        statement = rng.choice(statements[classes[subject]])
        arcs.append((subject, statement.property, len(classes)))
        classes.append(statement.object_class)
    near, tries = 14, 0
    while len(arcs) < 57 + 9:
        tries += 1
        near = 58 if tries > 20_000 else near
        subject, object_ = rng.randrange(near), rng.randrange(1, near)
        statement = rng.choice(statements[classes[subject]])
        arc = (subject, statement.property, object_)
        if subject != object_ and classes[object_] == statement.object_class and arc not in arcs:
            arcs.append(arc)
    return Large(classes, arcs)
