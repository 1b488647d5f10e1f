"""The workload of the OPS paper's Figure 8: graphs that keep to meta-statements, and subscriptions cut out of them.

C classes, ten properties, each class with exactly two of them, one range for each: 2·C meta-statements. An event has
50 blank nodes and 55 arcs, a subscription 10 vertices and 11 arcs. The paper does not tell how it came to its matching
rates: graphs drawn at random hardly ever match. Here both are cut out of a few large graphs, or not.
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
    """Subscriptions and events without end, the same for the same seed, however many of the other kind were drawn.

    ``classes`` is C. *Planted*, subscriptions and events are cut out of ``bases`` large graphs in turn, and about 36%
    of the subscriptions out of an event's own graph match it: so the matching rate is about 36% / ``bases``, and with
    1.2 graphs a class, as by default, it is near the paper's: 3% for ten classes, 1.5% for twenty, 18% for two (the
    paper: 3%, 1.3%, 23.8%). Not planted, each is grown by itself from the meta-statements, and hardly any match.
    ``vertices`` and ``arcs`` are the paper's unless told otherwise.
    """

    def __init__(self, classes: int = 10, bases: int | None = None, planted: bool = True, seed: int = 1) -> None:
        rng = Random(seed)
        names = [EX[f"C{n}"] for n in range(classes)]
        self._statements = {
            cls: [MetaStatement(cls, p, rng.choice(names)) for p in rng.sample(PROPERTIES, 2)] for cls in names
        }
        self.model = ConceptModel(meta_statements=tuple(sorted(s for both in self._statements.values() for s in both)))
        count = (bases or max(2, round(1.2 * classes))) if planted else 0
        self._bases = [_large(rng, names[n % classes], self._statements) for n in range(count)]
        self._names = names
        self._subscriptions, self._events = _Draws(Random(f"{seed} s")), _Draws(Random(f"{seed} e"))

    def subscription(self, id_: str, vertices: int = 10, arcs_: int = 11) -> Subscription:
        base, arcs = self._part(self._subscriptions, vertices, arcs_)
        vertex: dict[int, Vertex] = {n: Variable(str(n)) if n else HOME for arc in arcs for n in (arc[0], arc[2])}
        pattern = Pattern(
            arcs=tuple(Arc(vertex[s], p, vertex[o], Scope.RELATIONS) for s, p, o in arcs),
            classes=tuple(ClassConstraint(name, base.classes[n]) for n, name in vertex.items()),
            mapping="injective",
        )
        return Subscription(id_, (Alternative(pattern),))

    def event(self, id_: str, vertices: int = 50, arcs_: int = 55) -> Event:
        base, arcs = self._part(self._events, vertices, arcs_)
        node = {n: BlankNode(f"n{n}" if n else "H") for arc in arcs for n in (arc[0], arc[2])}
        triples = [Triple(node[s], p, node[o]) for s, p, o in arcs]
        types = [Triple(name, RDF.type, base.classes[n]) for n, name in node.items()]
        return Event("benchmark", id_, Graph(triples + types, node[0]))

    def _part(self, draws: _Draws, vertices: int, arcs: int) -> tuple[Large, Cut]:
        draws.number += 1
        while True:
            if self._bases:
                base = self._bases[draws.number % len(self._bases)]
            else:
                home = draws.rng.choice(self._names)
                base = _large(draws.rng, home, self._statements, vertices, arcs - vertices + 1)
            found = base.part(draws.rng, vertices, arcs)
            if found is not None:
                return base, found


@dataclass
class _Draws:
    """What decides the next graph of one kind: chance, and how many there were."""

    rng: Random
    number: int = 0


def _large(
    rng: Random, home: NamedNode, statements: dict[NamedNode, list[MetaStatement]], vertices: int = 58, more: int = 9
) -> Large:
    """A tree, and some arcs more between vertices near its root."""
    classes, arcs = [home], []
    while len(classes) < vertices:
        subject = rng.randrange(len(classes))
        statement = rng.choice(statements[classes[subject]])
        arcs.append((subject, statement.property, len(classes)))
        classes.append(statement.object_class)
    near, tries = min(14, vertices), 0
    while len(arcs) < vertices - 1 + more:
        tries += 1
        if tries == 20_000:
            near = vertices
        elif tries == 40_000:  # there may be no arc more that the meta-statements allow
            return _large(rng, home, statements, vertices, more)
        subject, object_ = rng.randrange(near), rng.randrange(1, near)
        statement = rng.choice(statements[classes[subject]])
        arc = (subject, statement.property, object_)
        if subject != object_ and classes[object_] == statement.object_class and arc not in arcs:
            arcs.append(arc)
    return Large(classes, arcs)
