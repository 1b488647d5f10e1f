"""Feeds of a subscription: a feed reader finds what was told, newest first, and does not load it twice."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from xml.etree import ElementTree

import feedparser
import httpx
import pytest

from tests.broker.clients import notify, subscription
from triplewire.broker.notifying import feeds
from triplewire.rdf.syntax import FORMATS
from triplewire.rdf.terms import RDF
from triplewire.store import Outcome, Store


@pytest.fixture
def told(broker: httpx.Client, store: Store) -> httpx.Client:
    broker.post("/v1/subscriptions", json=subscription(id="a/b <c>"))
    for _ in range(3):
        notify(store, "a/b <c>", "other")
    return broker


def test_a_feed_reader_finds_what_was_told_newest_first(told: httpx.Client, store: Store) -> None:
    answer = told.get("/v1/feeds/atom/a%2Fb%20%3Cc%3E")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    found = feedparser.parse(answer.content)
    assert not found.bozo
    assert (found.version, found.feed.title) == ("atom10", "a/b <c>")
    assert [entry.title for entry in found.entries] == ["e3", "e2", "e1"]
    assert len({entry.id for entry in found.entries}) == 3
    assert found.entries[0].summary == "✓ a/b <c> ← e3   (?1 = _:pc)"
    assert told.get(found.entries[0].links[1].href).text.startswith("_:H")
    same = told.get("/v1/feeds/json/a%2Fb%20%3Cc%3E")
    assert same.headers["content-type"] == "application/feed+json"
    items = same.json()["items"]
    assert [item["id"] for item in items] == [entry.id for entry in found.entries]
    assert [item["_triplewire"]["sequence"] for item in items] == [3, 2, 1]
    assert told.get("/v1/feeds/json/other").status_code == 404


def test_a_feed_has_events_in_the_syntax_that_its_reader_asks_for(told: httpx.Client, store: Store) -> None:
    for kind in FORMATS:
        feed = told.get("/v1/feeds/atom/a%2Fb%20%3Cc%3E", params={"format": kind})
        content = ElementTree.fromstring(feed.content).find(".//{*}entry/{*}content")
        assert (feedparser.parse(feed.content).bozo, content is not None and content.get("type")) == (False, kind)
        [item, *_] = told.get("/v1/feeds/json/a%2Fb%20%3Cc%3E", params={"format": kind}).json()["items"]
        text, inside = item["_triplewire"]["rdf"]["text"], (content.text or "") if content is not None else ""
        if kind.endswith("+xml"):
            assert content is not None and content[0].tag == f"{{{RDF.base}}}RDF"
        else:
            assert (inside if kind == "text/turtle" else b64decode(inside).decode()) == text
        assert told.get("/v1/feeds/atom/a%2Fb%20%3Cc%3E", headers={"If-None-Match": feed.headers["etag"]}).text
    assert told.get("/v1/feeds/atom/a%2Fb%20%3Cc%3E", params={"format": "text/plain"}).status_code == 400


@pytest.mark.parametrize("kind", ["atom", "json"])
def test_what_a_client_has_is_not_sent_again(told: httpx.Client, store: Store, kind: str) -> None:
    address = f"/v1/feeds/{kind}/a%2Fb%20%3Cc%3E"
    first = told.get(address)
    tag = first.headers["etag"]
    for held in (tag, f'W/{tag}, "other"', "*"):
        again = told.get(address, headers={"If-None-Match": held})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    tomorrow = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
    assert told.get(address, headers={"If-None-Match": '"other"', "If-Modified-Since": tomorrow}).status_code == 200
    notify(store, "a/b <c>")
    changed = told.get(address, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["etag"] == tag) == (200, False)


def test_a_date_is_told_and_believed_once_its_second_is_over(
    told: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "/v1/feeds/atom/a%2Fb%20%3Cc%3E"
    newest = datetime.fromisoformat(store.notifications()[-1].created)

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return newest + shift

    monkeypatch.setattr(feeds, "datetime", Later)
    shift = timedelta(milliseconds=999)
    assert "last-modified" not in told.get(address).headers
    shift = timedelta(seconds=1)
    dated = told.get(address).headers["last-modified"]
    assert parsedate_to_datetime(dated) == newest.replace(microsecond=0)
    for since, status in ((dated, 304), (format_datetime(newest - timedelta(days=1)), 200), ("yesterday", 200)):
        assert told.get(address, headers={"If-Modified-Since": since}).status_code == status


def test_signs_that_xml_cannot_hold_do_not_break_the_feed(broker: httpx.Client, store: Store) -> None:
    broker.post("/v1/subscriptions", json=subscription(id="s"))
    store.append([("urn:test", "x", "{}")])
    store.record([Outcome(1, "a\x00b\x1b]]>&\ufffe", "s", 1.0, json.dumps([{"?x": '"\x01"'}]))], [], 1)
    found = feedparser.parse(broker.get("/v1/feeds/atom/s").content)
    assert not found.bozo
    assert found.entries[0].title.startswith("a\ufffdb")


def test_a_feed_shows_nothing_of_an_earlier_owner_of_the_id(broker: httpx.Client, store: Store) -> None:
    for owner in ("ann", "bob"):
        broker.post("/v1/subscriptions", json=subscription(id="s", owner=owner))
        notify(store, "s")
        shown = broker.get("/v1/feeds/json/s").json()["items"]
        assert len(shown) == 1
        broker.delete("/v1/subscriptions/s")
    assert shown[0]["title"] == "e2"
