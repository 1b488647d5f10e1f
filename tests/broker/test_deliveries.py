"""Deliveries over HTTP: set up with a subscription, told without secrets, paused, resumed and repeated."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.broker.clients import notify, subscription
from tests.broker.conftest import served
from tests.broker.sending import ALLOWED, Clock, turn
from triplewire.broker.delivery.circuits import FIRST_WAIT, TRIPS, Circuits
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.store import Attempt, Store, Webhook, moment_of

OLD, NEW = (f"whsec_{b64encode(bytes([n]) * 32).decode()}" for n in (1, 2))
URL = "https://hook.example/path?key=1"
HOOK = {"channel": "webhook", "url": URL, "secret": OLD}


def subscribe(broker: httpx.Client, id_: str = "s1", **hook: Any) -> httpx.Response:
    return broker.post("/v1/subscriptions", json=subscription(id=id_, delivery=HOOK | hook))


def settle(store: Store, number: int, reason: str = "") -> None:
    store.deliveries.settle([Attempt(store.deliveries.of(["s1"])["s1"], number, "2026-01-01Z", "2026-01-02Z", reason)])


def test_a_secret_is_told_to_nobody(broker: httpx.Client, store: Store) -> None:
    answers = [subscribe(broker)]
    answers += [broker.patch("/v1/subscriptions/s1", json={"delivery": {"secret": NEW}})]
    answers += [broker.patch("/v1/subscriptions/s1", json={"threshold": 0.5, "delivery": {"format": "text/turtle"}})]
    answers += [subscribe(broker), subscribe(broker, "s2", url="http://10.0.0.1/"), subscribe(broker, "s2", more=1)]
    for path in ("subscriptions", "subscriptions/s1", "deliveries", "deliveries/s1", "endpoints"):
        answers += [broker.get(f"/v1/{path}")]
    assert [answer.status_code for answer in answers] == [201, 200, 200, 409, 422, 422, *[200] * 5]
    assert not any("whsec" in answer.text for answer in answers)
    shown = {"channel": "webhook", "url": URL, "format": "text/turtle"}
    assert answers[0].json()["delivery"] == answers[2].json()["delivery"] == shown
    assert answers[7].json()["delivery"] == answers[6].json()["items"][0]["delivery"] == shown
    assert store.deliveries.of(["s1"])["s1"].secrets == (NEW, OLD)
    assert "delivery" not in store.subscription("s1").record  # type: ignore[union-attr]


def test_changing_the_delivery_alone_leaves_the_subscription_as_it_is(broker: httpx.Client, store: Store) -> None:
    broker.post("/v1/subscriptions", json=subscription())
    before = store.subscription("s1")
    assert "delivery" not in broker.get("/v1/subscriptions/s1").json()
    assert broker.patch("/v1/subscriptions/s1", json={"delivery": HOOK}).json()["delivery"]["url"] == URL
    assert store.subscription("s1") == before
    assert "delivery" not in broker.patch("/v1/subscriptions/s1", json={"delivery": None}).json()
    assert broker.get("/v1/deliveries/s1").status_code == 404
    subscribe(broker, "s2")
    broker.delete("/v1/subscriptions/s2")
    assert broker.get("/v1/deliveries").json() == {"items": [], "next": None}


def test_a_change_that_is_refused_changes_neither_the_subscription_nor_its_delivery(
    broker: httpx.Client, store: Store
) -> None:
    subscribe(broker)
    before = store.subscription("s1"), store.deliveries.of(["s1"])
    for pattern, hook in (("(", {"secret": NEW}), ("(_:H, ?2, (ex:Selling, ex:target, ex:Computer))", {"url": "no"})):
        assert broker.patch("/v1/subscriptions/s1", json={"pattern": pattern, "delivery": hook}).status_code == 422
        assert (store.subscription("s1"), store.deliveries.of(["s1"])) == before


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ({"channel": "pigeon"}, "channel"),
        ({"url": 3}, "url"),
        ({"url": "ftp://hook.example/"}, "https://"),
        ({"url": "http://[::ffff:10.0.0.1]/"}, "not a public address"),
        ({"url": "http://hook.example:99999/"}, "no port 99999"),
        ({"secret": None}, "secret"),
        ({"secret": "whsec_c2hvcnQ="}, "24"),
        ({"secret": "whsec_ä"}, "base64"),
        ({"format": "text/html"}, "text/turtle"),
        ({"other": 1}, "'other'"),
    ],
)
def test_a_delivery_that_cannot_be_is_refused_with_the_reason(
    broker: httpx.Client, hook: dict[str, Any], told: str
) -> None:
    answer = subscribe(broker, **hook)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert told in answer.json()["detail"]
    assert broker.get("/v1/subscriptions/s1").status_code == 404


def test_the_status_tells_what_is_delivered_pending_and_failing_since_when_and_why(
    broker: httpx.Client, store: Store
) -> None:
    subscribe(broker)
    for _ in range(3):
        notify(store, "s1")
    settle(store, 1)
    settle(store, 2, "the answer was 503")
    status = {
        "subscription": "s1",
        "channel": "webhook",
        "url": URL,
        "format": "text/turtle",
        "state": "active",
        "delivered": 1,
        "undelivered": 0,
        "suppressed": 0,
        "pending": 2,
        "sent": 2,
        "lastSuccess": "2026-01-01Z",
        "failing": {"since": "2026-01-01Z", "reason": "the answer was 503", "attempts": 1, "next": "2026-01-02Z"},
        "circuit": None,
    }
    assert broker.get("/v1/deliveries/s1").json() == status
    assert broker.get("/v1/deliveries").json() == {"items": [status], "next": None}
    [endpoint] = broker.get("/v1/endpoints").json()["items"]
    assert (endpoint["url"], endpoint["subscriptions"], endpoint["pending"]) == (URL, 1, 2)
    assert endpoint["failing"] == {"subscriptions": 1, "since": "2026-01-01Z", "reason": "the answer was 503"}


def test_the_status_of_what_fails_itself_tells_until_when_its_host_is_left_alone(store: Store) -> None:
    circuits, clock = Circuits(), Clock()
    store.subscribe(subscription(id="s1"), webhook=Webhook("http://127.0.0.1:1/hook", OLD))
    store.subscribe(subscription(id="s2"), webhook=Webhook("http://127.0.0.1:1/other", OLD))
    notify(store, "s1")

    async def send() -> None:
        dispatcher = Dispatcher(store, ALLOWED, clock=clock, circuits=circuits)
        await turn(dispatcher)
        await dispatcher.close()

    with served(store, circuits=circuits) as address, httpx.Client(base_url=address, timeout=60) as client:
        for failures in range(1, TRIPS + 1):
            asyncio.run(send())
            until = moment_of(clock.now + FIRST_WAIT) if failures == TRIPS else None
            shown = {"openUntil": until} if until else None
            assert [client.get(f"/v1/deliveries/{id_}").json()["circuit"] for id_ in ("s1", "s2")] == [shown, None]
            assert [one["circuit"] for one in client.get("/v1/endpoints").json()["items"]] == [shown, None]
            clock.forward(timedelta(hours=1))
        assert "left alone until" in client.get("/subscriptions", headers={"Accept": "text/html"}).text


def test_a_delivery_is_paused_resumed_and_repeated_from_a_position(broker: httpx.Client, store: Store) -> None:
    subscribe(broker, "a/b c")
    address = "/v1/deliveries/a%2Fb%20c"
    assert broker.patch(address, json={"paused": True}).json()["state"] == "paused"
    for _ in range(4):
        notify(store, "a/b c")
    assert store.deliveries.due(datetime.now(UTC)) == []
    answer = broker.patch(address, json={"paused": False, "position": 3}).json()
    assert (answer["state"], answer["pending"]) == ("active", 2)
    assert [due.url for due in store.deliveries.due(datetime.now(UTC))] == [URL]
    assert broker.post(f"{address}/redeliver?from=4").json()["pending"] == 2, "what waits is not left out"
    assert broker.post(f"{address}/redeliver?from=2").json()["pending"] == 3
    assert broker.patch(address, json={"position": 0}).json()["pending"] == 4
    for wrong in ({}, {"paused": 1}, {"position": "3"}, {"position": -1}, {"position": True}, {"state": "active"}):
        assert broker.patch(address, json=wrong).status_code == 400
    assert broker.patch("/v1/deliveries/none", json={"paused": True}).status_code == 404


def test_what_is_no_longer_kept_cannot_be_sent_again(broker: httpx.Client, store: Store) -> None:
    subscribe(broker)
    for _ in range(3):
        notify(store, "s1")
    assert broker.post("/v1/deliveries/s1/redeliver?from=0").json()["pending"] == 3
    assert broker.patch("/v1/deliveries/s1", json={"position": 3}).json()["pending"] == 1
    assert store.trim(datetime.now(UTC)) == 2
    for answer in (
        broker.post("/v1/deliveries/s1/redeliver?from=2"),
        broker.patch("/v1/deliveries/s1", json={"position": 0}),
    ):
        assert (answer.status_code, "kept from position 3 on" in answer.json()["detail"]) == (410, True)
