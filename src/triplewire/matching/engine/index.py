"""The index: subscriptions in, matches out, with changes live at once."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.facts import Facts
from triplewire.matching.engine.segment import Prepared, Segment, build, prepare
from triplewire.matching.engine.verify import Verifier
from triplewire.matching.matcher import Match, in_order
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription

log = logging.getLogger(__name__)

MOST_NEW = 32
"""So many new subscriptions are verified one by one before they are built into a segment."""
GROWTH = 8
"""Segments are merged so that each is at least so many times as large as the next."""


class Index:
    """Finds the subscriptions that an event trips."""

    def __init__(self, model: ConceptModel) -> None:
        self.model = model
        self.work: Counter[str] = Counter()
        self._segments: list[Segment] = []
        self._new: dict[str, Prepared] = {}

    @classmethod
    def build(cls, subscriptions: Iterable[Subscription], model: ConceptModel) -> Index:
        index = cls(model)
        latest = {subscription.id: subscription for subscription in subscriptions}
        index._segments = [Segment(*build(prepare(one, model) for one in latest.values()), model)]
        return index

    def add(self, subscription: Subscription) -> None:
        prepared = prepare(subscription, self.model)
        self._forget(subscription.id)
        self._new[subscription.id] = prepared

    def remove(self, id_: str) -> None:
        if not self._forget(id_):
            raise KeyError(id_)

    def _forget(self, id_: str) -> bool:
        if self._new.pop(id_, None) is not None:
            return True
        for segment in self._segments:
            number = segment.find(id_)
            if number >= 0:
                segment.removed[number] = True
                return True
        return False

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        self._settle()
        facts = Facts(event, self.model)
        verifier = Verifier(facts, self.work)
        found: list[Match] = []
        for one in self._new.values():
            found += self._verified(one.subscription, event, verifier, bindings)
        for segment in self._segments:
            matched, candidates = segment.match(facts, self.work)
            for number in candidates.tolist():
                found += self._verified(segment.subscriptions[number], event, verifier, bindings)
            for number in matched.tolist():
                if bindings:
                    found += self._verified(segment.subscriptions[number], event, verifier, True)
                else:
                    found.append(Match(event.id, segment.tables.ids[number].decode("utf-8", "surrogatepass")))
        return sorted(found, key=lambda match: match.subscription)

    def _verified(self, one: Subscription, event: Event, verifier: Verifier, bindings: bool) -> list[Match]:
        """The match of a subscription, if there is one. What goes wrong with it costs it alone."""
        self.work["candidates verified"] += 1
        try:
            if not bindings:
                score = verifier.score(one)
                return [] if score is None else [Match(event.id, one.id, score)]
            outcome = verifier.outcome(one)
            return [] if outcome is None else [Match(event.id, one.id, outcome[0], in_order(outcome[1]))]
        except Exception:
            log.exception("subscription %r cannot be tried on event %r, and is passed over", one.id, event.id)
            return []

    def _settle(self) -> None:
        """Build what is new into a segment, if it has become much."""
        if len(self._new) <= MOST_NEW:
            return
        new, self._new = list(self._new.values()), {}
        while self._segments and len(self._segments[-1]) < GROWTH * len(new):
            new += [prepare(one, self.model) for one in self._segments.pop().living()]
        self._segments.append(Segment(*build(new), self.model))
