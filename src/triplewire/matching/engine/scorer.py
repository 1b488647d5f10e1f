"""Interests of many subscriptions, scored together.

What an event is about is compared with each distinct concept once, not with each interest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np
from pyoxigraph import NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.profile import event_profile, home_texts, names_in
from triplewire.concepts.proposed import words_for
from triplewire.concepts.taxonomy import Attached
from triplewire.matching.engine.encoded import Ids
from triplewire.matching.engine.interests import Interests, Scores, read_concept
from triplewire.matching.engine.postings import Postings
from triplewire.matching.engine.rows import Rows
from triplewire.rdf.graph import Graph

MOST_BYTES = 256 << 20
"""So much is remembered of how similar concepts of events are to those of interests."""


class Scorer:
    """Compares events with the concepts of interests, and remembers the concepts that it has seen in events."""

    def __init__(self, interests: Interests, postings: Postings, model: ConceptModel) -> None:
        self.interests = interests
        self._postings = postings
        self.model = model
        self._similarities = lru_cache(maxsize=max(1, MOST_BYTES // (8 * len(interests.concepts) + 1)))(self._row)

    @cached_property
    def _rows(self) -> Rows:
        return Rows([read_concept(text) for text in self.interests.concepts], self.model.similarity)

    def _row(self, given: NamedNode) -> Scores:
        return self._rows.to(given)

    def best(self, profile: frozenset[NamedNode], graph: Graph) -> Scores:
        """The best similarity of each concept to one of an event's; those who attached some have its words, too."""
        best = np.zeros(len(self.interests.concepts))
        for given in profile:
            np.maximum(best, self._similarities(given), out=best)
        for attached, numbers in self._touched(graph):
            measure, theirs = self.model.similarity.extended(attached), event_profile(graph, self.model, attached)
            for number in numbers.tolist():
                wanted, _ = read_concept(self.interests.concepts[number])
                best[number] = max((measure.concepts(wanted, one) for one in theirs), default=0.0)
        return best

    def _touched(self, graph: Graph) -> Iterable[tuple[Attached, Ids]]:
        """The concepts of those who attached something that the event may name, together with what they attached."""
        if not self._attached:
            return ()
        named = {name for name in names_in(graph, self.model) if isinstance(name, NamedNode) and name in self._users}
        for text in home_texts(graph, self.model):
            named |= words_for(self._new).occurring(text.value)
        touched = {own for concept in named for own in self._users[concept]}
        return [(own, self._attached[own]) for own in touched]

    @cached_property
    def _attached(self) -> dict[Attached, Ids]:
        """The numbers of the concepts, by what their subscribers attached, if anything."""
        found: dict[Attached, list[int]] = defaultdict(list)
        for number, text in enumerate(self.interests.concepts):
            attached = read_concept(text)[1]
            if attached:
                found[attached].append(number)
        return {attached: np.array(numbers, np.int32) for attached, numbers in found.items()}

    @cached_property
    def _users(self) -> dict[NamedNode, list[Attached]]:
        """For each new concept, what it was attached together with."""
        found: dict[NamedNode, list[Attached]] = defaultdict(list)
        for attached in self._attached:
            for concept, _ in attached:
                found[concept].append(attached)
        return dict(found)

    @cached_property
    def _new(self) -> frozenset[NamedNode]:
        return frozenset(self._users)

    def match(self, profile: frozenset[NamedNode], graph: Graph) -> tuple[Ids, Scores]:
        """The interests that an event with a profile is above the threshold of, and their scores."""
        best = self.best(profile, graph)
        found = self._postings.candidates(best, self.interests)
        scores = self.interests.scores(found, best)
        above = scores > self.interests.thresholds[found]
        return found[above], scores[above]
