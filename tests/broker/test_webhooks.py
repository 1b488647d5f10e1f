"""Webhooks: a foreign receiver gets everything, in order, signed, however often it fails; and nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
import random
import subprocess
import sys
import time
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.broker.clients import notify
from tests.broker.sending import NEW, OLD, Clock, Receiver, dispatching, of, turn
from triplewire.broker.delivery.circuits import AT_ONCE, TRIPS, Circuit
from triplewire.broker.delivery.retries import LONGEST_DELAY, PATIENCE, delay
from triplewire.errors import StoreError
from triplewire.store import Store, Webhook

DELIVERING = """
import asyncio, sys
from triplewire.broker.delivery.addresses import Addresses, networks
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.store import Store

async def deliver():
    await Dispatcher(Store(sys.argv[1]), Addresses(networks(["127.0.0.1"]))).run()

asyncio.run(deliver())
"""


def test_a_foreign_receiver_knows_us_by_our_signature_and_gets_everything_in_order(
    store: Store, receiver: Receiver
) -> None:
    store.subscribe({"id": "s"}, webhook=Webhook(f"{receiver.address}/a", OLD, "application/n-triples"))
    store.subscribe({"id": "other"})
    for _ in range(25):
        notify(store, "other", "s")

    async def scenario() -> None:
        async with dispatching(store, Clock()) as dispatcher:
            await turn(dispatcher)

    asyncio.run(scenario())
    received = receiver.received()
    assert receiver.accepted() == list(range(1, 26))
    assert {tuple(one["good"]) for one in received} == {(OLD,)}
    assert len({one["headers"]["webhook-id"] for one in received}) == 25
    data = received[0]["body"]["data"]
    assert (data["event"], data["subscription"], data["bindings"], data["score"]) == ("e1", "s", [{"?1": "_:pc"}], 1.0)
    assert data["rdf"]["format"] == "application/n-triples"
    assert "_:H <http://example.org/auction#target> _:pc ." in data["rdf"]["text"]
    assert data["explanation"] == f"https://triplewire.example/v1/notifications/{data['id']}/explanation"
    assert (of(store).delivered, of(store).sent, store.deliveries.pending(["s"])) == (25, 25, {})


def test_while_a_secret_is_being_replaced_both_are_good(store: Store, receiver: Receiver) -> None:
    store.subscribe({"id": "s"}, webhook=receiver.hook())
    clock = Clock()
    until = (clock.now + timedelta(minutes=2)).isoformat().replace("+00:00", "Z")
    store.deliveries.put("s", receiver.hook(secret=NEW), until)

    async def scenario() -> None:
        async with dispatching(store, clock) as dispatcher:
            for _ in range(2):
                notify(store, "s")
                await turn(dispatcher)
                clock.forward(timedelta(minutes=3))

    asyncio.run(scenario())
    assert [one["good"] for one in receiver.received()] == [[OLD, NEW], [NEW]]


def test_a_failure_is_tried_again_ever_later_and_what_follows_waits_its_turn(store: Store, receiver: Receiver) -> None:
    store.subscribe({"id": "s"}, webhook=receiver.hook())
    receiver.answers(500, "503 Retry-After=3600", 302)
    clock, waits = Clock(), []
    start = clock.now

    async def scenario() -> None:
        notify(store, "s")
        notify(store, "s")
        async with dispatching(store, clock) as dispatcher:
            while not receiver.accepted():
                before = len(receiver.received())
                await turn(dispatcher)
                if len(receiver.received()) > before:
                    waits.append(clock.now - start)
                    if of(store).failing_since:
                        assert datetime.fromisoformat(of(store).failing_since) - start < timedelta(seconds=1)
                        assert store.deliveries.pending(["s"]) == {"s": 2}
                clock.forward(timedelta(seconds=1) if len(waits) == 1 else timedelta(minutes=1))

    asyncio.run(scenario())
    assert waits[0] == timedelta()
    assert timedelta(seconds=2) < waits[1] < timedelta(seconds=6)
    assert waits[2] - waits[1] >= timedelta(hours=1)
    assert [one["status"] for one in receiver.received()] == [500, 503, 302, 204, 204]
    assert len({one["headers"]["webhook-id"] for one in receiver.received()[:4]}) == 1
    assert receiver.accepted() == [1, 2]
    assert (of(store).sent, of(store).delivered, of(store).failing_since, of(store).reason) == (5, 2, None, "")


def test_410_ends_it_and_its_owner_may_begin_again(
    store: Store, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "triplewire")
    store.subscribe({"id": "s"}, webhook=receiver.hook())
    receiver.answers(503, 410)
    notify(store, "s")
    clock = Clock()

    async def scenario() -> None:
        async with dispatching(store, clock) as dispatcher:
            for _ in range(3):
                await turn(dispatcher)
                clock.forward(timedelta(days=2))
            assert (of(store).state, of(store).reason, of(store).sent) == ("ended", "the answer was 410 Gone", 2)
            store.pause("s", False)
            await turn(dispatcher)

    asyncio.run(scenario())
    assert receiver.accepted() == [1]
    lines = [(one.getMessage(), one.fields) for one in caplog.records]  # type: ignore[attr-defined]
    told = [(message, fields["status"], fields["attempt"]) for message, fields in lines]
    assert told == [("delivery failed", 503, 1), ("delivery ended", 410, 2), ("delivery sent", 204, 1)]


def test_after_days_of_failure_it_is_stopped_and_nothing_is_lost(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "triplewire.broker.delivery.dispatcher")
    store.subscribe({"id": "s"}, webhook=Webhook("http://10.0.0.1/", OLD))  # where we are not let to go
    notify(store, "s")
    notify(store, "s")
    clock = Clock()
    start, spans = clock.now, []

    async def scenario() -> None:
        async with dispatching(store, clock) as dispatcher:
            while of(store).state == "active":
                before = of(store).sent
                await turn(dispatcher)
                if of(store).sent > before:
                    spans.append(clock.now - start)
                clock.now = max(clock.now + timedelta(minutes=5), datetime.fromisoformat(of(store).due))

    asyncio.run(scenario())
    assert (of(store).state, store.deliveries.pending(["s"])) == ("stopped", {"s": 2})
    assert of(store).reason == "no connection: 10.0.0.1 leads to no public address"
    assert PATIENCE <= spans[-1] <= PATIENCE + LONGEST_DELAY
    assert 10 < len(spans) < 40
    told = [one.getMessage() for one in caplog.records]
    assert told == ["delivery failed"] * (len(spans) - 1) + ["delivery stopped"]


def test_what_was_received_and_not_written_down_is_sent_again_under_the_same_id(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.subscribe({"id": "s"}, webhook=receiver.hook())
    notify(store, "s")
    notify(store, "s")
    settle, failures = store.deliveries.settle, iter(range(1))

    def shaky(attempts: Any) -> Any:
        if next(failures, None) is not None:
            raise StoreError("the disk is away")
        return settle(attempts)

    monkeypatch.setattr(store.deliveries, "settle", shaky)

    async def scenario() -> None:
        async with dispatching(store, Clock()) as dispatcher:
            await turn(dispatcher)
            assert (receiver.accepted(), of(store).delivered) == ([1], 0)
            await turn(dispatcher)

    asyncio.run(scenario())
    first, again, _ = receiver.received()
    assert receiver.accepted() == [1, 1, 2]
    assert first["headers"]["webhook-id"] == again["headers"]["webhook-id"]


def test_a_digest_that_was_received_and_not_written_down_is_sent_again_and_can_be_told_from_a_new_one(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after kill -9 in the midst of it; before it is sent again, more has come."""
    store.subscribe({"id": "s", "digest": "hourly"}, webhook=receiver.hook())
    for _ in range(3):
        notify(store, "s")
    settle, failures, clock = store.deliveries.settle, iter(range(2)), Clock()

    def shaky(attempts: Any) -> Any:
        if next(failures, None) is not None:
            raise StoreError("the disk is away")
        return settle(attempts)

    monkeypatch.setattr(store.deliveries, "settle", shaky)

    async def scenario() -> None:
        async with dispatching(store, clock) as dispatcher:
            clock.forward(timedelta(hours=2))
            await turn(dispatcher)
            await turn(dispatcher)
            notify(store, "s")
            clock.forward(timedelta(hours=2))
            await turn(dispatcher)

    asyncio.run(scenario())
    first, again, larger = receiver.received()
    ids = [one["headers"]["webhook-id"] for one in (first, again, larger)]
    assert ids[0] == ids[1] != ids[2]
    parts = [[one["id"] for one in sent["body"]["data"]["notifications"]] for sent in (first, again, larger)]
    assert parts[0] == parts[1] == parts[2][:3]
    assert (len(parts[2]), of(store).delivered, store.deliveries.pending(["s"])) == (4, 4, {})


def test_two_brokers_on_one_store_lose_nothing_and_what_comes_twice_has_one_id(
    store: Store, receiver: Receiver
) -> None:
    store.subscribe({"id": "s"}, webhook=receiver.hook())
    for _ in range(10):
        notify(store, "s")

    async def scenario() -> None:
        with closing(Store(store.url)) as other:
            async with dispatching(store, Clock()) as one, dispatching(other, Clock()) as another:
                while store.deliveries.pending(["s"]):
                    await asyncio.gather(turn(one), turn(another))

    asyncio.run(scenario())
    accepted = receiver.accepted()
    assert list(dict.fromkeys(accepted)) == list(range(1, 11))
    ids = {(one["body"]["data"]["sequence"], one["headers"]["webhook-id"]) for one in receiver.received()}
    assert len(ids) == 10


@pytest.mark.parametrize("seed", range(2))
def test_whatever_a_receiver_answers_it_accepts_each_in_its_turn(store: Store, receiver: Receiver, seed: int) -> None:
    chance = random.Random(seed)
    names = ["a", "b", "c"]
    for name in names:
        store.subscribe({"id": name}, webhook=receiver.hook(name))
        receiver.answers(*(chance.choice([200, 204, 400, 404, 429, 500, 503]) for _ in range(12)), path=name)
    clock, told = Clock(), dict.fromkeys(names, 0)

    async def scenario() -> None:
        async with dispatching(store, clock) as dispatcher:
            for _ in range(12):
                listeners = chance.sample(names, chance.randint(0, 3))
                notify(store, *listeners)
                told.update({name: told[name] + 1 for name in listeners})
                paused = chance.choice(names)
                store.pause(paused)
                await turn(dispatcher)
                store.pause(paused, False)
                clock.forward(timedelta(minutes=chance.choice([0, 1, 60])))
            while store.deliveries.pending(names):
                await turn(dispatcher)
                clock.now = max(clock.now, *(datetime.fromisoformat(of(store, name).due) for name in names))

    asyncio.run(scenario())
    assert {name: receiver.accepted(name) for name in names} == {n: list(range(1, told[n] + 1)) for n in names}


def test_endpoints_that_never_answer_delay_nobody(store: Store, receiver: Receiver) -> None:
    async def scenario() -> None:
        held: list[asyncio.StreamWriter] = []
        silent = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
        port = silent.sockets[0].getsockname()[1]
        for n in range(40):
            store.subscribe({"id": f"dead{n}"}, webhook=Webhook(f"http://127.0.0.1:{port}/{n}", OLD))
        store.subscribe({"id": "live"}, webhook=receiver.hook("live"))
        notify(store, *(f"dead{n}" for n in range(40)), "live")
        async with dispatching(store, Clock()) as dispatcher:
            for count in range(2, 5):
                await dispatcher.look()
                while of(store, "live").delivered < count - 1:
                    await asyncio.sleep(0.01)
                notify(store, "live")
            assert sum(of(store, f"dead{n}").sent for n in range(40)) == 0, "the dead ones are still under way"
            assert len(held) <= AT_ONCE
        for writer in held:
            writer.close()
        silent.close()

    asyncio.run(scenario())
    assert receiver.accepted("live")[:3] == [1, 2, 3]


def test_a_host_that_is_down_is_not_tried_once_for_each_subscription(store: Store) -> None:
    async def scenario() -> None:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        names = [f"s{n}" for n in range(40)]
        for name in names:
            store.subscribe({"id": name}, webhook=Webhook(f"http://127.0.0.1:{port}/", OLD))
        notify(store, *names)
        async with dispatching(store, Clock()) as dispatcher:
            for _ in range(3):
                await turn(dispatcher)
        assert TRIPS <= sum(of(store, name).sent for name in names) <= TRIPS + AT_ONCE
        assert store.deliveries.pending(names) == dict.fromkeys(names, 1)

    asyncio.run(scenario())


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_a_circuit_opens_after_failures_in_a_row_and_then_tries_one_at_a_time(outcomes: list[bool]) -> None:
    circuit, clock, row = Circuit(), Clock(), 0
    for good in outcomes:
        if row >= TRIPS:
            assert circuit.is_open(clock.now)
            assert not circuit.admits(clock.now)
            clock.now = circuit.open_until
            circuit.under_way = 1
            assert not circuit.admits(clock.now)
            circuit.under_way = 0
        assert circuit.admits(clock.now)
        if good:
            circuit.succeeded()
        else:
            circuit.failed(clock.now)
        row = 0 if good else row + 1


@given(st.integers(1, 60), st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True))
def test_delays_grow_to_hours_and_differ(attempts: int, jitter: float, other: float) -> None:
    assert timedelta(seconds=2.5) <= delay(attempts, jitter) <= LONGEST_DELAY
    assert delay(attempts + 1, jitter) >= delay(attempts, jitter)
    assert (delay(attempts, jitter) < delay(attempts, other)) <= (jitter < other)
    assert delay(12, 0) >= timedelta(hours=3)


def test_a_broker_that_is_killed_at_any_moment_leaves_nothing_undelivered(store: Store, receiver: Receiver) -> None:
    chance = random.Random(7)
    names = ["a", "b", "c"]
    for name in names:
        store.subscribe({"id": name}, webhook=receiver.hook(name))
    for _ in range(2):
        for _ in range(10):
            notify(store, *names)
        before = len(receiver.received("a"))
        with subprocess.Popen([sys.executable, "-c", DELIVERING, store.url]) as running:
            enough = before + chance.randint(1, 9)
            while len(receiver.received("a")) < enough:
                assert running.poll() is None
                time.sleep(0.01)
            running.kill()

    async def finish() -> None:
        async with dispatching(store, Clock()) as dispatcher:
            await turn(dispatcher)

    asyncio.run(finish())
    for name in names:
        accepted = receiver.accepted(name)
        assert list(dict.fromkeys(accepted)) == list(range(1, 21)), "in order, none left out"
        assert accepted == sorted(accepted), "what comes twice comes twice in a row"
        assert len(accepted) <= 20 + 2
        assert of(store, name).delivered == 20
