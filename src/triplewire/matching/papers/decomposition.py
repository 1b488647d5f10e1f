"""Decomposition (Messmer and Bunke, IEEE TKDE 12(2), 2000): the baseline of the OPS paper's Figure 8(b).

Subscription graphs are taken apart into connected sub-patterns, down to single vertices; equal sub-patterns are one. An
event is matched from the vertices up, by joining the embeddings of two sub-patterns over the arcs between them.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.closure import close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.explanation import Explanation, explain
from triplewire.matching.matcher import MOST_MAPPINGS, Match, in_order
from triplewire.matching.papers.eventgraph import EventGraph
from triplewire.matching.papers.statements import Label, SubscriptionGraph, subscription_graph
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Home, Subscription, Variable

MOST_STEPS = 20_000
"""A sub-pattern is looked for in a new pattern for no more steps than this."""

Kind = tuple[Home | NamedNode | Literal | None, Label]
"""A vertex of a sub-pattern: the home vertex, a constant, or any vertex; and what is asked of it."""

Arcs = frozenset[tuple[int, NamedNode, int]]
Embedding = tuple[int, tuple[int, ...]]
"""The image of each vertex of a sub-pattern, after the set of resources among them as a mask of bits."""

log = logging.getLogger(__name__)


@dataclass(eq=False)
class SubPattern:
    """A connected graph: one vertex, or two sub-patterns with arcs ``between`` them and perhaps within.

    Its vertices are those of ``left``, then those of ``right``. A sub-pattern without ``right`` adds arcs to ``left``.
    """

    kinds: tuple[Kind, ...]
    arcs: Arcs
    injective: bool
    left: SubPattern | None = None
    right: SubPattern | None = None
    between: tuple[tuple[int, NamedNode, int], ...] = ()
    users: int = 0

    @cached_property
    def size(self) -> tuple[int, int]:
        return len(self.kinds), len(self.arcs)

    @cached_property
    def census(self) -> Counter[Kind]:
        return Counter(self.kinds)


@dataclass(frozen=True)
class Part:
    """A sub-pattern where it lies in a graph: ``places[i]`` is the graph's vertex for the sub-pattern's ``i``."""

    pattern: SubPattern
    places: tuple[int, ...]


class Whole:
    """A subscription graph that is being taken apart."""

    def __init__(self, graph: SubscriptionGraph) -> None:
        self.injective = graph.injective
        self.kinds: list[Kind] = [
            (None if isinstance(vertex, Variable) else vertex, label)
            for vertex, label in zip(graph.vertices, graph.labels, strict=True)
        ]
        self.arcs: Arcs = frozenset((s.subject, s.meta.property, s.object) for s in graph.statements)
        self.near: dict[int, set[int]] = defaultdict(set)
        for subject, _, object_ in self.arcs:
            self.near[subject].add(object_)
            self.near[object_].add(subject)

    def within(self, vertices: Iterable[int]) -> set[tuple[int, NamedNode, int]]:
        inside = set(vertices)
        return {arc for arc in self.arcs if arc[0] in inside and arc[2] in inside}

    def joined(self, one: Part, other: Part) -> bool:
        return any(not self.near[vertex].isdisjoint(one.places) for vertex in other.places)

    def spread(self, start: int, vertices: set[int], most: int) -> set[int]:
        """Up to so many of the vertices, connected, breadth first."""
        found, frontier = {start}, [start]
        for vertex in frontier:
            for other in sorted(self.near[vertex] & vertices - found):
                if len(found) < most:
                    found.add(other)
                    frontier.append(other)
        return found


class Decomposition:
    """Takes what the OPS matcher takes.

    Its work: ``embeddings`` of all sub-patterns.
    """

    def __init__(self, model: ConceptModel) -> None:
        self.model = model
        self.work: Counter[str] = Counter()
        self.subscriptions: dict[str, tuple[Subscription, SubscriptionGraph, Part]] = {}
        self.patterns: dict[SubPattern, None] = {}
        self._by_size: dict[tuple[int, int], dict[SubPattern, None]] = defaultdict(dict)
        self._vertices: dict[tuple[Kind, bool], SubPattern] = {}

    def add(self, subscription: Subscription) -> None:
        graph = subscription_graph(subscription, self.model, "decomposition")
        if graph.id in self.subscriptions:
            self.remove(graph.id)
        part = self._decomposed(Whole(graph), set(range(len(graph.vertices))))
        part.pattern.users += 1
        self.subscriptions[graph.id] = (subscription, graph, part)

    def remove(self, id_: str) -> None:
        _, _, part = self.subscriptions.pop(id_)
        unused: list[SubPattern | None] = [part.pattern]
        while unused:
            pattern = unused.pop()
            if pattern is not None:
                pattern.users -= 1
                if not pattern.users:
                    del self.patterns[pattern], self._by_size[pattern.size][pattern]
                    unused += [pattern.left, pattern.right]
                    if pattern.left is None:
                        del self._vertices[pattern.kinds[0], pattern.injective]

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        graph = EventGraph(close(event.graph, self.model))
        known = self._embeddings(graph)
        found = []
        for id_, (_, subscription, part) in sorted(self.subscriptions.items()):
            embeddings = known[part.pattern]
            if embeddings is None:
                log.error(
                    "subscription %r is passed over on event %r: more than %s mappings",
                    id_,
                    event.id,
                    f"{MOST_MAPPINGS:,}",
                )
                continue
            mappings = (dict(zip(part.places, images, strict=True)) for _, images in embeddings)
            accepted = [pairs for pairs in mappings if graph.accepts(subscription, pairs)]
            if accepted:
                rows = in_order(graph.binding(subscription, pairs) for pairs in accepted) if bindings else None
                found.append(Match(event.id, id_, 1.0, rows))
        return found

    def explain(self, id_: str, event: Event) -> Explanation:
        return explain(self.subscriptions[id_][0], event, self.model)

    def _decomposed(self, whole: Whole, vertices: set[int]) -> Part:
        """A part that covers connected vertices with all arcs between them, out of known sub-patterns if possible."""
        covered = self._largest(whole, vertices) or self._smaller(whole, vertices, min(vertices))
        left = vertices.difference(covered.places)
        while left:
            start = min(vertex for vertex in left if not whole.near[vertex].isdisjoint(covered.places))
            component = whole.spread(start, left, len(left))
            part = self._largest(whole, component)
            if part is None or not whole.joined(covered, part):
                part = self._smaller(whole, component, start)
            covered = self._joined(whole, covered, part)
            left.difference_update(part.places)
        return self._joined(whole, covered, None)

    def _smaller(self, whole: Whole, component: set[int], start: int) -> Part:
        """One vertex as it is, or half of several around one of them."""
        if len(component) > 1:
            return self._decomposed(whole, whole.spread(start, component, (len(component) + 1) // 2))
        kind, injective = whole.kinds[start], whole.injective
        pattern = self._vertices.get((kind, injective))
        if pattern is None:
            pattern = self._vertices[kind, injective] = SubPattern((kind,), frozenset(), injective)
            self._keep(pattern)
        return Part(pattern, (start,))

    def _joined(self, whole: Whole, left: Part, right: Part | None) -> Part:
        """Two parts with the arcs between them as one; or one part with those arcs that it lacks."""
        places = left.places + (right.places if right else ())
        number = {vertex: place for place, vertex in enumerate(places)}
        arcs = frozenset((number[s], p, number[o]) for s, p, o in whole.within(places))
        size = len(left.places)
        inside = left.pattern.arcs | {(s + size, p, o + size) for s, p, o in (right.pattern.arcs if right else ())}
        if right is None and inside == arcs:
            return left
        between = sorted(arcs - inside, key=lambda arc: (arc[0] < size) == (arc[2] < size))
        kinds = tuple(whole.kinds[vertex] for vertex in places)
        other = right.pattern if right else None
        pattern = SubPattern(kinds, arcs, whole.injective, left.pattern, other, tuple(between))
        left.pattern.users += 1
        if other is not None:
            other.users += 1
        self._keep(pattern)
        return Part(pattern, places)

    def _largest(self, whole: Whole, component: set[int]) -> Part | None:
        """The largest known sub-pattern of several vertices that lies in a connected part of a graph."""
        census = Counter(whole.kinds[vertex] for vertex in component)
        for size in sorted(self._by_size, reverse=True):
            for pattern in self._by_size[size] if 1 < size[0] <= len(component) else ():
                if pattern.injective == whole.injective and pattern.census <= census:
                    places = _lies_in(pattern, whole, component)
                    if places is not None:
                        return Part(pattern, places)
        return None

    def _keep(self, pattern: SubPattern) -> None:
        self.patterns[pattern] = None
        self._by_size[pattern.size][pattern] = None

    def _embeddings(self, event: EventGraph) -> dict[SubPattern, list[Embedding] | None]:
        """The embeddings of every sub-pattern, None where they are too many. Parts are older than what they are in."""
        known: dict[SubPattern, list[Embedding] | None] = {}
        for pattern in self.patterns:
            if pattern.left is None:
                found = _images(pattern.kinds[0], event)
            else:
                left = known[pattern.left]
                right = known[pattern.right or pattern.left]
                if left is None or right is None:
                    known[pattern] = None
                    continue
                found = islice(_joins(pattern, left, right, event), MOST_MAPPINGS + 1)
            embeddings = list(found)
            self.work["embeddings"] += len(embeddings)
            known[pattern] = embeddings if len(embeddings) <= MOST_MAPPINGS else None
        return known


def _images(kind: Kind, event: EventGraph) -> Iterator[Embedding]:
    """The vertices of an event that a vertex of a sub-pattern may be mapped to."""
    name, label = kind
    if name is None:
        vertices: Iterable[int | None] = range(len(event.terms))
    else:
        vertices = [event.home if isinstance(name, Home) else event.number(name)]
    for vertex in vertices:
        if vertex is not None and event.passes(vertex, label):
            yield event.bits[vertex], (vertex,)


def _joins(
    pattern: SubPattern, left: list[Embedding], right: list[Embedding], event: EventGraph
) -> Iterator[Embedding]:
    """Pairs of embeddings that are apart, if the mapping is injective, and have all the arcs between them.

    The first of these arcs leads from one side to the other, and finds the candidates.
    """
    if pattern.right is None:
        yield from (row for row in left if event.has_arcs(row[1], pattern.between))
        return
    (subject, property_, object_), *others = pattern.between
    size = len(pattern.kinds) - len(pattern.right.kinds)
    if subject < size:
        ways, start, end = event.objects(property_), subject, object_ - size
    else:
        ways, start, end = event.subjects(property_), object_, subject - size
    by_end: dict[int, list[Embedding]] = defaultdict(list)
    for row in right:
        by_end[row[1][end]].append(row)
    for mask, images in left:
        for vertex in ways.get(images[start], ()):
            for other_mask, other in by_end.get(vertex, ()):
                if not (pattern.injective and mask & other_mask):
                    both = images + other
                    if not others or event.has_arcs(both, others):
                        yield mask | other_mask, both


def _lies_in(pattern: SubPattern, whole: Whole, component: set[int]) -> tuple[int, ...] | None:
    """Where a sub-pattern lies in a part of a graph; None if nowhere, or if it takes too long to tell."""
    checks: list[list[tuple[int, NamedNode, int]]] = [[] for _ in pattern.kinds]
    for arc in pattern.arcs:
        checks[max(arc[0], arc[2])].append(arc)
    by_kind: dict[Kind, list[int]] = defaultdict(list)
    for vertex in sorted(component):
        by_kind[whole.kinds[vertex]].append(vertex)
    places: list[int] = []
    untried = [iter(by_kind[pattern.kinds[0]])]
    for _ in range(MOST_STEPS):
        vertex = next(untried[-1], -1)
        if vertex < 0:
            untried.pop()
            if not untried:
                return None
            places.pop()
            continue
        places.append(vertex)
        fits = vertex not in places[:-1] and all(
            (places[s], p, places[o]) in whole.arcs for s, p, o in checks[len(places) - 1]
        )
        if not fits:
            places.pop()
        elif len(places) == len(pattern.kinds):
            return tuple(places)
        else:
            untried.append(iter(by_kind[pattern.kinds[len(places)]]))
    return None
