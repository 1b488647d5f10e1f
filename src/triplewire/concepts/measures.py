"""Ways to measure how similar two concepts are, by the ancestors that they have in common.

Each has a figure for a concept below each of its ancestors, ``ways``; a figure for an ancestor itself, ``content``; and
says what two concepts' figures below a common ancestor come to with its own. The best of these is the similarity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from pyoxigraph import NamedNode

from triplewire.concepts.taxonomy import ROOT, Concept, Taxonomy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K: Final = 2.0
Figures = TypeVar("Figures", float, "NDArray[np.float64]")
"""One concept's figure, or those of many at once."""


class Measure(Protocol):
    """A measure over one taxonomy; ``frequencies`` are how often concepts occur in a corpus of events."""

    def __init__(self, taxonomy: Taxonomy, frequencies: Mapping[NamedNode, int]) -> None: ...

    def extended(self, taxonomy: Taxonomy) -> Measure:
        """The measure over the taxonomy with new concepts, which changes nothing between known ones."""

    def ways(self, concept: NamedNode) -> dict[Concept, float]:
        """A figure for the concept below each of its ancestors, itself and the root included."""

    def content(self, ancestor: Concept) -> float:
        """A figure for an ancestor."""

    def similarity(self, one: Figures, other: float, content: float) -> Figures:
        """What two concepts' figures below an ancestor come to: 1 at most, and 0 at the root."""


def step(taxonomy: Taxonomy, parent: Concept) -> float:
    """The weight of an edge from a parent to its child: those further down weigh less."""
    return 1 + 1 / K ** taxonomy.depth(parent)


class WeightedPath:
    """The social-network design's: the shares that the ways from the ancestor have in the ways from the root."""

    def __init__(self, taxonomy: Taxonomy, frequencies: Mapping[NamedNode, int]) -> None:
        self._taxonomy = taxonomy

    def extended(self, taxonomy: Taxonomy) -> WeightedPath:
        return WeightedPath(taxonomy, {})

    def ways(self, concept: NamedNode) -> dict[Concept, float]:
        lengths = self._taxonomy.lengths(concept, lambda parent: step(self._taxonomy, parent))
        return {ancestor: length / lengths[ROOT] for ancestor, length in lengths.items()}

    def content(self, ancestor: Concept) -> float:
        return 0.0

    def similarity(self, one: Figures, other: float, content: float) -> Figures:
        return 1 - (0.5 * one + 0.5 * other)


class WuPalmer:
    """Wu and Palmer's: how deep the ancestor is, against how deep the concepts are by way of it."""

    def __init__(self, taxonomy: Taxonomy, frequencies: Mapping[NamedNode, int]) -> None:
        self._taxonomy = taxonomy

    def extended(self, taxonomy: Taxonomy) -> WuPalmer:
        return WuPalmer(taxonomy, {})

    def ways(self, concept: NamedNode) -> dict[Concept, float]:
        return self._taxonomy.lengths(concept, lambda parent: 1.0)

    def content(self, ancestor: Concept) -> float:
        return self._taxonomy.depth(ancestor)

    def similarity(self, one: Figures, other: float, content: float) -> Figures:
        return 2 * content / (one + other + 2 * content)


class Lin:
    """Lin's: the information content that two concepts share, Resnik's measure, against what each has.

    The information content of a concept is the less, the more often it or one below it occurs. Each counts once more
    than it occurs, and so does one that the taxonomy lacks: so none is certain, and none impossible.
    """

    def __init__(self, taxonomy: Taxonomy, frequencies: Mapping[NamedNode, int]) -> None:
        self._taxonomy = taxonomy
        self._frequencies = frequencies

    def extended(self, taxonomy: Taxonomy) -> Lin:
        found = Lin(taxonomy, self._frequencies)
        found._counts = self._counts  # in which a new concept is one that the taxonomy lacks
        return found

    def ways(self, concept: NamedNode) -> dict[Concept, float]:
        return dict.fromkeys(self._taxonomy.ancestors(concept), self.content(concept))

    def content(self, ancestor: Concept) -> float:
        return log(self._counts[ROOT] / self._counts.get(ancestor, 1))

    def similarity(self, one: Figures, other: float, content: float) -> Figures:
        return 2 * content / (one + other)

    @cached_property
    def _counts(self) -> Counter[Concept]:
        """How often each concept or one below it occurs."""
        own = Counter(dict.fromkeys(self._taxonomy.parents, 1))
        for concept, frequency in self._frequencies.items():
            own[self._taxonomy.name(concept)] += frequency
        counts: Counter[Concept] = Counter({ROOT: 1})
        for concept, count in own.items():
            for ancestor in self._taxonomy.ancestors(concept):
                counts[ancestor] += count
        return counts


MEASURES: Final[dict[str, type[Measure]]] = {"path": WeightedPath, "wu-palmer": WuPalmer, "lin": Lin}
DEFAULT_MEASURE: Final = "path"
