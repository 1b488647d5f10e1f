"""How subscriptions stand, over HTTP and as a page; and sending again what was matched since a time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import httpx

from tests.broker.clients import bearer, notify, subscription
from triplewire.store import Attempt, Store, Webhook

HOOK = Webhook("https://example.org/hook", "whsec_" + "c2VjcmV0" * 4)


def listed(broker: httpx.Client, **asked: Any) -> list[str]:
    """All that are listed, page by page."""
    found: list[str] = []
    answer = broker.get("/v1/standings", params=asked | {"limit": 3})
    while True:
        found += [one["id"] for one in answer.raise_for_status().json()["items"]]
        if "next" not in answer.links:
            return found
        answer = broker.get(answer.links["next"]["url"])


def test_what_has_come_of_each_is_told(broker: httpx.Client, store: Store) -> None:
    store.subscribe(subscription(id="sent"), webhook=HOOK)
    store.subscribe(subscription(id="quiet"))
    store.subscribe({"id": "broken", "language": "interest", "pattern": {"concepts": ["Nothing"]}})
    for _ in range(5):
        notify(store, "sent")
    told = {one["id"]: one for one in broker.get("/v1/standings").json()["items"]}
    assert list(told) == ["broken", "quiet", "sent"], "the last changed is first"
    assert (told["sent"]["notifications"], told["sent"]["last"]["id"]) == (5, 5)
    assert (told["sent"]["delivery"]["pending"], told["sent"]["delivery"]["state"]) == (5, "active")
    assert told["sent"]["means"].startswith("Selling events whose target is a Computer")
    assert (told["quiet"]["notifications"], told["quiet"]["last"], told["quiet"]["delivery"]) == (0, None, None)
    assert "no concept is called 'Nothing'" in told["broken"]["problem"]
    page = broker.get("/subscriptions").text
    assert re.findall(r'data-field="link" href="/subscriptions/(\w+)"', page) == ["broken", "quiet", "sent"]
    one = broker.get("/subscriptions/sent").text
    assert "5 waiting" in one
    assert "5 notifications so far" in one
    assert "<svg" in one


def test_they_are_searched_by_text_language_and_state(broker: httpx.Client, store: Store) -> None:
    for number in range(7):
        store.subscribe({"id": f"f{number}", "language": "filter", "pattern": f"price < {number}"})
    store.subscribe(subscription(id="Cheap <b>", state="paused"))
    store.subscribe(subscription(id="old", expiresAt="2020-01-01T00:00:00Z"))
    assert listed(broker) == ["old", "Cheap <b>", *(f"f{number}" for number in range(6, -1, -1))]
    assert listed(broker, language="filter", text="< 4") == ["f4"]
    assert listed(broker, text="CHEAP") == ["Cheap <b>"]
    assert listed(broker, state="paused") == ["Cheap <b>"]
    assert listed(broker, state="expired") == ["old"]
    assert listed(broker, language="sparql") == []
    assert broker.get("/v1/standings", params={"state": "lost"}).status_code == 400
    page = broker.get("/subscriptions", params={"text": "cheap"}).text
    assert "Cheap &lt;b&gt;" in page
    assert "<b>" not in page
    bob = bearer(store, "bob")
    assert broker.get("/v1/standings", headers=bob).json()["items"] == []
    assert broker.get("/subscriptions/old", headers=bob).headers["location"] == "/subscriptions"


def test_what_was_matched_since_a_time_is_sent_again(broker: httpx.Client, store: Store) -> None:
    store.subscribe(subscription(), webhook=HOOK)
    for _ in range(3):
        notify(store, "s1")
    time = datetime.now(UTC).isoformat()
    for _ in range(2):
        notify(store, "s1")
    store.deliveries.settle([Attempt(store.deliveries.of(["s1"])["s1"], 5, time, time)])

    def again(**asked: str) -> httpx.Response:
        return broker.post("/v1/deliveries/s1/redeliver", params=asked)

    assert again(since=time).json()["pending"] == 2
    assert again(since="2099-01-01T00:00:00Z").json()["pending"] == 2, "what waits is not left out"
    assert again(**{"from": "3"}).json()["pending"] == 3
    assert again(since="2020-01-01T00:00:00").json()["pending"] == 5
    assert [again().status_code, again(since="x").status_code, again(since=time, **{"from": "4"}).status_code] == [
        400
    ] * 3
