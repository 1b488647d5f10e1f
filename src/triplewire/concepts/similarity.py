"""How similar two concepts are, and two profiles of concepts: the social-network design's weighted paths.

The concepts are classes, SKOS concepts and named instances; a concept's parents are its superclasses, its broader
concepts and its classes. A virtual root stands above all that have no parent.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import fsum
from typing import Final

from pyoxigraph import NamedNode

from triplewire.concepts.hierarchy import components

K: Final = 2.0
ROOT: Final = None

Concept = NamedNode | None
Way = tuple[Concept, ...]
Parents = Mapping[NamedNode, frozenset[NamedNode]]


class Similarity:
    """The measure over one concept graph, ``concept → parents``; concepts on a cycle are one concept."""

    def __init__(self, parents: Parents) -> None:
        self._given = parents
        self.extended = lru_cache(maxsize=1000)(self._extended)
        self._one = _merged(parents)
        self._parents = _condensed(parents, self._one)
        self._depths = _depths(self._parents)
        self._lengths = lru_cache(maxsize=100_000)(self._upward)

    def concepts(self, a: NamedNode, b: NamedNode) -> float:
        """``1 − dis(a, b)``: 1 for the same concept, 0 for two that meet only at the root."""
        up_a, up_b = (self._lengths(self._one.get(concept, concept)) for concept in (a, b))
        return 1 - min(
            0.5 * _share(up_a[c], up_a[ROOT]) + 0.5 * _share(up_b[c], up_b[ROOT]) for c in up_a.keys() & up_b.keys()
        )

    def meeting(self, a: NamedNode, b: NamedNode) -> tuple[float, Way, Way]:
        """The similarity of two concepts, and the ways up from each to where they meet; the root is None."""
        a, b = (self._one.get(concept, concept) for concept in (a, b))
        up_a, up_b = self._lengths(a), self._lengths(b)
        common = sorted(up_a.keys() & up_b.keys(), key=str)
        near = min(common, key=lambda c: _share(up_a[c], up_a[ROOT]) + _share(up_b[c], up_b[ROOT]))
        return self.concepts(a, b), self._way(a, near, up_a), self._way(b, near, up_b)

    def _way(self, concept: Concept, top: Concept, lengths: Mapping[Concept, float]) -> Way:
        """The shortest weighted way up from a concept, found from the top down by the lengths from each ancestor."""
        way = [top]
        while way[-1] != concept:
            here = way[-1]
            weight = 1 + 1 / K ** self._depths.get(here, 0)
            below = [c for c in lengths if here in self._above(c) and abs(lengths[c] + weight - lengths[here]) < 1e-9]
            way.append(min(below, key=str))
        return tuple(reversed(way))

    def profiles(self, interest: Iterable[NamedNode], publication: Iterable[NamedNode]) -> float:
        """The mean, over the interest's concepts, of the best similarity to any concept of the publication."""
        published = list(publication)
        best = [max((self.concepts(wanted, given) for given in published), default=0.0) for wanted in interest]
        return fsum(best) / len(best)  # which does not depend on the order

    def _extended(self, attached: tuple[tuple[NamedNode, NamedNode], ...]) -> Similarity:
        """The measure with further concepts, each put under a known one."""
        return Similarity({**self._given, **{new: frozenset({parent}) for new, parent in attached}})

    def _above(self, concept: Concept) -> Iterable[Concept]:
        if concept is ROOT:
            return ()
        return self._parents.get(concept) or (ROOT,)

    def _upward(self, concept: NamedNode) -> dict[Concept, float]:
        """The shortest weighted path down to a concept from each of its ancestors, itself and the root included."""
        lengths: dict[Concept, float] = {}
        queue: list[tuple[float, str, Concept]] = [(0.0, "", concept)]
        while queue:
            length, _, here = heapq.heappop(queue)
            if here in lengths:
                continue
            lengths[here] = length
            for parent in self._above(here):
                weight = 1 + 1 / K ** self._depths.get(parent, 0)
                heapq.heappush(queue, (length + weight, str(parent), parent))
        return lengths


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


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


def _condensed(parents: Parents, one: Mapping[NamedNode, NamedNode]) -> Parents:
    """The graph with the concepts of a cycle made one."""
    condensed: dict[NamedNode, frozenset[NamedNode]] = {}
    for child, above in parents.items():
        name = one.get(child, child)
        condensed[name] = condensed.get(name, frozenset()) | {one.get(p, p) for p in above} - {name}
    return condensed
