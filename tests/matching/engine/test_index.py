"""The index says what brute force says, over the whole pattern language."""

from __future__ import annotations

import sys
from random import Random

import pytest
from pyoxigraph import NamedNode

from tests.worlds import graph, model, subscription
from triplewire.concepts.load import model_of
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce
from triplewire.matching.engine import segment
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Alternative, AttributeExists, Pattern, Subscription
from triplewire.testing import cloud_event

MODEL = model_of([])


@pytest.mark.parametrize("seed", range(150))
def test_the_index_finds_what_brute_force_finds(seed, monkeypatch):
    monkeypatch.setattr(segment, "CHUNK", 15 if seed % 2 else 1000)
    rng = Random(seed)
    drawn = model(rng)
    subscriptions = [subscription(rng, f"s{rng.randrange(60)}") for _ in range(40)]
    brute, index = BruteForce(drawn), Index.build(subscriptions, drawn)
    for one in subscriptions:
        brute.add(one)
    for number in range(3):
        event = Event("source", f"event {number}", graph(rng, 12))
        assert index.match(event, bindings=True) == brute.match(event, bindings=True)
        assert index.match(event) == brute.match(event)


def calls_to_remove_one(size: int) -> int:
    """How many calls it takes to remove one of so many subscriptions."""
    pattern = Pattern(filters=(AttributeExists((NamedNode("http://example.org/p"),)),))
    index = Index.build((Subscription(f"s{number:05}", (Alternative(pattern),)) for number in range(size)), MODEL)
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    index.remove("s00100")
    sys.setprofile(None)
    assert len(index) == size - 1
    return calls


def test_of_eight_times_as_many_one_is_removed_with_a_few_more_looks():
    few, many = calls_to_remove_one(512), calls_to_remove_one(4096)
    assert few < 60
    assert many - few <= 2 * 3  # two searches, three more halvings each


def test_what_labels_decide_is_not_verified():
    """Thousands of price limits are one search; only what no label can say is looked at afterwards."""
    record = {"language": "filter", "prefixes": {"": "http://example.org/"}}
    texts = [f"price < {limit} and brand = 'b{limit % 10}'" for limit in range(2000)]
    texts += ["price < 100 and brand contains 'b'", "price < 3 and brand contains 'b'", "not price < 4"]
    subscriptions = [
        parse_subscription(record | {"id": f"s{number}", "pattern": text}, MODEL) for number, text in enumerate(texts)
    ]
    index = Index.build(subscriptions, MODEL)
    event = parse_event(cloud_event("@prefix : <http://example.org/> . _:H :price 7 ; :brand 'b3' ."))
    matches = index.match(event)
    assert len(matches) == len(range(13, 2000, 10)) + 2
    assert index.work["candidates verified"] == 2
    assert index.work["filters evaluated"] == 3  # two ranges and what no range says, each once
    assert index.work["nodes visited"] < 500
