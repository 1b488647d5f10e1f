"""What friends are offered: items that were nearly theirs, and that somebody who knows them was told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from triplewire.concepts.closure import close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.brute import match_one
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Alternative, Subscription
from triplewire.subscriptions.profiles import Person

MARGIN = 0.1
"""An event that is less than so much under a threshold is near enough to be suggested, if it is similar at all."""


@dataclass(frozen=True)
class Suggestion:
    """An event is offered to a person, for the interest of theirs that it comes nearest to."""

    event: str
    person: str
    subscription: str
    score: float


def audience(told: Iterable[str], people: Iterable[Person]) -> list[str]:
    """Whom an event may be offered to that some people were told of: by name, those whom a sharing one of them knows.

    Nobody is offered what they were told of, and nobody who declines is offered anything.
    """
    known = {person.id: person for person in people}
    sharing = [known[one] for one in set(told) if one in known and known[one].shares]
    friends = {friend for person in sharing for friend in person.knows} - set(told)
    return sorted(friend for friend in friends if friend not in known or not known[friend].declines)


def suggestions(
    event: Event,
    friends: Iterable[str],
    subscriptions: Mapping[str, Sequence[Subscription]],
    model: ConceptModel,
    margin: float = MARGIN,
) -> Iterator[Suggestion]:
    """The offers of an event to an audience, to whom ``subscriptions`` belong: at most one for each."""
    closed = close(event.graph, model)
    for friend in friends:
        near = [
            (found.score, one.id)
            for one in sorted(subscriptions.get(friend, ()), key=lambda one: one.id)
            if (found := match_one(_lowered(one, margin), closed, bindings=False)) is not None
        ]
        if near:
            score, id_ = max(near, key=lambda one: one[0])
            yield Suggestion(event.id, friend, id_, score)


def _lowered(subscription: Subscription, margin: float) -> Subscription:
    """A subscription that is content with a little less."""

    def lower(alternative: Alternative) -> Alternative:
        interests = (replace(one, threshold=max(0.0, one.threshold - margin)) for one in alternative.pattern.interests)
        return replace(alternative, pattern=replace(alternative.pattern, interests=tuple(interests)))

    return replace(subscription, alternatives=tuple(map(lower, subscription.alternatives)))
