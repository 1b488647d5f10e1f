"""Retention: what is old goes, and whoever tries to lose something that is needed does not manage to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from triplewire.errors import UsageError
from triplewire.store import Attempt, DeadLetter, Notification, Outcome, Portion, Store, Webhook

FUTURE = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = Store(store_url)
    yield opened
    opened.close()


def publish(store: Store, count: int) -> None:
    last = store.last_position()
    store.append([("source", str(last + n), f'{{"event": {last + n}}}') for n in range(1, count + 1)])


def kept(store: Store) -> list[int]:
    return [event.position for event in store.events(0, store.last_position())]


def tell(store: Store, upto: int, rng: random.Random) -> None:
    """What the pipeline does in a batch: some events match, some are refused."""
    batch = range(store.pipeline_position() + 1, upto + 1)
    matched = [Outcome(at, str(at), one, 1.0, "[]") for at in batch for one in "abc" if rng.random() < 0.4]
    refused = [DeadLetter(at, "broken") for at in batch if rng.random() < 0.1]
    store.record(matched, refused, upto)


def send(store: Store, subscription: str, count: int) -> None:
    """What the dispatcher does: send the next few, and write it down."""
    for _ in range(count):
        delivery = store.deliveries.of([subscription])[subscription]
        for found in store.deliveries.waiting([Portion(delivery, 1)])[0]:
            assert found.body, f"{found.event} was to be sent, and is gone"
            store.deliveries.settle([Attempt(delivery, found.number, "2026-01-01", "2026-01-01")])


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_cut_that_the_pipeline_or_a_delivery_still_needs(store: Store, seed: int) -> None:
    rng = random.Random(seed)
    told: dict[int, Notification] = {}
    for name in "abc":
        store.subscribe({"id": name}, webhook=Webhook(f"https://{name}.example/", "whsec_x") if name != "c" else None)
    for _ in range(15):
        done = store.pipeline_position()
        match rng.choice(["publish", "tell", "send", "again", "trim", "trim"]):
            case "publish":
                publish(store, rng.randint(1, 5))
            case "tell":
                tell(store, rng.randint(done, store.last_position()), rng)
            case "send":
                send(store, rng.choice("ab"), rng.randint(1, 9))
            case "again":
                store.deliveries.move("a", rng.randint(store.cut_position() + 1, store.last_position() + 1))
            case "trim":
                newest, waiting = store.last_position(), store.deliveries.pending("ab")
                store.trim(FUTURE if rng.random() < 0.5 else None, 0)
                assert store.last_position() == newest
                assert kept(store)[-1:] == [newest][: bool(newest)]
                assert store.deliveries.pending("ab") == waiting
        assert set(range(store.pipeline_position() + 1, store.last_position() + 1)) <= set(kept(store))
        found = {one.number: one for one in store.notifications(limit=1000)}
        gone = told.keys() - found.keys()
        assert all(told[number].position <= store.cut_position() for number in gone)
        assert all(
            (told[number].source, told[number].sequence) == (one.source, one.sequence)
            for number, one in found.items()
            if number in told
        )
        for name in "abc":
            last = max((one.sequence for one in told.values() if one.subscription == name), default=0)
            left = [one.sequence for one in found.values() if one.subscription == name]
            assert left == list(range(left[0], left[-1] + 1)) if left else last == 0
            assert not left or left[-1] >= last, "a number would be given out twice"
        told = found
    send(store, "a", 1000)
    send(store, "b", 1000)


def test_the_batch_that_the_pipeline_may_be_made_to_repeat_is_still_there(store: Store) -> None:
    publish(store, 9)
    store.record([], [], 4)
    store.record([], [], 7)
    assert store.trim(FUTURE) == 4
    assert kept(store) == [5, 6, 7, 8, 9]
    store.record([], [], 7)
    assert store.trim(FUTURE) == 4


def test_events_go_by_age_and_by_size(store: Store) -> None:
    publish(store, 10)
    store.record([], [], 9)
    store.record([], [], 10)
    assert store.trim() == store.trim(datetime.now(UTC) - timedelta(days=1)) == 0
    size = sum(len(event.body) for event in store.events(0, 10))
    assert store.trim(most=size) == 0
    assert store.trim(most=size - 1) == 1
    assert store.trim(most=(size + 1) // 2) == 5
    assert store.trim(FUTURE) == 9
    assert (kept(store), store.append([("source", "11", "{}")])) == ([10], [11])


@pytest.mark.parametrize("state", ["paused", "stopped", "ended"])
def test_a_delivery_that_is_not_at_work_holds_nothing_and_tells_what_it_has_missed(store: Store, state: str) -> None:
    store.subscribe({"id": "s"}, webhook=Webhook("https://s.example/", "whsec_x"))
    publish(store, 5)
    store.record([Outcome(at, str(at), "s", 1.0, "[]") for at in (1, 2, 3, 5)], [], 4)
    store.record([], [], 5)
    delivery = store.deliveries.of(["s"])["s"]
    assert store.trim(datetime.now(UTC)) == 0, "it is at work, and has sent nothing yet"
    if state == "paused":
        store.pause("s")
    else:
        store.deliveries.settle([Attempt(delivery, 1, "2026-01-01", "2026-01-01", "no answer", state)])
    assert store.trim(datetime.now(UTC)) == 4
    missed = store.deliveries.of(["s"])["s"].undelivered
    left_out = store.deliveries.omissions(delivery.number, 0, 10)
    assert (missed, {one.reason for one in left_out}) == (
        3,
        {"the event was not kept any longer while nothing was sent"},
    )
    assert [one.sequence for one in store.notifications()] == [4]
    store.pause("s", False)
    assert store.trim(datetime.now(UTC)) == 4
    waiting = store.deliveries.waiting([Portion(store.deliveries.of(["s"])["s"], 10)])[0]
    assert [(one.position, one.sequence) for one in waiting] == [(5, 4)]
    publish(store, 1)
    store.record([Outcome(6, "6", "s", 1.0, "[]")], [], 6)
    assert [one.sequence for one in store.notifications()] == [4, 5]


def test_what_tells_of_a_cut_event_stays_and_keeps_its_name(store: Store) -> None:
    publish(store, 4)
    store.record([Outcome(1, "1", "s", 1.0, "[]")], [DeadLetter(2, "broken")], 3)
    store.record([], [], 4)
    assert store.trim(FUTURE) == store.cut_position() == 3
    assert [(n.event, n.source, n.body) for n in store.notifications()] == [("1", "source", "")]
    assert [(d.id, d.reason, d.body) for d in store.dead_letters()] == [("2", "broken", "")]
    assert store.append([("source", "1", "{}")]) == [1]
    store.subscribe({"id": "s"}, webhook=Webhook("https://a.example/", "whsec_x"))
    with pytest.raises(UsageError, match="kept from position 4 on"):
        store.deliveries.move("s", 3)
