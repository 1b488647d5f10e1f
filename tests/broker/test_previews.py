"""Looking at events before they are published: what is told is what would come of it, and nothing is stored."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from pyoxigraph import RdfFormat, parse

from tests.broker.clients import AUCTION, OFFER, bearer, cloudevent, publish, subscription
from tests.broker.conftest import served
from triplewire.broker.access.quotas import Quotas
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.publishing import preview
from triplewire.broker.subscribing import trial
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.lifting import DEFAULT
from triplewire.store import Store

STRUCTURED, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"
BROKEN = "@prefix ex: <http://example.org/auction#> .\n_:H a ex:Selling ;\n  ex:price oops .\n"


def looked_at(client: httpx.Client, event: Any, kind: str = STRUCTURED, **headers: str) -> httpx.Response:
    sent = {"Content-Type": kind, **headers}
    return client.post("/v1/events?dry-run=true", content=json.dumps(event), headers=sent)


def put_ontology(store: Store) -> None:
    text = (AUCTION / "ontology.ttl").read_text()
    store.put_ontology([{"name": "o.ttl", "media_type": "text/turtle", "text": text}])


def test_what_is_told_of_an_event_is_what_would_be_matched_and_nothing_is_stored(
    broker: httpx.Client, store: Store
) -> None:
    put_ontology(store)
    broker.post("/v1/subscriptions", json=subscription(id="computers")).raise_for_status()
    broker.post(
        "/v1/subscriptions",
        json=subscription(id="books", pattern=subscription()["pattern"].replace("Computer", "Book")),
    ).raise_for_status()
    answer = looked_at(broker, cloudevent())
    assert answer.status_code == 200
    [item] = answer.json()["items"]
    [event] = item["events"]
    assert item["refused"] is None and item["position"] is None and item["warnings"] == []
    [expected] = parse_events(cloudevent(), DEFAULT)
    told = {
        tuple(map(str, (quad.subject, quad.predicate, quad.object)))
        for quad in parse(event["turtle"], RdfFormat.TURTLE)
    }
    assert len(told) == len(expected.graph.triples) == event["triples"]
    assert event["home"] == "_:H" and "ex:NotebookPC" in event["turtle"]
    assert "home vertex" in ET.fromstring(event["svg"]).find("{http://www.w3.org/2000/svg}desc").text  # type: ignore[union-attr, operator]
    assert [one["subscription"] for one in answer.json()["trips"]["matched"]] == ["computers"]
    assert answer.json()["trips"]["compared"] == {"subscriptions": 2, "complete": True}
    assert store.last_position() == 0


def test_what_cannot_be_read_is_told_with_its_place_as_the_dead_letter_would(broker: httpx.Client) -> None:
    [item] = looked_at(broker, cloudevent(data=BROKEN)).json()["items"]
    assert item["refused"]["reason"].startswith("not well-formed text/turtle")
    assert (item["refused"]["line"], item["refused"]["column"]) == (3, 12)
    assert item["refused"]["excerpt"].split("\n") == ["  ex:price oops .", " " * 11 + "^"]
    assert item["events"] == []


@pytest.mark.parametrize(
    ("kind", "data", "place"),
    [
        ("application/json", '{"a": 1,\n "b": }', (2, 7)),
        ("application/xml", "<a>\n<b></a>", (2, 6)),
        ("text/csv", "a,b\n1,2,3\n", (2, 1)),
        ("application/n-triples", "<urn:a> <urn:b> <urn:c> .\n<urn:a> <b> <urn:c> .\n", (2, 9)),
        ("application/ld+json", '{"@context": {},\n "a": }', (2, 7)),
    ],
)
def test_the_place_of_an_error_is_known_in_every_syntax(
    broker: httpx.Client, kind: str, data: str, place: tuple[int, int]
) -> None:
    [item] = looked_at(broker, cloudevent(datacontenttype=kind, data=data)).json()["items"]
    assert (item["refused"]["line"], item["refused"]["column"]) == place


def test_a_batch_is_told_event_by_event_and_a_table_row_by_row(broker: httpx.Client) -> None:
    rows = cloudevent("rows", datacontenttype="text/csv", data="name\n" + "Tea\n" * 7)
    told = looked_at(broker, [cloudevent("good"), cloudevent("bad", data=BROKEN), rows], BATCH).json()
    assert told["count"] == 3
    assert [(one["id"], one["count"], one["refused"] is None) for one in told["items"]] == [
        ("good", 1, True),
        ("bad", 0, False),
        ("rows", 7, True),
    ]
    assert [event["id"] for event in told["items"][2]["events"]] == ["rows#1", "rows#2", "rows#3"]


def test_what_is_likely_not_meant_is_a_warning(broker: httpx.Client, store: Store) -> None:
    put_ontology(store)
    loop = "<urn:a> <urn:p> <urn:b> . <urn:b> <urn:p> <urn:a> ."
    [item] = looked_at(broker, cloudevent(data=loop)).json()["items"]
    assert "home vertex" in item["warnings"][0]
    [item] = looked_at(broker, cloudevent(data=OFFER.replace("NotebookPC", "NoteBookPC"))).json()["items"]
    assert item["warnings"] == [
        "the ontology has no class <http://example.org/auction#NoteBookPC>; "
        "did you mean <http://example.org/auction#NotebookPC>?"
    ]
    publish(broker, cloudevent())
    [item] = looked_at(broker, cloudevent()).json()["items"]
    assert item["position"] == 1


def test_looking_is_under_the_limits_of_publishing(store: Store) -> None:
    quotas = Quotas(events=1, event=2000)
    with served(store, quotas=quotas) as address, httpx.Client(base_url=address, timeout=60) as client:
        ann = bearer(store, "ann")
        assert looked_at(client, cloudevent(data="#" * 2000), **ann).status_code == 413
        assert looked_at(client, cloudevent("x" * 1100), **ann).status_code == 400
        statuses = [looked_at(client, cloudevent(), **ann).status_code for _ in range(12)]
        assert statuses[0] == 200 and statuses[-1] == 429


def test_subscriptions_are_not_told_to_who_may_only_publish(broker: httpx.Client, store: Store) -> None:
    ann, only = bearer(store, "ann"), bearer(store, "ann", "publish")
    broker.post("/v1/subscriptions", json=subscription(), headers=ann).raise_for_status()
    assert looked_at(broker, cloudevent(), **ann).json()["trips"]["compared"]["subscriptions"] == 1
    assert looked_at(broker, cloudevent(), **only).json()["trips"] is None


def test_a_large_event_is_told_of_without_being_drawn_or_matched_for_ever(
    broker: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.post("/v1/subscriptions", json=subscription()).raise_for_status()
    monkeypatch.setattr(preview, "DRAWN", 1)
    monkeypatch.setattr(preview, "MOST_MATCHING", -1.0)
    found = looked_at(broker, cloudevent()).json()
    [item] = found["items"]
    assert item["events"][0]["svg"] is None and item["events"][0]["turtle"] is None
    assert item["warnings"] == ["it is large: an event is drawn if it has 1 triples at most"]
    assert found["trips"]["compared"] == {"subscriptions": 1, "complete": False}


def test_whoever_finds_too_many_waiting_is_refused_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MOST_WAITING", 0)
    monkeypatch.setattr(trial, "PATIENCE", 3600.0)
    recent = trial.Recent(store, DEFAULT)
    with ExitStack() as turns:
        for _ in range(trial.AT_ONCE):
            turns.enter_context(recent.turn())
        with pytest.raises(ProblemError, match="others"):
            turns.enter_context(recent.turn())
    with recent.turn():
        pass
