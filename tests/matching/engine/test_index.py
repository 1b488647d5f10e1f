"""The index says what brute force says, over the whole pattern language."""

from __future__ import annotations

from random import Random

import pytest

from tests.worlds import graph, model, subscription
from triplewire.matching import BruteForce
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event


@pytest.mark.parametrize("seed", range(150))
def test_the_index_finds_what_brute_force_finds(seed):
    rng = Random(seed)
    drawn = model(rng)
    subscriptions = [subscription(rng, f"s{number}") for number in range(40)]
    brute, index = BruteForce(drawn), Index.build(subscriptions, drawn)
    for one in subscriptions:
        brute.add(one)
    for number in range(3):
        event = Event("source", f"event {number}", graph(rng, 12))
        assert index.match(event, bindings=True) == brute.match(event, bindings=True)
        assert index.match(event) == brute.match(event)
