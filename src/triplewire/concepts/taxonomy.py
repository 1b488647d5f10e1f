"""The concepts as one graph without cycles under a virtual root, and the ways up in it."""

from __future__ import annotations

import heapq
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Final

from pyoxigraph import NamedNode

from triplewire.concepts.hierarchy import components

ROOT: Final = None

Concept = NamedNode | None
Way = tuple[Concept, ...]
Weight = Callable[[Concept], float]
Parents = Mapping[NamedNode, frozenset[NamedNode]]
Attached = tuple[tuple[NamedNode, NamedNode], ...]
"""New concepts, each with the known one that it is put under."""


class Taxonomy:
    """A concept graph, ``concept → parents``; concepts on a cycle are one concept.

    ``depths`` are the fewest edges from the root. A concept that the graph does not hold is right under the root.
    """

    def __init__(self, parents: Parents) -> None:
        self._one = _merged(parents)
        self.parents: MutableMapping[NamedNode, frozenset[NamedNode]] = _condensed(parents, self._one)
        self.depths: MutableMapping[Concept, int] = _depths(self.parents)

    def extended(self, attached: Attached) -> Taxonomy:
        """The graph with new concepts, each below a known one; what is known is shared, not copied."""
        found = object.__new__(Taxonomy)
        found._one = self._one
        new = {concept: frozenset({self.name(known)}) for concept, known in attached}
        depths: dict[Concept, int] = {one: self.depth(self.name(known)) + 1 for one, known in attached}
        found.parents = ChainMap(new, self.parents)
        found.depths = ChainMap(depths, self.depths)
        return found

    def name(self, concept: NamedNode) -> NamedNode:
        """The concept that stands for all on its cycle."""
        return self._one.get(concept, concept)

    def above(self, concept: Concept) -> Iterable[Concept]:
        if concept is ROOT:
            return ()
        return self.parents.get(concept) or (ROOT,)

    def depth(self, concept: Concept) -> int:
        return self.depths.get(concept, 1)

    def ancestors(self, concept: Concept) -> set[Concept]:
        """All that is above a concept, itself and the root included."""
        found = {concept}
        frontier = [concept]
        while frontier:
            new = {parent for here in frontier for parent in self.above(here)} - found
            found |= new
            frontier = list(new)
        return found

    def lengths(self, concept: NamedNode, weight: Weight) -> dict[Concept, float]:
        """The shortest way down to a concept from each of its ancestors; ``weight`` tells a step's by its upper end."""
        lengths: dict[Concept, float] = {}
        queue: list[tuple[float, str, Concept]] = [(0.0, "", concept)]
        while queue:
            length, _, here = heapq.heappop(queue)
            if here in lengths:
                continue
            lengths[here] = length
            for parent in self.above(here):
                heapq.heappush(queue, (length + weight(parent), str(parent), parent))
        return lengths

    def way(self, concept: NamedNode, top: Concept, weight: Weight) -> Way:
        """The shortest way up from a concept to an ancestor, both included."""
        lengths = self.lengths(concept, weight)
        way = [top]
        while way[-1] != concept:
            here = way[-1]
            rest = lengths[here] - weight(here)
            below = [c for c in lengths if here in self.above(c) and abs(lengths[c] - rest) < 1e-9]
            way.append(min(below, key=str))
        return tuple(reversed(way))


def _depths(parents: Parents) -> dict[Concept, int]:
    """Fewest edges from the root to each concept."""
    children: dict[Concept, list[NamedNode]] = {}
    for child, above in parents.items():
        for parent in above or (ROOT,):
            children.setdefault(parent, []).append(child)
    tops = [node for node in children if node is not ROOT and not parents.get(node)]
    depths: dict[Concept, int] = {ROOT: 0}
    layer: list[NamedNode] = [*children.get(ROOT, []), *tops]
    depth = 1
    while layer:
        new = [node for node in dict.fromkeys(layer) if node not in depths]
        depths |= dict.fromkeys(new, depth)
        layer = [child for node in new for child in children.get(node, [])]
        depth += 1
    return depths


def _merged(parents: Parents) -> dict[NamedNode, NamedNode]:
    """For each concept on a cycle, the one that stands for all on it: the first in code-point order."""
    return {m: min(members, key=str) for members in components(parents) if len(members) > 1 for m in members}


def _condensed(parents: Parents, one: Mapping[NamedNode, NamedNode]) -> dict[NamedNode, frozenset[NamedNode]]:
    """The graph with the concepts of a cycle made one."""
    condensed: dict[NamedNode, frozenset[NamedNode]] = {}
    for child, above in parents.items():
        name = one.get(child, child)
        condensed[name] = condensed.get(name, frozenset()) | {one.get(p, p) for p in above} - {name}
    return condensed
