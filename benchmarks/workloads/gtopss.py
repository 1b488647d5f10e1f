"""The workload of the G-ToPSS paper's Table 1: publications and subscriptions of named vertices, with few variables.

The paper draws a publication, then the subscriptions that match it as parts of it, then others that overlap and others
that do not, and puts stars into most. A subscription of 5 vertices and 35 edges, its default, is no part of a
publication drawn as it says (35 vertices, 90 edges). So here a publication is drawn from its parts: as many graphs of a
subscription's size as fit, a path that joins them, and edges between random pairs until there are enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from random import Random

from pyoxigraph import BlankNode, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Pattern, Scope, Subscription, Variable, Vertex

NAMES = [NamedNode(f"http://example.org/n{n}") for n in range(2_000)]
PROPERTIES = [NamedNode(f"http://example.org/p{n}") for n in range(40)]
ABOUT = NamedNode("http://example.org/about")

Multigraph = frozenset[Triple]


@dataclass(frozen=True)
class Workload:
    """A world of G-ToPSS; the defaults are Table 1's.

    subscriptions: Nsub, how many there are.
    vertices, edges: SizeS, of each subscription.
    event_vertices, event_edges: SizeP, of each publication.
    ratio: ratio_match, the share of subscriptions that are drawn to match a publication; for each publication others.
    stars: Nstars, how many vertices of a subscription become variables.
    starred: the share of subscriptions in which they do (Nsub* / Nsub).
    overlap: overlaps, the share of the other subscriptions whose graph is that of another.
    events: how many publications there are.
    anchored: the graphs have a root that leads to all their vertices, and an arc leads from the home vertex to it, in
        publications and in subscriptions, so that OPS, which begins there, can match the same.
    """

    subscriptions: int = 30_000
    edges: int = 35
    ratio: float = 0.001
    overlap: float = 0.5
    stars: int = 2
    starred: float = 0.9
    vertices: int = 5
    event_vertices: int = 35
    event_edges: int = 90
    events: int = 5
    anchored: bool = False
    seed: int = 1
    model: ConceptModel = field(default_factory=ConceptModel)

    @cached_property
    def _parts(self) -> list[list[Multigraph]]:
        """For each publication, the graphs that it is drawn from."""
        rng = Random(f"{self.seed} parts")
        fitting = max(1, min(self.event_edges // (self.edges + 1), self.event_vertices // self.vertices))
        drawn = []
        for _ in range(self.events):
            names = rng.sample(NAMES, fitting * self.vertices)
            groups = [names[n * self.vertices : (n + 1) * self.vertices] for n in range(fitting)]
            drawn.append([self._multigraph(rng, group) for group in groups])
        return drawn

    def publications(self) -> list[Event]:
        """The events."""
        rng = Random(f"{self.seed} events")
        return [self._publication(rng, f"e{number}", parts) for number, parts in enumerate(self._parts)]

    def drawn(self) -> list[Subscription]:
        """The subscriptions: those that match some publication, then those that overlap or not, in random order."""
        rng = Random(f"{self.seed} subscriptions")
        each = max(1, round(self.ratio * self.subscriptions))
        graphs = [rng.choice(parts) for parts in self._parts for _ in range(each)][: self.subscriptions]
        others = self.subscriptions - len(graphs)
        own = [self._random(rng) for _ in range(max(min(1, others), round(others * (1 - self.overlap))))]
        graphs += own + [rng.choice(own) for _ in range(others - len(own))]
        rng.shuffle(graphs)
        return [self._subscription(rng, f"{number:06}", graph) for number, graph in enumerate(graphs)]

    def _random(self, rng: Random) -> Multigraph:
        return self._multigraph(rng, rng.sample(NAMES, self.vertices))

    def _multigraph(self, rng: Random, names: list[NamedNode]) -> Multigraph:
        """A tree over the names, away from the first if it is to be a root, and edges between random pairs of them."""
        ends = [(names[rng.randrange(number)], names[number]) for number in range(1, len(names))]
        drawn = {Triple(s, rng.choice(PROPERTIES), o) if self.anchored else _arc(rng, s, o) for s, o in ends}
        while len(drawn) < self.edges:
            drawn.add(_arc(rng, *rng.sample(names, 2)))
        return frozenset(drawn)

    def _publication(self, rng: Random, id_: str, parts: list[Multigraph]) -> Event:
        arcs = {arc for part in parts for arc in part}
        names = _names(arcs)
        names += rng.sample([name for name in NAMES if name not in names], max(0, self.event_vertices - len(names)))
        ways = [_arc(rng, one, other) for one, other in pairwise(names)]
        arcs.update(ways[: max(0, self.event_edges - len(arcs))])
        while len(arcs) < self.event_edges:
            arcs.add(_arc(rng, *rng.sample(names, 2)))
        if not self.anchored:
            return Event("benchmark", id_, Graph(arcs))
        home = BlankNode("H")
        return Event("benchmark", id_, Graph(arcs | {Triple(home, ABOUT, _root(part)) for part in parts}, home))

    def _subscription(self, rng: Random, id_: str, graph: Multigraph) -> Subscription:
        names = _names(graph)
        chosen = rng.sample(names, self.stars) if rng.random() < self.starred else []
        vertex: dict[NamedNode, Vertex] = {name: name for name in names}
        vertex |= {name: Variable(f"x{number}") for number, name in enumerate(chosen)}
        arcs = [Arc(vertex[s], p, vertex[o], Scope.ASSERTED) for s, p, o in sorted(graph, key=str)]
        if self.anchored:
            arcs.append(Arc(HOME, ABOUT, vertex[_root(graph)], Scope.ASSERTED))
        return Subscription(id_, (Alternative(Pattern(tuple(arcs))),))


def as_statements(subscription: Subscription) -> Subscription:
    """An anchored subscription as OPS takes it, which does not distinguish what is asserted. Here nothing else is."""
    pattern = subscription.alternatives[0].pattern
    arcs = tuple(replace(arc, scope=Scope.RELATIONS) for arc in pattern.arcs)
    return Subscription(subscription.id, (Alternative(replace(pattern, arcs=arcs)),))


def _names(graph: Multigraph | set[Triple]) -> list[NamedNode]:
    return sorted({end for arc in graph for end in (arc.subject, arc.object)}, key=lambda name: name.value)


def _root(graph: Multigraph) -> NamedNode:
    """The first vertex that leads to all others."""
    names = _names(graph)
    return next(name for name in names if len(_reached(graph, name)) == len(names))


def _reached(graph: Multigraph, name: NamedNode) -> set[NamedNode]:
    found = {name}
    while more := {arc.object for arc in graph if arc.subject in found} - found:
        found |= more
    return found


def _arc(rng: Random, one: NamedNode, other: NamedNode) -> Triple:
    subject, object_ = (one, other) if rng.random() < 0.5 else (other, one)
    return Triple(subject, rng.choice(PROPERTIES), object_)
