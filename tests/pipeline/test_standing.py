"""What is valid for an event is decided by its position alone."""

from __future__ import annotations

import logging
from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest

from tests.pipeline.world import COMPUTERS, FURNITURE, cheaper, document, expected, offer
from triplewire.errors import UsageError
from triplewire.lift.cloudevents import parse_event
from triplewire.pipeline.standing import Standing
from triplewire.store import Store


def live_a_little(store: Store, random: Random, steps: int = 60) -> None:
    """Publish, subscribe, revise, unsubscribe and change the ontology, at random."""
    for step in range(steps):
        id_ = random.choice(["a", "b", "c"])
        try:
            match random.randrange(8):
                case 0:
                    store.subscribe(cheaper(id_, random.randrange(200)))
                case 1:
                    store.revise(cheaper(id_, random.randrange(200), random.choice(["Computer", "Furniture"])))
                case 2:
                    store.unsubscribe(id_)
                case 3:
                    store.put_ontology([document(random.choice([COMPUTERS, FURNITURE]))])
                case _:
                    store.append([offer(step, random.randrange(200))])
        except UsageError:
            pass  # subscribed twice, or not at all


def matched(store: Store, standing: Standing, batches: list[tuple[int, int]]) -> list[tuple[int, str]]:
    """What a worker finds that is given the events of these batches in this order."""
    found = []
    for after, upto in batches:
        events = [(event.position, event.body) for event in store.events(after, upto)]
        batch = pa.RecordBatch.from_arrays(
            [pa.array(column) for column in zip(*events, strict=True)] or [[], []], ["position", "body"]
        )
        for matcher, _, stretch in standing.stretches(batch):
            for position, body in zip(*(column.to_pylist() for column in stretch.columns), strict=True):
                found += [(position, match.subscription) for match in matcher.match(parse_event(body))]
    return sorted(found)


@pytest.mark.parametrize("seed", range(12))
def test_a_worker_finds_what_the_definition_says_however_the_log_is_cut(store: Store, seed: int) -> None:
    random = Random(seed)
    live_a_little(store, random)
    last = store.last_position()
    cuts = sorted({0, last, *(random.randrange(last + 1) for _ in range(5))})
    batches = list(pairwise(cuts))
    assert matched(store, Standing(store), batches) == expected(store)


@pytest.mark.parametrize("seed", range(6))
def test_a_worker_may_be_sent_back_to_an_earlier_part_of_the_log(store: Store, seed: int) -> None:
    random = Random(seed)
    live_a_little(store, random)
    batches = [(position, position + 1) for position in range(store.last_position())]
    random.shuffle(batches)
    assert matched(store, Standing(store), batches) == expected(store)


def test_a_matcher_is_kept_while_the_ontology_is(store: Store) -> None:
    standing = Standing(store)
    store.subscribe(cheaper("a", 50))
    before = standing.at(1)
    store.append([offer(1)])
    store.subscribe(cheaper("b", 50))
    assert standing.at(2) is before
    store.put_ontology([document(COMPUTERS)])
    assert standing.at(2) is not before


def test_a_bad_subscription_costs_itself_only_and_is_told_once(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    store.subscribe({"id": "bad", "language": "ops", "pattern": "(("})
    store.subscribe(cheaper("good", 150, "Desktop"))
    store.append([offer(n) for n in range(3)])
    with caplog.at_level(logging.WARNING):
        found = matched(store, Standing(store), [(0, 1), (1, 2), (2, 3)])
    assert found == [(1, "good"), (2, "good"), (3, "good")]
    assert [record.getMessage() for record in caplog.records if "'bad'" in record.getMessage()] != []
    assert len(caplog.records) == 1


def test_a_document_that_cannot_be_read_leaves_the_rest_of_the_ontology(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store.put_ontology([document("nonsense"), document(COMPUTERS)])
    store.subscribe(cheaper("a", 150))
    store.append([offer(1)])
    assert matched(store, Standing(store), [(0, 1)]) == [(1, "a")]
    assert "kinds.ttl" in caplog.text
