"""Interests of many subscriptions, scored together.

What an event is about is compared with each distinct concept once, not with each interest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.encoded import Ids, Offsets
from triplewire.matching.engine.texts import Texts
from triplewire.subscriptions.pattern import Interest

Scores = NDArray[np.float64]

ROUNDING = 1e-9
"""Sums of scores in another order may differ by less than this."""


@dataclass(frozen=True)
class Interests:
    """Interest ``i`` of subscription ``owners[i]`` has the concepts ``members[offsets[i] : offsets[i + 1]]``.

    A concept is a text: its name, and the new concepts that its subscriber attached to the model.
    """

    concepts: Texts
    owners: Ids
    offsets: Offsets
    members: Ids
    thresholds: Scores

    @classmethod
    def of(cls, interests: Iterable[tuple[int, Interest]]) -> Interests:
        rows = list(interests)
        numbers: dict[bytes, int] = {}
        members = [numbers.setdefault(t, len(numbers)) for _, interest in rows for t in _texts(interest)]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(interest.concepts) for _, interest in rows], out=offsets[1:])
        return cls(
            Texts.of(numbers),
            np.array([owner for owner, _ in rows], np.int32),
            offsets,
            np.array(members, np.int32),
            np.array([interest.threshold for _, interest in rows], np.float64),
        )

    def candidates(self, similarities: Scores) -> Ids:
        """The subscriptions whose interest may be above its threshold, by the best similarity to each concept."""
        if not len(self.owners):
            return self.owners
        sums = np.add.reduceat(similarities[self.members], self.offsets[:-1])
        found: Ids = self.owners[sums / np.diff(self.offsets) > self.thresholds - ROUNDING]
        return found


class Scorer:
    """Compares events with the concepts of interests, and remembers the concepts that it has seen in events."""

    def __init__(self, interests: Interests, model: ConceptModel) -> None:
        self.interests = interests
        self.model = model
        self._rows: dict[NamedNode, Scores] = {}

    @cached_property
    def _wanted(self) -> list[tuple[NamedNode, tuple[tuple[NamedNode, NamedNode], ...]]]:
        return [_read(text) for text in self.interests.concepts]

    def candidates(self, profile: frozenset[NamedNode]) -> Ids:
        """The subscriptions that an event with a profile may interest."""
        best = np.zeros(len(self.interests.concepts))
        for given in profile:
            np.maximum(best, self._similarities(given), out=best)
        return self.interests.candidates(best)

    def _similarities(self, given: NamedNode) -> Scores:
        if given not in self._rows:
            self._rows[given] = np.array([self._similarity(given, *wanted) for wanted in self._wanted], np.float64)
        return self._rows[given]

    def _similarity(
        self, given: NamedNode, wanted: NamedNode, attached: tuple[tuple[NamedNode, NamedNode], ...]
    ) -> float:
        measure = self.model.similarity
        return (measure.extended(attached) if attached else measure).concepts(wanted, given)


def _texts(interest: Interest) -> Iterable[bytes]:
    attached = [[new.value, known.value] for new, known in interest.attached]
    return (json.dumps([concept.value, *attached]).encode() for concept in interest.concepts)


def _read(text: bytes) -> tuple[NamedNode, tuple[tuple[NamedNode, NamedNode], ...]]:
    concept, *attached = json.loads(text)
    return NamedNode(concept), tuple((NamedNode(new), NamedNode(known)) for new, known in attached)
