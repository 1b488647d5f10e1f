"""Interests of many subscriptions, scored together.

What an event is about is compared with each distinct concept once, not with each interest.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import fsum

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.profile import event_profile, home_texts, names_in
from triplewire.concepts.proposed import words_for
from triplewire.concepts.taxonomy import Attached
from triplewire.matching.engine.encoded import Ids, Offsets, offsets_of, spans
from triplewire.matching.engine.kernels.interests import near_enough
from triplewire.matching.engine.rows import Rows
from triplewire.matching.engine.texts import Texts
from triplewire.rdf.graph import Graph
from triplewire.subscriptions.pattern import Interest

Scores = NDArray[np.float64]

ROUNDING = 1e-9
"""Sums of similarities in another order differ by less than this: a profile has a thousand concepts at most."""

_MOST_BYTES = 256 << 20
_MOST_COPIED = 8


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

    @cached_property
    def _postings(self) -> tuple[Offsets, Ids, Scores, Offsets, Ids, Ids]:
        """For each concept the interests that it is one of, those with the lowest thresholds first; see the kernel.

        The concepts of an interest are copied to each of its places, so that they are read one after the other, unless
        they are very many. A floor is the threshold less what rounding may take from a mean.
        """
        lengths = np.diff(self.offsets)
        interests = np.repeat(np.arange(len(self.owners), dtype=np.int32), lengths)
        by_size = lengths[interests]  # so that the kernel's inner loop is as long as the time before
        interests = interests[np.lexsort((by_size, self.thresholds[interests], self.members))]
        starts = offsets_of(np.bincount(self.members, minlength=len(self.concepts)))
        sizes = lengths[interests].astype(np.int32)
        copied = np.where(sizes <= _MOST_COPIED, sizes, 0)
        ends = np.cumsum(copied, dtype=np.int64)
        cells = np.concatenate([self.members, self.members[spans(self.offsets[interests], copied)]])
        firsts = np.where(copied > 0, len(self.members) + ends - copied, self.offsets[interests])
        return starts, interests, self.thresholds[interests] - ROUNDING, firsts, sizes, cells

    def candidates(self, best: Scores) -> Ids:
        """The interests that may be above their thresholds, by the best similarity to each concept, ascending."""
        found = np.empty(len(self.members), np.int32)
        return np.unique(found[: near_enough(best, *self._postings, found)])

    def scores(self, interests: Ids, best: Scores) -> Scores:
        """The means of the best similarities to some interests' concepts, rounded as brute force rounds them."""
        firsts = self.offsets[interests]
        sizes = self.offsets[interests + 1] - firsts
        ends = np.cumsum(sizes)
        terms = best[self.members[spans(firsts, sizes)]]
        sums = np.add.reduceat(terms, ends - sizes) if len(interests) else np.empty(0)
        for i in np.flatnonzero(sizes > 2).tolist():  # the sum of two is rounded but once anyway
            sums[i] = fsum(terms[ends[i] - sizes[i] : ends[i]].tolist())
        return sums / sizes


class Scorer:
    """Compares events with the concepts of interests, and remembers the concepts that it has seen in events."""

    def __init__(self, interests: Interests, model: ConceptModel) -> None:
        self.interests = interests
        self.model = model
        self._similarities = lru_cache(maxsize=max(1, _MOST_BYTES // (8 * len(interests.concepts) + 1)))(self._row)

    @cached_property
    def _rows(self) -> Rows:
        return Rows([_read(text) for text in self.interests.concepts], self.model.similarity)

    def _row(self, given: NamedNode) -> Scores:
        return self._rows.to(given)

    def best(self, profile: frozenset[NamedNode], graph: Graph) -> Scores:
        """The best similarity of each concept to one of an event's; those who attached some have its words, too."""
        best = np.zeros(len(self.interests.concepts))
        for given in profile:
            np.maximum(best, self._similarities(given), out=best)
        for attached, numbers in self._touched(graph):
            best[numbers] = 0.0
            for given in event_profile(graph, self.model, attached):
                best[numbers] = np.maximum(best[numbers], self._similarities(given)[numbers])
        return best

    def _touched(self, graph: Graph) -> Iterable[tuple[Attached, Ids]]:
        """The concepts of those to whom the event may be about something else, together with what they attached.

        It is if it names something that they attached. Where information content is counted, a new concept changes
        all similarities a little, and so what ambiguous words mean.
        """
        if not self._attached or self.model.measure == "lin":
            return self._attached.items()
        named = {name for name in names_in(graph, self.model) if name in self._new}
        for text in home_texts(graph, self.model):
            named |= words_for(self._new).occurring(text.value)
        return [(own, numbers) for own, numbers in self._attached.items() if any(c in named for c, _ in own)]

    @cached_property
    def _attached(self) -> dict[Attached, Ids]:
        """The numbers of the concepts, by what their subscribers attached, if anything."""
        found: dict[Attached, list[int]] = defaultdict(list)
        for number, text in enumerate(self.interests.concepts):
            attached = _read(text)[1]
            if attached:
                found[attached].append(number)
        return {attached: np.array(numbers, np.int32) for attached, numbers in found.items()}

    @cached_property
    def _new(self) -> frozenset[NamedNode]:
        return frozenset(concept for attached in self._attached for concept, _ in attached)

    def match(self, profile: frozenset[NamedNode], graph: Graph) -> tuple[Ids, Scores]:
        """The interests that an event with a profile is above the threshold of, and their scores."""
        best = self.best(profile, graph)
        found = self.interests.candidates(best)
        scores = self.interests.scores(found, best)
        above = scores > self.interests.thresholds[found]
        return found[above], scores[above]


def _texts(interest: Interest) -> Iterable[bytes]:
    attached = [[new.value, known.value] for new, known in interest.attached]
    return (json.dumps([concept.value, *attached]).encode() for concept in interest.concepts)


def _read(text: bytes) -> tuple[NamedNode, Attached]:
    concept, *attached = json.loads(text)
    return NamedNode(concept), tuple((NamedNode(new), NamedNode(known)) for new, known in attached)
