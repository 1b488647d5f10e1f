"""How much a user may have and do."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

from tests.broker.clients import bearer, cloudevent, listening, publish, subscription
from tests.broker.conftest import served
from triplewire.broker import create_app
from triplewire.broker.access import quotas
from triplewire.broker.access.gate import Caller
from triplewire.broker.access.quotas import Allowance, Quotas
from triplewire.broker.http.problems import ProblemError
from triplewire.lift.cloudevents import parse_envelope
from triplewire.store import Callback, Store

SECRET = "whsec_" + "c2VjcmV0" * 4


@pytest.fixture
def ann(store: Store) -> Iterator[httpx.Client]:
    few = Quotas(subscriptions=2, webhooks=1, streams=2, events=5, record=400, event=2000)
    with (
        served(store, quotas=few) as address,
        httpx.Client(base_url=address, timeout=60, headers=bearer(store, "ann")) as client,
    ):
        yield client


def test_a_user_has_so_many_subscriptions_and_webhooks_and_an_administrator_any(
    ann: httpx.Client, store: Store
) -> None:
    hook = {"channel": "webhook", "url": "https://example.org/", "secret": SECRET}

    def subscribe(id_: str, headers: dict[str, str] | None = None, **members: object) -> int:
        return ann.post("/v1/subscriptions", json=subscription(id=id_, **members), headers=headers).status_code

    assert subscribe("a", delivery=hook) == 201
    assert subscribe("b", delivery=hook) == 403
    assert subscribe("b") == 201
    assert ann.patch("/v1/subscriptions/b", json={"delivery": hook}).status_code == 403
    assert ann.patch("/v1/subscriptions/a", json={"delivery": {"url": "https://example.org/b"}}).status_code == 200
    assert subscribe("c") == 403
    root, bob = bearer(store, "root", "admin"), bearer(store, "bob")
    assert [subscribe(f"{number}", root, delivery=hook) for number in range(3)] == [201] * 3
    assert subscribe("bob's", bob) == 201
    ann.delete("/v1/subscriptions/b").raise_for_status()
    assert subscribe("c") == 201


def test_many_who_subscribe_at_once_have_no_more_than_they_may(ann: httpx.Client, store: Store) -> None:
    def subscribe(number: int) -> int:
        return ann.post("/v1/subscriptions", json=subscription(id=f"s{number}")).status_code

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(subscribe, range(12))) == [201] * 2 + [403] * 10
    assert store.count_subscriptions("ann") == 2


def test_whoever_follows_a_feed_is_one_of_its_owners_webhooks(ann: httpx.Client, store: Store) -> None:
    ann.post("/v1/subscriptions", json=subscription(id="a")).raise_for_status()
    known = Callback("https://example.org/1", "", "http://localhost/v1/feeds/atom/a", "9999", None)
    store.deliveries.follow("a", known, "ann")
    hook = {"channel": "webhook", "url": "https://example.org/", "secret": SECRET}
    assert ann.patch("/v1/subscriptions/a", json={"delivery": hook}).status_code == 403

    def follow(number: int) -> int:
        topic = f"{ann.base_url}/v1/feeds/atom/a"
        wish = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": f"https://example.org/{number}"}
        return ann.post("/v1/hub", data=wish).status_code

    assert [follow(1), follow(2)] == [202, 403]  # for longer, and another one


def test_interests_of_a_profile_are_subscriptions_like_others(ann: httpx.Client, store: Store) -> None:
    store.put_ontology([{"name": "o.ttl", "media_type": "text/turtle", "text": "<urn:Pop> a <urn:Music> ."}])

    def put(*interests: str) -> int:
        told = (f"<urn:ann> tw:hasInterest <urn:{n}> . <urn:{n}> tw:isAbout {one} ." for n, one in enumerate(interests))
        document = f"@prefix tw: <urn:triplewire:> . {' '.join(told)}"
        headers = bearer(store, "urn:ann") | {"Content-Type": "text/turtle"}
        return ann.post("/v1/profiles", content=document, headers=headers).status_code

    pop = '"Pop"'
    assert [put(pop, pop), put(pop, pop), put(pop, pop, pop)] == [200, 200, 403]
    assert put(f'"Pop", "{"Pop " * 100}"') == 413


def test_what_is_read_of_a_users_sources_counts_as_published_by_them(store: Store) -> None:
    bearer(store, "ann"), bearer(store, "root", "admin")
    shared = create_app(store, quotas=Quotas(events=5)).state.shared

    async def publish(name: str) -> None:
        for part in range(3):
            await shared.publish([parse_envelope(cloudevent(f"{name}{part}{n}")) for n in range(60)], name)

    asyncio.run(publish("root"))
    with pytest.raises(ProblemError, match="5 events a second"):
        asyncio.run(publish("ann"))
    assert store.last_position() == 180 + 60


def test_a_subscription_and_an_event_have_a_most(ann: httpx.Client, store: Store) -> None:
    large = {"prefixes": {f"p{number}": "urn:x:" for number in range(40)}}
    assert ann.post("/v1/subscriptions", json=subscription(**large)).status_code == 413
    ann.post("/v1/subscriptions", json=subscription()).raise_for_status()
    assert ann.patch("/v1/subscriptions/s1", json=large).status_code == 413
    assert publish(ann, cloudevent("large", data="#" * 2000)).status_code == 413
    assert (ann.get("/v1/subscriptions/s1").json()["since"], store.last_position()) == (0, 0)


def test_who_publishes_too_much_waits_and_others_do_not(
    ann: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(quotas, "monotonic", lambda: now)
    batch = [cloudevent(f"e{number}") for number in range(60)]
    headers = {"Content-Type": "application/cloudevents-batch+json"}
    for part in (batch[:10], batch[10:20], batch[20:30], batch[30:40], batch[40:]):
        assert ann.post("/v1/events", content=json.dumps(part), headers=headers).status_code == 202
    refused = publish(ann, cloudevent("more"))
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    root, bob = bearer(store, "root", "admin"), bearer(store, "bob")
    for other in (bob, root):
        structured = other | {"Content-Type": "application/cloudevents+json"}
        answer = ann.post("/v1/events", content=json.dumps(cloudevent("other")), headers=structured)
        assert answer.status_code == 202
    now += 2.5
    assert publish(ann, cloudevent("more")).status_code == 202


def test_of_streams_that_are_let_in_at_once_no_more_are_open_than_may_be(store: Store) -> None:
    allowance = Allowance(store, Quotas(streams=2))
    ann = Caller("ann", frozenset({"subscribe"}))
    with ExitStack() as streams:
        for _ in range(3):
            allowance.check_streams(ann)  # all three ask before any is open
        for _ in range(2):
            streams.enter_context(allowance.streaming(ann))
        with pytest.raises(ProblemError, match="2 streams open"):
            streams.enter_context(allowance.streaming(ann))
    with allowance.streaming(ann):
        pass


def test_a_user_has_so_many_streams_open(ann: httpx.Client) -> None:
    with ExitStack() as streams:
        for _ in range(2):
            streams.enter_context(listening(ann))
        refused = ann.get("/v1/notifications/stream")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    for _ in range(100):  # they are counted until the broker sees that they are closed
        with ann.stream("GET", "/v1/notifications/stream") as answer:
            if answer.status_code == 200:
                break
    assert answer.status_code == 200


@pytest.mark.parametrize("head", ["Content-Length: 1000000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"])
def test_a_body_that_is_too_large_is_refused_before_it_is_read(ann: httpx.Client, head: str) -> None:
    place = urlsplit(str(ann.base_url))
    told = f"Authorization: {ann.headers['Authorization']}\r\nContent-Type: text/turtle\r\n{head}"
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        connection.sendall(f"POST /v1/events HTTP/1.1\r\nHost: localhost\r\n{told}".encode())
        if "chunked" in head:
            connection.sendall(b"1000\r\n" + b"#" * 0x1000 + b"\r\n")  # and nothing more: it is not waited for
        assert connection.recv(1000).startswith(b"HTTP/1.1 413")


def test_nothing_is_read_of_somebody_who_is_not_known(ann: httpx.Client) -> None:
    place = urlsplit(str(ann.base_url))
    head = (
        "Host: localhost\r\nAuthorization: Bearer tw_x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    )
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        connection.sendall(f"POST /v1/subscriptions HTTP/1.1\r\n{head}".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 401")


def test_a_body_that_is_packed_or_ends_in_two_ways_is_refused(ann: httpx.Client, store: Store) -> None:
    packed = ann.post("/v1/events", content=b"", headers={"Content-Type": "text/turtle", "Content-Encoding": "gzip"})
    assert (packed.status_code, packed.headers["accept-encoding"]) == (415, "identity")
    place = urlsplit(str(ann.base_url))
    head = f"Host: localhost\r\nAuthorization: {ann.headers['Authorization']}\r\nContent-Type: text/turtle\r\n"
    both = "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        connection.sendall(f"POST /v1/events HTTP/1.1\r\n{head}{both}{hidden}".encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))  # until it is closed
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_connection_on_which_nothing_is_asked_in_time_is_closed(
    ann: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.broker.http.connections.PATIENCE", 0.2)
    monkeypatch.setattr("triplewire.broker.http.bodies.PATIENCE", 0.2)
    monkeypatch.setattr("triplewire.broker.http.bodies.SLOWEST", 1e9)
    place = urlsplit(str(ann.base_url))
    head = f"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: {ann.headers['Authorization']}\r\n"
    slow = f"{head}Content-Type: text/turtle\r\nContent-Length: 9\r\n\r\nabc"
    for begun, answered in (("", b""), (head, b""), (slow, b"HTTP/1.1 408")):
        with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
            connection.sendall(begun.encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(answered)
        assert bool(answer) == bool(answered)
