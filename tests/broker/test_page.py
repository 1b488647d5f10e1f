"""The page as the server renders it. How it behaves in a browser is tested in tests/web."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser

import httpx
import pytest

from tests.broker.clients import AUCTION, PREFIXES, cloudevent, notify
from triplewire.broker.notifying.words import line, short
from triplewire.broker.web import examples
from triplewire.broker.web.frame import PAGES
from triplewire.concepts.load import load_model
from triplewire.concepts.model import ConceptModel
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import make_matcher
from triplewire.store import DeadLetter, Notification, Outcome, Store
from triplewire.subscriptions.languages import LANGUAGES, parse_subscription

ADDRESSES = [address for address, _ in PAGES]
NASTY = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'&"


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_whatever_is_published_or_named_is_shown_as_text(broker: httpx.Client, store: Store) -> None:
    store.append([("urn:test", NASTY, json.dumps(cloudevent(NASTY, data=NASTY)))])
    notify(store)
    found = Outcome(1, NASTY, NASTY, 1.0, json.dumps([{"?x": json.dumps(NASTY)}]))
    store.record([found], [DeadLetter(2, NASTY)], 2)
    page = broker.get("/").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert" in page
    assert not any(name.startswith("on") for _, attributes in Tags(page).found for name in attributes)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_needs_nothing_from_elsewhere(broker: httpx.Client, address: str) -> None:
    answer = broker.get(address)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    tags = Tags(answer.text).found
    assert "style" not in [tag for tag, _ in tags]
    assert all("style" not in attributes for _, attributes in tags)
    assert all(attributes.get("src") for tag, attributes in tags if tag == "script")
    leads = {value for _, attributes in tags for name in ("src", "href") if (value := attributes.get(name))}
    assert all(lead.startswith(("/", "#")) and not lead.startswith("//") for lead in leads)
    files = {lead for lead in leads if lead.startswith("/static/")}
    assert files > {"/static/icon.svg", "/static/page.css", "/static/frame.js"}
    for file in files:
        assert broker.get(file).status_code == 200


@pytest.mark.parametrize(
    ("to", "leads"),
    [
        ("/", "/"),
        ("/?a=1&b=%2F", "/?a=1&b=%2F"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/%2F/evil.example", "/"),
        ("///evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("http://[", "/"),
        ("/nowhere", "/"),
        ("/v1/session", "/"),
    ],
)
def test_signing_in_leads_to_our_own_pages_alone(broker: httpx.Client, store: Store, to: str, leads: str) -> None:
    store.users.add("ann")
    [form] = [
        found for _, found in Tags(broker.get("/sign-in", params={"to": to}).text).found if "data-onwards" in found
    ]
    assert form["data-onwards"] == leads
    headers = {"Authorization": f"Bearer {store.users.issue('ann')[1]}"}
    assert broker.get("/sign-in", params={"to": to}, headers=headers).headers["location"] == leads


def test_a_browser_that_is_not_signed_in_is_led_to_where_it_can_be(broker: httpx.Client, store: Store) -> None:
    assert broker.get("/sign-in").headers["location"] == "/"  # an open broker needs nobody to
    store.users.add("ann", ())
    page = {"Accept": "text/html"}
    answer = broker.get("/?after=5", headers=page)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?to=%2F%3Fafter%3D5")
    assert broker.get("/", headers={}).status_code == broker.get("/v1/users", headers=page).status_code == 401
    missing = broker.get("/<b>", headers=page)
    assert (missing.status_code, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert broker.get("/nowhere").headers["content-type"] == "application/problem+json"


def test_who_may_neither_subscribe_nor_publish_still_sees_how_it_goes(broker: httpx.Client, store: Store) -> None:
    store.users.add("ann", ())
    notify(store, "s")
    page = broker.get("/", headers={"Authorization": f"Bearer {store.users.issue('ann')[1]}"}).text
    assert "Events a second" in page
    assert 'id="tour"' not in page and 'id="letters"' not in page and 'data-field="event">e1<' not in page


def test_the_page_shows_the_newest_first(broker: httpx.Client, store: Store) -> None:
    for _ in range(60):
        notify(store, "s")
    events = re.findall(r'data-field="event">(e\d+)<', broker.get("/").text)
    assert events == [f"e{number}" for number in range(60, 40, -1)]


def test_json_is_laid_out_with_its_numbers_as_they_were_published(broker: httpx.Client, store: Store) -> None:
    data = '{"price":380.50,"parts":[1,{}],"none":[]}'
    deep = f"{'[' * 800}{']' * 800}"
    for id_, text in (("plain", data), ("deep", deep)):
        store.append([("urn:test", id_, f'{{"id":"{id_}","data":{text}}}')])
    store.record([Outcome(1, "plain", "s", 1.0, "[]"), Outcome(2, "deep", "s", 1.0, "[]")], [], 2)
    page = unescape(broker.get("/").text)
    assert '{\n  "price": 380.50,\n  "parts": [\n    1,\n    {}\n  ],\n  "none": []\n}' in page
    assert deep in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_event_trips_every_example_pattern(language: str) -> None:
    model = load_model([AUCTION / "ontology.ttl"])
    prefixes = dict(row.split(": ") for row in examples.PREFIXES.splitlines())
    record = {"id": "s", "language": language, "pattern": examples.PATTERNS[language], "prefixes": prefixes}
    matcher = make_matcher("brute", model)
    matcher.add(parse_subscription(record, model))
    for media_type, text in examples.EVENTS.items():
        event = parse_event(cloudevent(datacontenttype=media_type, data=text))
        assert [match.subscription for match in matcher.match(event)] == ["s"], media_type


def test_the_tours_plain_offer_trips_its_pattern_without_any_ontology() -> None:
    prefixes = dict(row.split(": ") for row in examples.PREFIXES.splitlines())
    record = {"id": "s", "language": "ops", "pattern": examples.PATTERNS["ops"], "prefixes": prefixes}
    matcher = make_matcher("brute", ConceptModel())
    matcher.add(parse_subscription(record, ConceptModel()))
    assert matcher.match(parse_event(cloudevent(data=examples.PLAIN)))


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ('"380.00"^^<http://www.w3.org/2001/XMLSchema#decimal>', '"380.00"'),
        ('"a \\" b"@en-GB', '"a \\" b"@en-GB'),
        (f"<{PREFIXES['ex']}IBM>", "IBM"),
        ("<http://example.org/things/>", "things"),
        ("<urn:isbn:123>", "123"),
        ("_:pc", "_:pc"),
    ],
)
def test_terms_are_shortened_for_people(term: str, words: str) -> None:
    assert short(term) == words


def test_a_notification_is_one_line() -> None:
    bindings = [{"?3": '"380.00"^^<http://www.w3.org/2001/XMLSchema#decimal>', "?1": "_:pc"}]
    found = Notification(1, 2, "event-2", "urn:test", "{}", "s1", 1, 1.0, bindings, "")
    assert line(found) == '✓ s1 ← event-2   (?1 = _:pc, ?3 = "380.00")'
