"""Interests of many subscriptions, laid out as arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from triplewire.concepts.taxonomy import Attached
from triplewire.matching.engine.encoded import Ids, Offsets, offsets_of, spans
from triplewire.matching.engine.kernels.interests import exact_sums
from triplewire.matching.engine.texts import Texts
from triplewire.subscriptions.pattern import Interest

Scores = NDArray[np.float64]


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
        return cls(
            Texts.of(numbers),
            np.array([owner for owner, _ in rows], np.int32),
            offsets_of(len(interest.concepts) for _, interest in rows),
            np.array(members, np.int32),
            np.array([interest.threshold for _, interest in rows], np.float64),
        )

    def scores(self, interests: Ids, best: Scores) -> Scores:
        """The means of the best similarities to some interests' concepts, rounded as brute force rounds them."""
        firsts = self.offsets[interests]
        sizes = self.offsets[interests + 1] - firsts
        ends = np.cumsum(sizes)
        terms = best[self.members[spans(firsts, sizes)]]
        sums = np.empty(len(interests))
        exact_sums(terms, ends, np.empty(sizes.max(initial=1)), sums)
        return sums / sizes


def _texts(interest: Interest) -> Iterable[bytes]:
    attached = [[new.value, known.value] for new, known in interest.attached]
    return (json.dumps([concept.value, *attached]).encode() for concept in interest.concepts)


def read_concept(text: bytes) -> tuple[NamedNode, Attached]:
    concept, *attached = json.loads(text)
    return NamedNode(concept), tuple((NamedNode(new), NamedNode(known)) for new, known in attached)
