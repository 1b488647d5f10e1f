"""Why a notification was sent, as things stood when its event came."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import httpx
import pytest

from tests.broker.clients import AUCTION, COMPUTERS, cloudevent, notify, subscription
from triplewire.store import Outcome, Store

TEXT = {"Accept": "text/plain"}


def with_auction(store: Store) -> None:
    text = (AUCTION / "ontology.ttl").read_text()
    store.put_ontology([{"name": "ontology.ttl", "media_type": "text/turtle", "text": text}])


def test_a_notification_is_explained_through_the_ontology(broker: httpx.Client, store: Store) -> None:
    with_auction(store)
    store.subscribe(subscription())
    notify(store, "s1")
    answer = broker.get("/v1/notifications/1/explanation")
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    assert (told["event"], told["subscription"], told["matched"]) == ("e1", "s1", True)
    assert told["mapping"] == {"?1": "_:pc"}
    text = broker.get("/v1/notifications/1/explanation", headers=TEXT)
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert text.text.startswith("e1 trips s1.\n")
    assert "_:pc is a ex:NotebookPC (stated), and ex:NotebookPC ⊑ ex:Computer" in text.text
    drawn = broker.get("/v1/notifications/1/explanation", headers={"Accept": "image/svg+xml"})
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert ElementTree.fromstring(drawn.text).tag.endswith("svg")


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        ("*/*", "application/json"),
        ("image/svg+xml;q=0.5, application/json;q=0.1", "image/svg+xml"),
        ("application/json;q=0.1, image/svg+xml", "image/svg+xml"),
        ("text/html, image/*;q=0.9, */*;q=0.8", "image/svg+xml"),
        ("*/*, text/plain", "text/plain; charset=utf-8"),
        ("application/json;q=0, */*", "image/svg+xml"),
        ("text/html, application/json;q=0", None),
    ],
)
def test_what_is_asked_for_most_is_given(broker: httpx.Client, store: Store, accept: str, given: str | None) -> None:
    with_auction(store)
    store.subscribe(subscription())
    notify(store, "s1")
    answer = broker.get("/v1/notifications/1/explanation", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (
        (200, given) if given else (406, "application/problem+json")
    )


def test_what_was_in_force_then_explains_it_whatever_came_since(broker: httpx.Client, store: Store) -> None:
    with_auction(store)
    store.subscribe(subscription())
    notify(store, "s1")
    before = broker.get("/v1/notifications/1/explanation").json()
    store.revise(subscription(pattern=COMPUTERS.replace("Computer", "Book")))
    store.put_ontology([{"name": "empty.ttl", "media_type": "text/turtle", "text": ""}])
    assert broker.get("/v1/notifications/1/explanation").json() == before
    store.unsubscribe("s1")
    assert broker.get("/v1/notifications/1/explanation").json() == before
    store.subscribe(subscription(pattern=COMPUTERS.replace("Computer", "MP3")))
    assert broker.get("/v1/notifications/1/explanation").json() == before


def test_an_entry_of_a_table_is_explained_by_itself(broker: httpx.Client, store: Store) -> None:
    store.subscribe({"id": "s", "language": "filter", "pattern": "price > 4"})
    table = cloudevent("t", datacontenttype="text/csv", data="price\n3\n5\n")
    store.append([("urn:test", "t", json.dumps(table))])
    store.record([Outcome(1, "t#2", "s", 1.0, "[{}]")], [], 1)
    assert broker.get("/v1/notifications/1/explanation").json()["event"] == "t#2"


def test_an_explanation_that_cannot_be_given_is_a_problem(broker: httpx.Client, store: Store) -> None:
    assert broker.get("/v1/notifications/1/explanation").status_code == 404
    notify(store, "nobody")
    assert "no subscription 'nobody'" in broker.get("/v1/notifications/1/explanation").json()["detail"]
    assert broker.get("/v1/notifications/1/explanation", headers={"Accept": "text/html"}).status_code == 406
