"""The page Subscribe as the server renders it. How it behaves in a browser is tested in tests/web."""

from __future__ import annotations

import json
from html import unescape

import httpx
import pytest

from tests.broker.clients import AUCTION
from tests.broker.test_page import NASTY, Tags
from triplewire.broker.web.starts import NAMESPACES, STARTS
from triplewire.concepts.load import load_model
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import make_matcher
from triplewire.subscriptions.languages import LANGUAGES, parse_subscription

EVENTS = [
    *(json.loads(line) for line in (AUCTION / "events.ndjson").read_text().splitlines()),
    {"datacontenttype": "application/json", "data": {"cost": 380, "brand": "IBM"}},
    {
        "datacontenttype": "text/turtle",
        "data": '_:H a <urn:triplewire:Publication> ; <urn:triplewire:content> "A Concert in Fargo" ;'
        " <urn:triplewire:link> <http://example.org/fargo> .",
    },
    {
        "datacontenttype": "text/turtle",
        "data": "@prefix ex: <http://example.org/auction#> . _:H a ex:Selling ; ex:target _:b . _:b a ex:Book .",
    },
]


def test_there_is_something_to_start_from_in_every_language() -> None:
    assert set(STARTS) == set(LANGUAGES)


@pytest.mark.parametrize(("language", "pattern"), [(name, one[1]) for name, all_ in STARTS.items() for one in all_])
def test_whatever_one_may_start_from_matches_something(language: str, pattern: str) -> None:
    model = load_model([AUCTION / "ontology.ttl"])
    matcher = make_matcher("brute", model)
    one = parse_subscription({"id": "s", "language": language, "pattern": pattern, "prefixes": NAMESPACES}, model)
    matcher.add(one)
    frame = {"specversion": "1.0", "id": "e", "source": "urn:test", "type": "t"}
    events = [parse_event(frame | event) for event in EVENTS if event.get("id") != "event-7"]
    assert any(matcher.match(event) for event in events)
    assert not all(matcher.match(event) for event in events)


def test_the_ontologys_prefixes_are_there_to_be_used(broker: httpx.Client) -> None:
    text = "@prefix my: <http://example.org/my#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . my:A a owl:Class ."
    broker.post("/v1/ontologies", content=text, headers={"Content-Type": "text/turtle"}).raise_for_status()
    lines = unescape(broker.get("/subscribe").text).splitlines()
    assert any(line.endswith("my: http://example.org/my#") for line in lines)
    assert not any(line.startswith("owl: ") for line in lines)  # which is known anyway


def test_what_is_to_be_edited_is_named_as_text(broker: httpx.Client) -> None:
    page = broker.get("/subscribe", params={"edit": NASTY, "concept": NASTY}).text
    tags = Tags(page).found
    [form] = [attributes for tag, attributes in tags if tag == "form"]
    assert form["data-edit"] == form["data-concept"] == NASTY
    assert not any(name.startswith("on") or name == "style" for _, attributes in tags for name in attributes)
    assert all(attributes.get("src") for tag, attributes in tags if tag == "script")


def test_every_control_has_a_label(broker: httpx.Client) -> None:
    page = broker.get("/subscribe").text
    controls = [one for tag, one in Tags(page).found if tag in ("input", "select", "textarea")]
    named = {one.get("id") for one in controls if one.get("type") not in ("radio", "checkbox")}  # which stand in theirs
    assert named == {one["for"] for tag, one in Tags(page).found if tag == "label" and "for" in one}
