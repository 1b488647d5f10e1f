"""The similarity of many concepts to one, at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from triplewire.concepts.similarity import Similarity
from triplewire.concepts.taxonomy import Attached


class Rows:
    """Some concepts, each with what its subscriber attached to the model, by their ancestors.

    They are compared with a known concept ancestor by ancestor of that, all below it at once.
    """

    def __init__(self, wanted: Sequence[tuple[NamedNode, Attached]], similarity: Similarity) -> None:
        self._similarity = similarity
        self._size = len(wanted)
        below: dict[NamedNode | None, tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
        for number, (concept, own) in enumerate(wanted):
            measure = similarity.extended(own) if own else similarity
            for ancestor, figure in measure.ways(concept).items():
                numbers, figures = below[ancestor]
                numbers.append(number)
                figures.append(figure)
        self._below = {c: (np.array(n, np.int32), np.array(f, np.float64)) for c, (n, f) in below.items()}

    def to(self, given: NamedNode) -> NDArray[np.float64]:
        """Each concept's similarity to the given one, which the model knows."""
        row = np.zeros(self._size)
        measure = self._similarity.measure
        for ancestor, figure in self._similarity.ways(given).items():
            if ancestor in self._below:
                numbers, figures = self._below[ancestor]
                found = measure.similarity(figures, figure, measure.content(ancestor))
                row[numbers] = np.maximum(row[numbers], found)
        return row
