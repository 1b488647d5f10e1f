"""The labels of being similar to a concept, of which a vertex may have very many, found together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.conditions import read_similar_label
from triplewire.matching.engine.rows import Rows

MOST_BYTES = 64 << 20
"""So much is remembered of how similar concepts of events are to those that are asked for."""


class SimilarLabels:
    """Labels by number. A label asks for a similarity to one of ``concepts`` that is above its threshold."""

    def __init__(self, labels: Iterable[tuple[int, bytes]], model: ConceptModel) -> None:
        read = [(number, *read_similar_label(label)) for number, label in labels]
        concepts = {concept: place for place, concept in enumerate(dict.fromkeys(concept for _, concept, _ in read))}
        self._numbers = np.array([number for number, _, _ in read], np.int32)
        self._places = np.array([concepts[concept] for _, concept, _ in read], np.int32)
        self._thresholds = np.array([threshold for _, _, threshold in read])
        self._rows = Rows([(concept, ()) for concept in concepts], model.similarity)
        self._row = lru_cache(maxsize=max(1, MOST_BYTES // (8 * len(concepts) + 1)))(self._rows.to)

    def of(self, profile: frozenset[NamedNode]) -> list[int]:
        """The labels of a vertex that is about these concepts."""
        if not profile:
            return []
        best: NDArray[np.float64] = np.maximum.reduce([self._row(concept) for concept in profile])
        found: list[int] = self._numbers[best[self._places] > self._thresholds].tolist()
        return found
