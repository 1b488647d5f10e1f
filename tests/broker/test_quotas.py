"""How much a user may have and do."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

from tests.broker.clients import bearer, cloudevent, listening, publish, subscription
from tests.broker.conftest import served
from triplewire.broker.access import quotas
from triplewire.broker.access.gate import Caller
from triplewire.broker.access.quotas import Allowance, Quotas
from triplewire.broker.http.problems import ProblemError
from triplewire.store import Store

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
