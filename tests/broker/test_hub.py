"""The WebSub hub: a subscriber that knows nothing of us but the standard follows a feed, and is sent what is new."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any
from urllib.parse import parse_qs, urlsplit

import feedparser
import httpx
import pytest

from tests.broker.clients import bearer, notify, subscription
from tests.broker.conftest import served
from tests.broker.sending import ALLOWED, Clock, dispatching, running, turn
from triplewire.store import Store

SECRET = "a secret between them"


class Follower:
    """Somebody else's server. It agrees to what it has asked for, as the standard has it, and keeps what it is sent."""

    def __init__(self) -> None:
        self.wanted: set[tuple[str, str]] = set()
        self.asked: Queue[dict[str, str]] = Queue()
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.answer = 204
        follower = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                good = (asked["hub.mode"], asked["hub.topic"]) in follower.wanted and asked["own"] == "1"
                body = asked["hub.challenge"].encode() if good else b"no"
                self.send_response(200 if good else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                follower.asked.put(asked)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                follower.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(follower.answer)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.callback = f"http://127.0.0.1:{self.server.server_port}/callback?own=1"

    def wish(self, hub: str, mode: str, topic: str, **more: str) -> httpx.Response:
        """Ask the hub, and wait until it has asked back."""
        self.wanted = {(mode, topic)}
        form = {"hub.mode": mode, "hub.topic": topic, "hub.callback": self.callback}
        return httpx.post(hub, data=form | {f"hub.{name}": value for name, value in more.items()}, timeout=60)


@pytest.fixture
def follower() -> Iterator[Follower]:
    found = Follower()
    with running(found.server):
        yield found


@pytest.fixture
def broker(store: Store) -> Iterator[httpx.Client]:
    with served(store, addresses=ALLOWED) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def discovered(broker: httpx.Client, feed: str) -> tuple[str, str]:
    """Topic and hub, by the feed's header."""
    links = {rel: url for url, rel in re.findall(r'<([^>]+)>; rel="(\w+)"', broker.get(feed).headers["link"])}
    return links["self"], links["hub"]


def send(store: Store, clock: Clock | None = None) -> None:
    async def scenario() -> None:
        async with dispatching(store, clock or Clock()) as dispatcher:
            await turn(dispatcher)

    asyncio.run(scenario())


def followed(store: Store) -> list[Any]:
    with store._reading() as connection:
        return list(connection.exec_driver_sql("SELECT url, until, state FROM deliveries WHERE channel = 'websub'"))


def wait_until_followed(store: Store, count: int) -> None:
    deadline = threading.Event()
    for _ in range(1000):
        if len(followed(store)) == count:
            return
        deadline.wait(0.01)
    raise AssertionError(followed(store))


@pytest.mark.parametrize(("kind", "query"), [("atom", ""), ("json", "?format=application%2Fn-triples")])
def test_a_follower_discovers_the_hub_agrees_and_is_sent_what_is_new_signed(
    broker: httpx.Client, store: Store, follower: Follower, kind: str, query: str
) -> None:
    broker.post("/v1/subscriptions", json=subscription(id="a/b"))
    notify(store, "a/b")
    topic, hub = discovered(broker, f"/v1/feeds/{kind}/a%2Fb{query}")
    assert follower.wish(hub, "subscribe", topic, secret=SECRET, lease_seconds="3600").status_code == 202
    asked = follower.asked.get(timeout=60)
    assert (asked["hub.lease_seconds"], asked["hub.topic"]) == ("3600", topic)
    wait_until_followed(store, 1)
    for _ in range(2):
        notify(store, "a/b", "other")
    send(store)
    [(headers, body)] = follower.received
    assert headers["x-hub-signature"] == "sha256=" + hmac.new(SECRET.encode(), body, "sha256").hexdigest()
    assert f'<{topic}>; rel="self"' in headers["link"] and f'<{hub}>; rel="hub"' in headers["link"]
    if kind == "atom":
        found = feedparser.parse(body)
        assert (headers["content-type"], found.bozo) == ("application/atom+xml", False)
        assert [entry.title for entry in found.entries] == ["e3", "e2"]
        assert [entry.tw_sequence for entry in found.entries] == ["3", "2"]
        assert "auction#target" in found.entries[0].content[0].value
        assert {(one.rel, one.href) for one in found.feed.links} >= {("self", topic), ("hub", hub)}
    else:
        items = json.loads(body)["items"]
        assert (headers["content-type"], [one["title"] for one in items]) == ("application/feed+json", ["e3", "e2"])
        ours = items[0]["_triplewire"]
        assert (ours["sequence"], ours["score"], ours["bindings"]) == (3, 1.0, [{"?1": "_:pc"}])
        assert (ours["rdf"]["format"], "auction#target" in ours["rdf"]["text"]) == ("application/n-triples", True)
    assert follower.wish(hub, "unsubscribe", topic).status_code == 202
    wait_until_followed(store, 0)
    notify(store, "a/b")
    send(store)
    assert len(follower.received) == 1


def test_nobody_is_called_who_does_not_agree_and_nobody_longer_than_they_asked_for(
    broker: httpx.Client, store: Store, follower: Follower
) -> None:
    broker.post("/v1/subscriptions", json=subscription(id="s"))
    topic, hub = discovered(broker, "/v1/feeds/atom/s")
    follower.wish(hub, "subscribe", topic)
    follower.asked.get(timeout=60)
    wait_until_followed(store, 1)
    form = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": follower.callback + "&own=1&other=1"}
    follower.wanted = set()
    assert httpx.post(hub, data=form, timeout=60).status_code == 202
    follower.asked.get(timeout=60)
    follower.wish(hub, "subscribe", topic, lease_seconds="600")
    follower.asked.get(timeout=60)
    clock = Clock()
    for _ in range(1000):
        if len(found := followed(store)) == 1 and found[0].until < (clock.now + timedelta(hours=1)).isoformat():
            break
        threading.Event().wait(0.01)
    assert len(found) == 1
    notify(store, "s")
    clock.forward(timedelta(minutes=11))
    send(store, clock)
    assert follower.received == []


def test_410_ends_it_and_what_fails_is_sent_again(broker: httpx.Client, store: Store, follower: Follower) -> None:
    broker.post("/v1/subscriptions", json=subscription(id="s"))
    topic, hub = discovered(broker, "/v1/feeds/json/s")
    follower.wish(hub, "subscribe", topic)
    wait_until_followed(store, 1)
    clock = Clock()
    for follower.answer, count in ((500, 1), (204, 2), (410, 3), (204, 3)):
        if count != 2:
            notify(store, "s")
        clock.forward(timedelta(minutes=1))
        send(store, clock)
        assert len(follower.received) == count
    assert [one.state for one in followed(store)] == ["ended"]
    broker.delete("/v1/subscriptions/s")
    assert followed(store) == []


def test_a_feed_is_followed_by_those_who_may_read_it(broker: httpx.Client, store: Store, follower: Follower) -> None:
    ann, bob = bearer(store, "ann"), bearer(store, "bob")
    for id_ in ("s", "t"):
        broker.post("/v1/subscriptions", json=subscription(id=id_), headers=ann).raise_for_status()
    token = broker.post("/v1/tokens", json={"feed": "s"}, headers=ann).json()["token"]
    topic, hub = discovered(broker, f"/v1/feeds/atom/s?token={token}")
    assert (token in topic, token in hub) == (False, True)
    form = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": follower.callback}
    bare = hub.partition("?")[0]
    assert httpx.post(bare, data=form, timeout=60).status_code == 401
    assert httpx.post(bare, data=form, headers=bob, timeout=60).status_code == 404
    assert httpx.post(hub, data=form | {"hub.topic": topic[:-1] + "t"}, timeout=60).status_code == 401
    assert follower.wish(hub, "subscribe", topic).status_code == 202
    wait_until_followed(store, 1)
    [_, _, for_feed] = store.users.tokens()
    store.users.revoke(for_feed.number)
    assert followed(store) == []


def test_a_feed_whose_id_changes_hands_while_a_callback_is_asked_is_not_followed(
    broker: httpx.Client, store: Store, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A callback that takes its time is played by one whose owner gives the id away just before it agrees."""
    ann, bob = bearer(store, "ann"), bearer(store, "bob")
    broker.post("/v1/subscriptions", json=subscription(id="s"), headers=ann).raise_for_status()
    topic = f"{broker.base_url}/v1/feeds/atom/s"
    done = threading.Event()
    follow = store.deliveries.follow

    def late(*given: Any) -> None:
        broker.delete("/v1/subscriptions/s", headers=ann).raise_for_status()
        broker.post("/v1/subscriptions", json=subscription(id="s"), headers=bob).raise_for_status()
        follow(*given)
        done.set()

    monkeypatch.setattr(store.deliveries, "follow", late)
    follower.wanted = {("subscribe", topic)}
    form = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": follower.callback}
    assert broker.post("/v1/hub", data=form, headers=ann).status_code == 202
    assert done.wait(60)
    assert followed(store) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hub.mode": "publish"}, "hub.mode"),
        ({"hub.topic": "https://example.org/v1/feeds/atom/s"}, "hub.topic"),
        ({"hub.callback": "http://10.0.0.1/"}, "not a public address"),
        ({"hub.callback": ""}, "hub.callback"),
        ({"hub.secret": "x" * 200}, "hub.secret"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(
    broker: httpx.Client, follower: Follower, change: dict[str, str], said: str
) -> None:
    broker.post("/v1/subscriptions", json=subscription(id="s"))
    topic, hub = discovered(broker, "/v1/feeds/atom/s")
    form = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": follower.callback} | change
    answer = broker.post(hub, data=form)
    assert (answer.status_code, said in answer.json()["detail"]) == (400, True)
    assert follower.asked.empty()
