"""The pages of notifications as the server renders them. How they behave in a browser is tested in tests/web."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from tests.broker.clients import AUCTION, bearer, cloudevent, notify, subscription
from triplewire.store import Outcome, Store, Webhook

NASTY = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture
def told(store: Store) -> Store:
    text = (AUCTION / "ontology.ttl").read_text()
    store.put_ontology([{"name": "ontology.ttl", "media_type": "text/turtle", "text": text}])
    store.subscribe(subscription(), webhook=Webhook("https://example.org/hook", "whsec_" + "c2VjcmV0" * 4))
    for _ in range(40):
        notify(store, "s1")
    return store


def events(page: str) -> list[str]:
    return re.findall(r'data-field="event">(e\d+)<', page)


def test_the_newest_are_shown_first_as_they_are_filtered(broker: httpx.Client, told: Store) -> None:
    assert events(broker.get("/notifications").text) == [f"e{number}" for number in range(40, 10, -1)]
    assert events(broker.get("/notifications", params={"text": "e39"}).text) == ["e39"]
    told.inbox.mark_all("local", 38)
    assert events(broker.get("/notifications", params={"unread": "true"}).text) == ["e40", "e39"]
    assert events(broker.get("/notifications", params={"subscription": "other"}).text) == []
    assert '<span class="told">2</span>' in broker.get("/").text, "every page tells how many are unread"


def test_a_notification_is_drawn_with_its_steps_and_its_delivery(broker: httpx.Client, told: Store) -> None:
    page = broker.get("/notifications/7").text
    assert "NotebookPC ⊑ Computer" in page
    assert "<svg" in page
    assert "Selling events whose target is a Computer" in page
    assert re.search(r'<span class="badge waiting">waiting</span> by webhook', page)
    assert 'href="/notifications/6"' in page
    assert 'href="/notifications/8"' in page


def test_why_not_tells_what_is_missing_and_what_is_wrong_with_the_question(broker: httpx.Client, told: Store) -> None:
    book = cloudevent("book", data=cloudevent()["data"].replace("NotebookPC", "EBook"))
    [position] = told.append([("urn:test", "book", json.dumps(book))])

    def asked(**parameters: object) -> str:
        return broker.get("/notifications/why-not", params=parameters).text

    assert "which is not below ex:Computer" in asked(subscription="s1", position=position)
    assert "You would get it." in asked(subscription="s1", position=1)
    assert "there is no subscription &#39;s9&#39;" in asked(subscription="s9", position=1)
    assert "there is no such event at position 99" in asked(subscription="s1", position=99)
    assert "book</a>" in asked()
    table = cloudevent("table", datacontenttype="text/csv", data="price\n3\n5\n")
    [position] = told.append([("urn:test", "table", json.dumps(table))])
    assert "event=table%232" in asked(subscription="s1", position=position), "the other entry of the table"
    assert "table#2 does not trip" in asked(subscription="s1", position=position, event="table#2")


def test_nothing_that_was_published_is_taken_for_markup(broker: httpx.Client, store: Store) -> None:
    store.subscribe({"id": NASTY, "language": "filter", "pattern": "exists <urn:p>"})
    data = f"_:H <urn:p> {json.dumps(NASTY)}, <urn:{NASTY.encode().hex()}> ."
    store.append([("urn:test", NASTY, json.dumps(cloudevent(NASTY, data=data)))])
    store.record([Outcome(1, NASTY, NASTY, 1.0, json.dumps([{"?x": json.dumps(NASTY)}]))], [], 1)
    for address in ("/notifications", "/notifications/1", "/notifications/why-not?position=1"):
        page = broker.get(address, params={"subscription": NASTY} if "why" in address else None).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_whoever_was_told_nothing_sees_nothing(broker: httpx.Client, told: Store) -> None:
    bob = bearer(told, "bob")
    assert events(broker.get("/notifications", headers=bob).text) == []
    assert broker.get("/notifications/1", headers=bob).headers["location"] == "/notifications"
    assert (
        "there is no subscription" in broker.get("/notifications/why-not?subscription=s1&position=1", headers=bob).text
    )
