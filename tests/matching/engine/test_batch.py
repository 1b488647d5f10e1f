"""A batch of N-Quads finds what its events find one by one."""

from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import worlds
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import write


def batch_of(events: list[Event]) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "id": [event.id for event in events],
            "home": pa.array([str(event.graph.home) if event.graph.home else None for event in events], pa.string()),
            "data": [write(event.graph.triples) for event in events],
        }
    )


def found_in(index: Index, batch: pa.RecordBatch) -> list[tuple[str, str, float]]:
    told = index.match_batch(batch)
    assert not told.refused
    ids = told.subscriptions.to_pylist()
    return [
        (batch["id"][i].as_py(), ids[row], told.scores[row])
        for i in range(batch.num_rows)
        for row in range(told.offsets[i], told.offsets[i + 1])
    ]


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_a_batch_finds_what_its_events_find_one_by_one(seed):
    rng = Random(seed)
    model = worlds.model(rng)
    subscriptions = [worlds.subscription(rng, f"s{i}") for i in range(rng.choice([1, 4, 8]))]
    index = Index.build(subscriptions[: len(subscriptions) // 2], model)
    for one in subscriptions[len(subscriptions) // 2 :]:
        index.add(one)
    if rng.random() < 0.5:
        index.remove(rng.choice(subscriptions).id)
    events = [Event("source", str(i), worlds.graph(rng)) for i in range(4)]
    expected = [(m.event, m.subscription, m.score) for event in events for m in index.match(event)]
    for _ in range(2):
        assert found_in(index, batch_of(events)) == expected


def test_an_event_that_cannot_be_read_is_refused_and_the_others_match():
    model = worlds.model(Random(3))
    index = Index.build([worlds.subscription(Random(7), "s")], model)
    good = batch_of([Event("source", "good", worlds.graph(Random(5)))])
    bad = pa.record_batch({"id": ["bad"], "home": pa.array([None], pa.string()), "data": ["this is no N-Quads"]})
    both = pa.concat_batches([bad, good])
    told = index.match_batch(both)
    assert list(told.refused) == [0]
    assert "line 1" in str(told.refused[0]) or "column" in str(told.refused[0])
    assert told.offsets.tolist()[1:] == index.match_batch(good).offsets.tolist()


@pytest.mark.parametrize("rows", [slice(0, 0), slice(1, 3)], ids=["no rows", "a slice"])
def test_a_part_of_a_batch_is_a_batch(rows):
    rng = Random(11)
    model = worlds.model(rng)
    index = Index.build([worlds.subscription(rng, f"s{i}") for i in range(20)], model)
    events = [Event("source", str(i), worlds.graph(rng)) for i in range(4)]
    chosen = events[rows]
    part = batch_of(events).slice(rows.start, len(chosen))
    assert found_in(index, part) == [(m.event, m.subscription, m.score) for e in chosen for m in index.match(e)]
