"""How similar two concepts are, and two profiles of concepts, by one of several measures.

The concepts are classes, SKOS concepts and named instances; a concept's parents are its superclasses, its broader
concepts and its classes. A virtual root stands above all that have no parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import fsum

from pyoxigraph import NamedNode

from triplewire.concepts.measures import DEFAULT_MEASURE, MEASURES, Measure, step
from triplewire.concepts.taxonomy import Attached, Parents, Taxonomy, Way

__all__ = ["Pair", "Similarity", "Way"]


@dataclass(frozen=True)
class Pair:
    """A concept that is asked for, the one of a profile that is closest to it, and what they have in common.

    Of an empty profile none is closest. Two that have nothing in common meet at the root, which is None.
    """

    concept: NamedNode
    closest: NamedNode | None
    similarity: float
    through: NamedNode | None


class Similarity:
    """A measure over one concept graph, ``concept → parents``; concepts on a cycle are one concept."""

    def __init__(
        self, parents: Parents, measure: str = DEFAULT_MEASURE, frequencies: Mapping[NamedNode, int] | None = None
    ) -> None:
        taxonomy = Taxonomy(parents)
        self._set(taxonomy, MEASURES[measure](taxonomy, frequencies or {}))

    def _set(self, taxonomy: Taxonomy, measure: Measure) -> None:
        self._taxonomy = taxonomy
        self.measure = measure
        self._ways = lru_cache(maxsize=100_000)(self.measure.ways)
        self.extended = lru_cache(maxsize=1000)(self._extended)

    def concepts(self, a: NamedNode, b: NamedNode) -> float:
        """1 for the same concept, 0 for two that meet only at the root."""
        return max(self._meetings(a, b).values())

    def profiles(self, interest: Iterable[NamedNode], publication: Iterable[NamedNode]) -> float:
        """The mean, over the interest's concepts, of the best similarity to any concept of the publication."""
        published = list(publication)
        best = [max((self.concepts(wanted, given) for given in published), default=0.0) for wanted in interest]
        return fsum(best) / len(best)  # which does not depend on the order

    def pair(self, concept: NamedNode, profile: Iterable[NamedNode]) -> Pair:
        """A concept with the one that is closest to it, of several the first in code-point order."""
        closest = max(sorted(profile, key=str), key=partial(self.concepts, concept), default=None)
        if closest is None:
            return Pair(concept, None, 0.0, None)
        meetings = self._meetings(concept, closest)
        through = _nearest(meetings)
        return Pair(concept, closest, meetings[through], through)

    def ways(self, concept: NamedNode) -> Mapping[NamedNode | None, float]:
        """The measure's figures for a concept below each of its ancestors, itself and the root included."""
        return self._ways(self._taxonomy.name(concept))

    def meeting(self, a: NamedNode, b: NamedNode) -> tuple[float, Way, Way]:
        """The similarity of two concepts, and the ways up from each to where they meet; the root is None."""
        meetings = self._meetings(a, b)
        near = _nearest(meetings)
        weight = partial(step, self._taxonomy)
        up_a, up_b = (self._taxonomy.way(self._taxonomy.name(concept), near, weight) for concept in (a, b))
        return meetings[near], up_a, up_b

    def _meetings(self, a: NamedNode, b: NamedNode) -> dict[NamedNode | None, float]:
        """What the measure says of each common ancestor."""
        ways_a, ways_b = self.ways(a), self.ways(b)
        similarity, content = self.measure.similarity, self.measure.content
        return {c: similarity(ways_a[c], ways_b[c], content(c)) for c in ways_a.keys() & ways_b.keys()}

    def _extended(self, attached: Attached) -> Similarity:
        """The measure with new concepts, each put under a known one; of known concepts it says what it did."""
        found = object.__new__(Similarity)
        taxonomy = self._taxonomy.extended(attached)
        found._set(taxonomy, self.measure.extended(taxonomy))
        return found


def _nearest(meetings: Mapping[NamedNode | None, float]) -> NamedNode | None:
    """The common ancestor that gives the greatest similarity, of several the first in code-point order."""
    return max(sorted(meetings, key=str), key=lambda ancestor: meetings[ancestor])
