"""The terms on which notifications are sent: paused, throttled, in digests, each content once, the urgent first."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.broker.clients import cloudevent, notify, subscription
from tests.broker.sending import OLD, Clock, Receiver, dispatching, of, turn
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.broker.delivery.retries import PATIENCE, REFUSAL
from triplewire.broker.delivery.slots import Slots
from triplewire.store import Outcome, Store, store_url

Step = Callable[[timedelta], Awaitable[None]]


def drive(store: Store, scenario: Callable[[Dispatcher, Step], Awaitable[None]], clock: Clock | None = None) -> None:
    """Have a scenario send what is due, after some time each."""
    at = clock or Clock()

    async def run() -> None:
        async with dispatching(store, at) as dispatcher:

            async def step(later: timedelta) -> None:
                at.forward(later)
                await turn(dispatcher)

            await scenario(dispatcher, step)

    asyncio.run(run())


def digests(receiver: Receiver, path: str = "a") -> list[list[int]]:
    """The sequence numbers that were received together."""
    bodies = [one["body"] for one in receiver.received(path) if one["status"] < 300]
    assert {body["type"] for body in bodies} <= {"triplewire.digest"}
    return [[one["sequence"] for one in body["data"]["notifications"]] for body in bodies]


def test_terms_are_told_and_changed_and_nonsense_is_refused_with_the_reason(broker: httpx.Client, store: Store) -> None:
    terms = {"priority": 3, "throttling": "PT1M", "digest": "daily", "duplicates": 60}
    hook = {"channel": "webhook", "url": "https://hook.example/", "secret": OLD}
    created = broker.post("/v1/subscriptions", json=subscription(delivery=hook, **terms))
    assert created.json()["state"] == "active"
    assert terms.items() <= broker.get("/v1/subscriptions/s1").json().items()
    found = of(store, "s1").terms
    assert (found.priority, found.throttling, found.digest, found.duplicates) == (3, 60, 86_400, 60)
    changed = broker.patch("/v1/subscriptions/s1", json={"priority": None, "digest": "PT30M", "state": "paused"}).json()
    assert (changed["state"], "priority" in changed, changed["digest"]) == ("paused", False, "PT30M")
    assert (of(store, "s1").terms.digest, of(store, "s1").terms.priority, of(store, "s1").state) == (1800, 0, "paused")
    past = broker.patch("/v1/subscriptions/s1", json={"expiresAt": "2020-01-01T00:00:00+01:00"}).json()
    assert past["state"] == broker.get("/v1/subscriptions").json()["items"][0]["state"] == "expired"
    wrong: list[tuple[str, Any]] = [("state", "expired"), ("priority", 10), ("priority", True), ("throttling", "1h")]
    wrong += [("digest", "P1Y"), ("digest", "PT"), ("duplicates", -1), ("expiresAt", "2026-01-01T00:00:00")]
    for name, value in wrong:
        answer = broker.patch("/v1/subscriptions/s1", json={name: value})
        assert (answer.status_code, name in answer.json()["detail"]) == (422, True), (name, value)


def test_what_is_matched_while_paused_is_sent_after(broker: httpx.Client, store: Store, receiver: Receiver) -> None:
    broker.post("/v1/subscriptions", json=subscription(id="s", state="paused"))
    store.deliveries.put("s", receiver.hook(), "")

    async def scenario(_: Dispatcher, step: Step) -> None:
        for _ in range(3):
            notify(store, "s")
        await step(timedelta(days=1))
        assert (receiver.received(), store.deliveries.pending(["s"])) == ([], {"s": 3})
        store.amend("s", lambda record: record | {"state": "active"})
        await step(timedelta())

    drive(store, scenario)
    assert receiver.accepted() == [1, 2, 3]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(-1, 9), min_size=3, max_size=3), st.data())
def test_an_event_received_after_expiry_is_not_matched_however_often_and_late_it_is_told(
    tmp_path: Path, expiries: list[int], data: st.DataObject
) -> None:
    store = Store(store_url(Path(mkdtemp(dir=tmp_path))))
    moments = [f"2026-01-01T00:00:0{n}.000Z" for n in range(10)]
    expires = {f"s{n}": moments[one] for n, one in enumerate(expiries) if one >= 0}
    ids = [f"s{n}" for n in range(3)]
    for id_ in ids:
        store.subscribe({"id": id_} | ({"expiresAt": expires[id_]} if id_ in expires else {}))
    received = {store.append([("s", moment, "{}")])[0]: moment for moment in moments}
    with store._writing() as connection:
        connection.exec_driver_sql("UPDATE events SET received = id")
    outcomes = [Outcome(position, str(position), id_, 1.0, "[]") for position in received for id_ in ids]
    for _ in range(2):
        first = data.draw(st.integers(0, len(outcomes)))
        store.record(outcomes[first:], [], 9)
        store.record(outcomes[:first], [], 9)
    good = {(p, id_) for p, at in received.items() for id_ in ids if at <= expires.get(id_, at)}
    assert {(one.position, one.subscription) for one in store.notifications(limit=100)} == good
    store.close()


def test_throttled_what_comes_too_soon_is_sent_together_later(store: Store, receiver: Receiver) -> None:
    store.subscribe({"id": "s", "throttling": "PT1M"}, webhook=receiver.hook())

    async def scenario(_: Dispatcher, step: Step) -> None:
        for seconds in (0, 1, 30, 28, 5):
            notify(store, "s")
            await step(timedelta(seconds=seconds))

    drive(store, scenario)
    assert digests(receiver) == [[1], [2, 3, 4, 5]]
    assert [one["good"] for one in receiver.received()] == [[OLD], [OLD]]
    assert (of(store).delivered, of(store).sent) == (5, 5)


def test_a_digest_comes_when_its_period_is_over_and_again_whole_if_it_is_refused(
    store: Store, receiver: Receiver
) -> None:
    store.subscribe({"id": "s", "digest": "hourly"}, webhook=receiver.hook())
    receiver.answers(500)
    clock = Clock()
    whole = timedelta(hours=1)
    to_the_hour = whole - timedelta(seconds=clock.now.timestamp() % 3600)

    async def scenario(_: Dispatcher, step: Step) -> None:
        for _ in range(120):
            notify(store, "s")
        await step(to_the_hour / 2)
        assert receiver.received() == []
        await step(to_the_hour)
        assert len(receiver.received()) == 1
        await step(timedelta(minutes=5))

    drive(store, scenario, clock)
    assert digests(receiver) == [list(range(1, 101)), list(range(101, 121))]
    first, again, _ = receiver.received()
    assert first["headers"]["webhook-id"] == again["headers"]["webhook-id"]
    [one, *_] = again["body"]["data"]["notifications"]
    assert (one["event"], one["bindings"], one["score"], one["sequence"]) == ("e1", [{"?1": "_:pc"}], 1.0, 1)
    assert one["rdf"]["format"] == "text/turtle"
    assert one["explanation"] == f"https://triplewire.example/v1/notifications/{one['id']}/explanation"


def tell(store: Store, data: str, received: datetime) -> None:
    """An event with some content, received at a time."""
    count = store.last_position() + 1
    [position] = store.append([("urn:test", f"e{count}", json.dumps(cloudevent(f"e{count}", data=data)))])
    with store._writing() as connection:
        moment = received.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        connection.exec_driver_sql("UPDATE events SET received = ? WHERE position = ?", (moment, position))
    store.record([Outcome(position, f"e{count}", "s", 1.0, "[]")], [], position)


@pytest.mark.parametrize("joined", [{}, {"throttling": 1}])
def test_the_same_content_is_told_once_within_the_window(store: Store, receiver: Receiver, joined: Any) -> None:
    store.subscribe({"id": "s", "duplicates": "PT1H"} | joined, webhook=receiver.hook())
    start = datetime(2026, 1, 1, tzinfo=UTC)
    same, renamed = "_:H <u:p> _:a . _:a <u:q> 1 .", "_:x <u:q> 1 . _:H <u:p> _:x ."
    other = "_:a <u:p> _:H . _:a <u:q> 1 ."
    for minutes, data in ((0, same), (1, renamed), (2, other), (59, same), (61, renamed), (62, same)):
        tell(store, data, start + timedelta(minutes=minutes))

    async def scenario(_: Dispatcher, step: Step) -> None:
        await step(timedelta())
        store.deliveries.move("s", 1)
        await step(timedelta(minutes=1))

    drive(store, scenario)
    bodies = [one["body"]["data"] for one in receiver.received()]
    told = [one["sequence"] for body in bodies for one in body.get("notifications", [body])]
    assert told == [1, 3, 5] * 2
    found = store.deliveries.omissions(of(store).number, 0, 9)
    assert [(one.notification, one.kind) for one in found] == [(n, "suppressed") for n in (2, 4, 6)]
    assert store.deliveries.pending(["s"]) == {}


def test_what_is_refused_for_hours_is_put_aside_and_the_next_has_its_turn(
    broker: httpx.Client, store: Store, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "triplewire.broker.delivery.dispatcher")
    store.subscribe({"id": "s"}, webhook=receiver.hook())
    receiver.answers(*[422] * 30)
    clock = Clock()
    start = clock.now
    notify(store, "s")
    notify(store, "s")

    async def scenario(_: Dispatcher, step: Step) -> None:
        while not of(store).undelivered:
            assert clock.now - start < REFUSAL + timedelta(hours=6)
            await step(max(datetime.fromisoformat(of(store).due or "2000-01-01T00:00Z") - clock.now, timedelta()))
        assert clock.now - start >= REFUSAL
        receiver.answers()
        await step(timedelta())

    drive(store, scenario, clock)
    assert receiver.accepted() == [2]
    lines = [one.getMessage() for one in caplog.records if one.name == "triplewire.broker.delivery.dispatcher"]
    assert lines[-2:] == ["delivery put aside", "delivery sent"]
    assert set(lines[:-2]) == {"delivery failed"}
    status = broker.get("/v1/deliveries/s").json()
    assert (status["state"], status["undelivered"], status["pending"], status["failing"]) == ("active", 1, 0, None)
    [left] = broker.get("/v1/deliveries/s/omissions").json()["items"]
    assert (left["notification"], left["kind"]) == (1, "undelivered")
    assert left["reason"].startswith("the answer was 422")
    again = broker.post("/v1/deliveries/s/redeliver?from=1")
    assert (again.status_code, again.json()["pending"]) == (202, 2)
    drive(store, lambda _, step: step(timedelta()), clock)
    assert receiver.accepted() == [2, 1, 2]
    assert broker.get("/v1/deliveries/s/omissions").json()["items"] == []
    assert broker.post("/v1/deliveries/s/redeliver").status_code == 400


def test_a_receiver_that_takes_nothing_for_days_is_stopped_before_much_is_put_aside(
    store: Store, receiver: Receiver
) -> None:
    store.subscribe({"id": "s"}, webhook=receiver.hook())
    receiver.answers(*[401] * 300)
    for _ in range(20):
        notify(store, "s")
    clock = Clock()

    async def scenario(_: Dispatcher, step: Step) -> None:
        while of(store).state == "active":
            await step(max(datetime.fromisoformat(of(store).due or "2000-01-01T00:00Z") - clock.now, timedelta()))

    drive(store, scenario, clock)
    assert of(store).state == "stopped"
    assert 1 <= of(store).undelivered <= PATIENCE / REFUSAL
    assert store.deliveries.pending(["s"]) == {"s": 20 - of(store).undelivered}


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 4), st.data())
def test_a_free_place_goes_to_the_highest_priority_of_an_owner_then_to_who_came_first(
    priorities: list[int], places: int, data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.integers(0, 19)))

    async def scenario() -> list[int]:
        slots, order = Slots(places), []

        async def work(name: int, priority: int) -> None:
            async with slots.at(priority, "one"):
                order.append(name)
                await asyncio.sleep(0)

        async def hold(release: asyncio.Event, owner: str) -> None:
            async with slots.at(0, owner):
                await release.wait()

        release = asyncio.Event()
        holders = [asyncio.create_task(hold(release, f"other {n}")) for n in range(places)]
        await asyncio.sleep(0)
        tasks = [asyncio.create_task(work(name, one)) for name, one in enumerate(priorities)]
        await asyncio.sleep(0)
        for name in gone & set(range(len(tasks))):
            tasks[name].cancel()
        release.set()
        await asyncio.gather(*tasks, *holders, return_exceptions=True)
        async with slots.at(0, "one"):
            return order

    expected = [n for n in sorted(range(len(priorities)), key=lambda n: (-priorities[n], n)) if n not in gone]
    assert asyncio.run(scenario()) == expected


def test_a_flood_leaves_places_to_others_and_the_next_goes_to_who_has_fewest() -> None:
    async def scenario() -> list[str]:
        slots, order = Slots(8), []

        async def work(owner: str, release: asyncio.Event) -> None:
            async with slots.at(9 if owner == "flood" else 0, owner):
                order.append(owner)
                await release.wait()

        first, second = asyncio.Event(), asyncio.Event()
        flood = [asyncio.create_task(work("flood", first if n == 0 else second)) for n in range(20)]
        await asyncio.sleep(0)
        others = [asyncio.create_task(work(name, second)) for name in ("a", "a", "a", "b")]
        await asyncio.sleep(0)
        assert order == ["flood"] * 6 + ["a", "a"]
        first.set()
        for _ in range(3):
            await asyncio.sleep(0)
        assert order[8:] == ["b"]
        second.set()
        await asyncio.gather(*flood, *others)
        return order

    order = asyncio.run(scenario())
    assert (order.count("flood"), order.count("a"), order.count("b")) == (20, 3, 1)


def test_the_next_place_is_given_with_as_much_work_however_many_owners_wait_for_it() -> None:
    looked_up = 0

    class Owner(str):
        __slots__ = ()

        def __hash__(self) -> int:
            nonlocal looked_up
            looked_up += 1
            return super().__hash__()

    async def work(owners: int) -> tuple[float, list[int]]:
        slots, order = Slots(8), []

        async def come(number: int, owner: Owner) -> None:
            async with slots.at(0, owner):
                order.append(number)
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(come(n, Owner(f"{n}"))) for _ in range(2) for n in range(owners)]
        await asyncio.sleep(0)
        before = looked_up
        await asyncio.gather(*tasks)
        return (looked_up - before) / owners, order

    few, _ = asyncio.run(work(10))
    many, order = asyncio.run(work(1000))
    assert many < 2 * few
    assert sorted(order[:1000]) == list(range(1000)), "everybody once before anybody twice"
