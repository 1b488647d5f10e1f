"""Notifications in pages and as a stream, dead letters, health."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from tests.broker.clients import cloudevent, listening, notify, subscription
from triplewire.broker.notifying import feed as feed_module
from triplewire.broker.notifying.feed import Feed
from triplewire.store import DeadLetter, Outcome, Store


def numbers(messages: Any, count: int) -> list[int]:
    return [int(next(messages)[0]) for _ in range(count)]


def test_a_notification_tells_what_matched_and_how(broker: httpx.Client, store: Store) -> None:
    notify(store, "s1")
    page = broker.get("/v1/notifications").json()
    [found] = page["items"]
    assert page["next"] is None
    assert found.pop("created")
    assert found == {
        "id": 1,
        "event": "e1",
        "source": "urn:test",
        "position": 1,
        "subscription": "s1",
        "sequence": 1,
        "score": 1.0,
        "bindings": [{"?1": "_:pc"}],
        "explanation": "/v1/notifications/1/explanation",
        "cloudevent": cloudevent("e1"),
    }


def test_the_event_of_a_notification_is_told_in_rdf_whatever_was_published(broker: httpx.Client, store: Store) -> None:
    table = cloudevent("t", datacontenttype="text/csv", data="price\n3\n5\n")
    store.append([("urn:test", "t", json.dumps(table))])
    store.record([Outcome(1, "t#2", "s", 1.0, "[]")], [], 1)
    for accept, kind in {"": "text/turtle", "text/html, application/n-triples;q=0.5": "application/n-triples"}.items():
        answer = broker.get("/v1/notifications/1/event", headers={"Accept": accept} if accept else {})
        assert answer.headers["content-type"].startswith(kind)
        assert answer.text.strip() == '_:H <urn:triplewire:key:price> "5" .'
    assert broker.get("/v1/notifications/1/event", headers={"Accept": "text/html"}).status_code == 406
    assert broker.get("/v1/notifications/2/event").status_code == 404


def test_notifications_come_in_pages_and_by_subscription(broker: httpx.Client, store: Store) -> None:
    for _ in range(3):
        notify(store, "a", "b")
    pages = [broker.get("/v1/notifications", params={"after": after, "limit": 4}).json() for after in (0, 4)]
    assert [[item["id"] for item in page["items"]] for page in pages] == [[1, 2, 3, 4], [5, 6]]
    assert [page["next"] for page in pages] == [4, None]
    of_b = broker.get("/v1/notifications", params={"subscription": "b"}).json()["items"]
    assert [item["id"] for item in of_b] == [2, 4, 6]


def test_a_stream_begins_with_what_is_new(broker: httpx.Client, store: Store) -> None:
    notify(store, "old")
    with listening(broker) as messages:
        notify(store, "new")
        id_, data = next(messages)
        assert (id_, data["id"], data["subscription"]) == ("2", 2, "new")


def test_a_stream_resumes_after_the_last_event_id(broker: httpx.Client, store: Store) -> None:
    for _ in range(5):
        notify(store, "s")
    with listening(broker, **{"Last-Event-ID": "2"}) as messages:
        assert numbers(messages, 3) == [3, 4, 5]
        notify(store, "s")
        assert numbers(messages, 1) == [6]
    with listening(broker, "/v1/notifications/stream?after=1", **{"Last-Event-ID": "4"}) as messages:
        assert numbers(messages, 2) == [5, 6]
    with listening(broker, "/v1/notifications/stream?after=5", **{"Last-Event-ID": "none of ours"}) as messages:
        assert numbers(messages, 1) == [6]


def test_a_number_of_an_earlier_store_does_not_silence_the_stream(broker: httpx.Client, store: Store) -> None:
    notify(store, "s")
    for query, headers in (("", {"Last-Event-ID": "5000"}), ("?after=5000", {})):
        with listening(broker, f"/v1/notifications/stream{query}", **headers) as messages:
            notify(store, "s")
            assert numbers(messages, 1) == [store.last_notification()]


def test_every_listener_hears_everything_once(broker: httpx.Client, store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(feed_module, "WINDOW", 7)  # small, so that listeners fall behind it

    def listen(start: int) -> list[int]:
        with listening(broker, f"/v1/notifications/stream?after={start}") as messages:
            return numbers(messages, 60 - start)

    for _ in range(5):
        notify(store, "a", "b", "c")
    with ThreadPoolExecutor(8) as pool:
        heard = [pool.submit(listen, start) for start in (0, 0, 3, 9, 12, 14, 15, 15)]
        for _ in range(15):
            notify(store, "a", "b", "c")
        assert [future.result(20) for future in heard] == [
            list(range(start + 1, 61)) for start in (0, 0, 3, 9, 12, 14, 15, 15)
        ]


def test_listeners_share_one_poller_that_rests_without_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()

    def counting(read: Any) -> Any:
        def counted(*arguments: Any) -> Any:
            calls["read"] += 1
            return read(*arguments)

        return counted

    for name in ("notifications", "at_a_glance"):
        monkeypatch.setattr(store, name, counting(getattr(store, name)))

    async def listen(feed: Feed, count: int) -> list[int]:
        async with aclosing(feed.follow(0)) as found:
            heard: list[int] = []
            while len(heard) < count:
                heard += [one.number for one in (await anext(found)).notifications]
            return heard

    async def scenario() -> None:
        feed = Feed(store)
        listeners = [asyncio.create_task(listen(feed, 20)) for _ in range(50)]
        await asyncio.sleep(0.3)
        before = calls["read"]
        for _ in range(20):
            await asyncio.to_thread(notify, store, "s")
        assert await asyncio.wait_for(asyncio.gather(*listeners), 120) == [list(range(1, 21))] * 50
        assert calls["read"] - before < 100, "each notification was read for each listener"
        await asyncio.sleep(0.2)
        resting = calls["read"]
        await asyncio.sleep(0.5)
        assert calls["read"] == resting

    asyncio.run(scenario())


def test_what_is_written_between_a_listeners_look_and_the_pollers_is_heard(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()
    read, last = store.notifications, store.last_notification

    def noticed(*arguments: Any) -> Any:
        found = read(*arguments)
        looked.set()
        return found

    def late() -> int:
        assert looked.wait(60)
        notify(store, "s")
        return last()

    monkeypatch.setattr(store, "notifications", noticed)
    monkeypatch.setattr(store, "last_notification", late)

    async def scenario() -> int:
        async with aclosing(Feed(store).follow(0)) as found:
            return (await asyncio.wait_for(anext(found), 60)).notifications[0].number

    assert asyncio.run(scenario()) == 1


def test_the_feed_outlives_a_store_that_fails_for_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read, failures = store.notifications, iter(range(2))

    def shaky(*arguments: Any) -> Any:
        if next(failures, None) == 1:
            raise OSError("the disk is away")
        return read(*arguments)

    monkeypatch.setattr(store, "notifications", shaky)
    monkeypatch.setattr(store, "at_a_glance", lambda *_: None)

    async def scenario() -> int:
        async with aclosing(Feed(store).follow(0)) as found:
            waiting = asyncio.ensure_future(anext(found))
            await asyncio.sleep(0.3)
            await asyncio.to_thread(notify, store, "s")
            return (await asyncio.wait_for(waiting, 60)).notifications[0].number

    assert asyncio.run(scenario()) == 1


def test_the_event_is_told_with_the_numbers_that_were_published(broker: httpx.Client, store: Store) -> None:
    data = '{"price":380.50,"mass":1E+400,"text":"a\u2028b\x85c"}'
    body = json.dumps(cloudevent("n", datacontenttype="application/json", data=0)).replace(": 0}", f": {data}}}")
    for id_ in ("n", "m"):
        store.append([("urn:test", id_, body)])
    store.record([Outcome(1, "n", "s", 1.0, "[]")], [DeadLetter(2, "too bad")], 2)
    for address in ("/v1/notifications", "/v1/dead-letters"):
        answer = broker.get(address)
        assert data in answer.text
        assert answer.headers["content-type"] == "application/json"
    with broker.stream("GET", "/v1/notifications/stream?after=0") as answer:
        told = next(line for line in answer.iter_lines() if line.startswith("data: "))
    assert '"price":380.50,"mass":1E+400,"text":"a\\u2028b\\u0085c"}' in told


def test_dead_letters_say_why(broker: httpx.Client, store: Store) -> None:
    notify(store)
    store.record([], [DeadLetter(1, "no home")], 1)
    [letter] = broker.get("/v1/dead-letters").json()["items"]
    assert (letter["position"], letter["event"], letter["reason"]) == (1, "e1", "no home")
    assert letter["cloudevent"] == cloudevent("e1")
    assert broker.get("/v1/dead-letters?after=1").json()["items"] == []


def test_health_tells_how_far_the_pipeline_is(broker: httpx.Client, store: Store) -> None:
    notify(store)
    store.append([("urn:test", "waiting", "{}")])
    assert broker.get("/healthz").json() == {"status": "ok", "log": 2, "pipeline": 1, "lag": 1}


def test_an_unknown_address_is_a_problem(broker: httpx.Client) -> None:
    for answer in (broker.get("/v1/nothing"), broker.put("/v1/events")):
        assert answer.status_code in (404, 405)
        assert answer.headers["content-type"] == "application/problem+json"
    assert broker.put("/v1/events").headers["allow"] == "GET, HEAD, POST"


def test_a_notification_outlives_its_event_and_says_so(broker: httpx.Client, store: Store) -> None:
    broker.post("/v1/subscriptions", json=subscription()).raise_for_status()
    for _ in range(3):
        notify(store, "s1")
    assert store.trim(most=0) == 2
    listed = broker.get("/v1/notifications").json()["items"]
    assert [(one["event"], one["source"], one["cloudevent"] is None) for one in listed] == [
        ("e1", "urn:test", True),
        ("e2", "urn:test", True),
        ("e3", "urn:test", False),
    ]
    in_rdf = broker.get("/v1/notifications?format=text/turtle").json()["items"]
    assert ["rdf" in one for one in in_rdf] == [False, False, True]
    with listening(broker, "/v1/notifications/stream?after=0&format=text/turtle") as messages:
        assert ["rdf" in next(messages)[1] for _ in range(3)] == [False, False, True]
    for kind in ("atom", "json"):
        assert broker.get(f"/v1/feeds/{kind}/s1").status_code == 200
    for part in ("event", "explanation"):
        answer = broker.get(f"/v1/notifications/1/{part}")
        assert (answer.status_code, answer.headers["content-type"]) == (410, "application/problem+json")
        assert "'e1' is no longer kept" in answer.json()["detail"]


def test_the_event_comes_as_rdf_in_the_syntax_that_is_asked_for(broker: httpx.Client, store: Store) -> None:
    notify(store, "s1")
    asked = "format=application%2Fn-triples"
    [listed] = broker.get(f"/v1/notifications?{asked}").json()["items"]
    with listening(broker, f"/v1/notifications/stream?after=0&{asked}") as messages:
        streamed = next(messages)[1]
    assert listed == streamed
    assert listed["rdf"]["format"] == "application/n-triples"
    assert "_:H <http://example.org/auction#target> _:pc ." in listed["rdf"]["text"]
    assert "rdf" not in broker.get("/v1/notifications").json()["items"][0]
    assert broker.get("/v1/notifications?format=text/html").status_code == 400
