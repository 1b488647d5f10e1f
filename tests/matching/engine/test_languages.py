"""What patterns of arcs and filters do not say: interests and queries, matched by the index as by brute force."""

from __future__ import annotations

from random import Random

import pytest

from tests.worlds import EX, QUERIES, graph, interest, model, pattern
from triplewire.matching import BruteForce
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Alternative, Pattern, Subscription


def agree(subscriptions, drawn, rng):
    brute, index = BruteForce(drawn), Index.build(subscriptions, drawn)
    for one in subscriptions:
        brute.add(one)
    for number in range(4):
        event = Event("source", f"event {number}", graph(rng, 12))
        assert index.match(event, bindings=True) == brute.match(event, bindings=True)
        assert index.match(event) == brute.match(event)


@pytest.mark.parametrize("seed", range(25))
def test_queries_are_answered_as_by_brute_force(seed):
    rng = Random(seed)
    drawn = model(rng)
    record = {"language": "sparql", "prefixes": {"ex": EX}}
    agree([parse_subscription(record | {"id": q, "pattern": q}, drawn) for q in QUERIES], drawn, rng)


@pytest.mark.parametrize("seed", range(25))
def test_interests_are_scored_together_as_one_by_one(seed):
    rng = Random(seed)
    patterns = [Pattern(interests=(interest(rng),)) for _ in range(30)]
    patterns += [Pattern(interests=(interest(rng), interest(rng))) for _ in range(5)]
    exact = [pattern(rng) for _ in range(10)]
    patterns += [Pattern(one.arcs, one.classes, one.is_a, one.filters, (interest(rng),), one.mapping) for one in exact]
    alternatives = [(Alternative(one),) for one in patterns]
    alternatives += [(Alternative(a), Alternative(b)) for a, b in zip(patterns[:10], exact, strict=True)]
    agree([Subscription(f"s{n}", one) for n, one in enumerate(alternatives)], model(rng), rng)
