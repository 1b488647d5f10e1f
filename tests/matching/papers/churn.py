"""A matcher beside the oracle while subscriptions come and go."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests import worlds
from triplewire.concepts.model import ConceptModel
from triplewire.matching import BruteForce, Matcher
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription


def any_event(rng: Random) -> Event:
    return Event("source", "event", worlds.graph(rng))


def check_churn(
    rng: Random,
    make: Callable[[ConceptModel], Matcher],
    draw: Callable[[Random, str, Event], Subscription],
    after: Callable[[Matcher], None] = lambda matcher: None,
    steps: int = 12,
    draw_event: Callable[[Random], Event] = any_event,
) -> int:
    """Add, replace, remove and match in random order; tell how many matches there were, all of them the oracle's."""
    model = worlds.model(rng)
    matcher, brute = make(model), BruteForce(model)
    kept: set[str] = set()
    event = draw_event(rng)
    matches = 0
    for _ in range(steps):
        for id_ in (f"s{rng.randrange(steps)}" for _ in range(3)):
            subscription = draw(rng, id_, event)
            matcher.add(subscription)
            brute.add(subscription)
            kept.add(id_)
            after(matcher)
        if kept and rng.random() < 0.5:
            id_ = rng.choice(sorted(kept))
            matcher.remove(id_)
            brute.remove(id_)
            kept.discard(id_)
            after(matcher)
        expected = brute.match(event, bindings=True)
        assert matcher.match(event, bindings=True) == expected
        assert [m.subscription for m in matcher.match(event)] == [m.subscription for m in expected]
        matches += len(expected)
        event = draw_event(rng)
    for id_ in sorted(kept):
        matcher.remove(id_)
        after(matcher)
    assert matcher.match(event) == []
    return matches
