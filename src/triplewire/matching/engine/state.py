"""What an event is matched with: the snapshot, the small segments of what came later, and what has just come."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.segment import Segment
from triplewire.matching.engine.tables import Prepared
from triplewire.subscriptions.pattern import Subscription

MOST_NEW = 128
"""So many new subscriptions are verified one by one before they are built into a segment."""
GROWTH = 8
"""Small segments are merged so that each is at least so many times as large as the next."""


class State(NamedTuple):
    """What is ``new`` is verified on every event. What comes later is newer, and ``new`` is the newest.

    A state is never changed: what is removed from its segments is marked with the ``number`` of the state that it is
    gone from, and stays in those before.
    """

    segments: tuple[Segment, ...] = ()
    new: tuple[Prepared, ...] = ()
    number: int = 0

    def size(self) -> int:
        """How many subscriptions there are."""
        return len(self.new) + sum(len(one) - int(np.count_nonzero(one.removed)) for one in self.segments)

    def has(self, id_: str) -> bool:
        return any(segment.find(id_) >= 0 for segment in self.segments) or any(
            one.subscription.id == id_ for one in self.new
        )

    def find(self, id_: str) -> Subscription | None:
        for one in self.new:
            if one.subscription.id == id_:
                return one.subscription
        for segment in self.segments:
            number = segment.find(id_)
            if number >= 0:
                return segment.records[number]
        return None

    def without(self, ids: Collection[str]) -> State:
        """The next state, with some subscriptions removed, as far as they are there."""
        number = self.number + 1
        for segment in self.segments:
            segment.remove(ids, number)
        return State(self.segments, tuple(one for one in self.new if one.subscription.id not in ids), number)

    def with_new(self, prepared: Sequence[Prepared], model: ConceptModel) -> State:
        """The next state, with more subscriptions in place of those with the same ids."""
        more = (Segment.merged(model, new=prepared),) if len(prepared) > MOST_NEW else ()
        state = self.without({one.subscription.id for one in prepared})
        if more:
            return State((*state.segments, *more), state.new, state.number)
        return State(state.segments, (*state.new, *prepared), state.number)

    def tidied(self, model: ConceptModel, fixed: int, most_new: int = MOST_NEW) -> State:
        """The state with what is new, if it is much, built into a segment together with small ones before it.

        The first ``fixed`` segments are left alone.
        """
        if len(self.new) <= most_new:
            return self
        size, place = len(self.new), len(self.segments)
        while place > fixed and len(self.segments[place - 1]) < GROWTH * size:
            place -= 1
            size += len(self.segments[place])
        return State((*self.segments[:place], Segment.merged(model, self.segments[place:], self.new)), (), self.number)
