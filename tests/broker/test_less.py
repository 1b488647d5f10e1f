"""Less like this: every way that is offered drops the event, takes nothing new in, and can be sent as it is."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.broker.clients import AUCTION, PREFIXES, cloudevent
from triplewire.store import Outcome, Store

EVENT = """@prefix ex: <http://example.org/auction#> .
_:H a ex:Selling ; ex:target _:it ; ex:seller _:ann ; ex:place "%s" . _:it a ex:%s ; ex:manufacture ex:IBM .
_:ann ex:name "%s" ."""
EVENTS = [
    ("Oslo", "NotebookPC", "Ann"),
    ("Oslo", "DesktopPC", "Bob"),
    ("Rome", "NotebookPC", "Bob"),
    ("Rome", "EBook", "Ann"),
]
OFFERS = {
    "ops": (
        "(_:H, ?it, (ex:Selling, ex:target, ex:Product))"
        "(_:H, ?who, (ex:Selling, ex:seller, owl:Thing)) (?who, ?name, (owl:Thing, ex:name, xsd:string))",
        {"No NotebookPC (for ?it)": 2, 'Not "Ann" (for ?name)': 2},
    ),
    "sparql": (
        "SELECT ?it ?name { tw:home ex:target ?it ; ex:seller/ex:name ?name . ?it a ex:Product } ORDER BY ?name",
        {"No NotebookPC (for ?it)": 2, 'Not "Ann" (for ?name)': 2},
    ),
    "gtopss": (
        [["_:H", "ex:target", "?it"], ["_:H", "ex:seller", "?who"], ["?who", "ex:name", "?name"]],
        {"No NotebookPC (for ?it)": 2, 'Not "Ann" (for ?name)': 2},
    ),
    "filter": ("exists ex:target", {'Not where place is "Oslo"': 2}),
    "interest": ({"concepts": ["Computer"]}, {"Nothing about NotebookPC": 1}),
}


@pytest.fixture
def auction(store: Store) -> Store:
    text = (AUCTION / "ontology.ttl").read_text()
    store.put_ontology([{"name": "ontology.ttl", "media_type": "text/turtle", "text": text}])
    return store


def publish(store: Store, subscription: str) -> None:
    """Four events, of which the first is notified of."""
    bodies = [(f"e{n}", json.dumps(cloudevent(f"e{n}", data=EVENT % one))) for n, one in enumerate(EVENTS)]
    store.append([("urn:test", id_, body) for id_, body in bodies])
    store.record([Outcome(1, "e0", subscription, 1.0, "[{}]")], [], len(bodies))


def tried(broker: httpx.Client, record: dict[str, Any]) -> set[str]:
    found = broker.post("/v1/subscriptions", params={"dry-run": "true"}, json=record).raise_for_status().json()
    return {one["event"] for one in found["samples"]}


@pytest.mark.parametrize("language", OFFERS)
def test_what_is_offered_drops_this_and_can_be_saved(broker: httpx.Client, auction: Store, language: str) -> None:
    pattern, expected = OFFERS[language]
    record = {"id": "s", "language": language, "pattern": pattern, "prefixes": PREFIXES}
    broker.post("/v1/subscriptions", json=record).raise_for_status()
    publish(auction, "s")
    before = tried(broker, {**record, "id": "x"})
    told = broker.get("/v1/notifications/1/less").raise_for_status().json()
    assert told["matches"]
    assert told["recent"] == {"events": 4, "matched": len(before), "complete": True}
    ways = {way["says"]: way for way in told["ways"]}
    assert set(expected) <= set(ways), list(ways)
    for says, way in ways.items():
        after = tried(broker, {name: value for name, value in ({**record, "id": "x"} | way["patch"]).items() if value})
        assert after < before, says
        assert "e0" not in after, says
        assert (way["keeps"], way["drops"]) == (len(after), len(before - after)), says
        assert way["keeps"] == expected.get(says, way["keeps"])
    chosen = ways[next(iter(expected))]
    address, tag = "/v1/subscriptions/s", {"If-Match": told["tag"]}
    assert broker.patch(address, json=chosen["patch"], headers=tag).status_code == 200
    assert broker.patch(address, json=chosen["patch"], headers=tag).status_code == 412
    assert broker.get("/v1/notifications/1/less").json()["matches"] is False


def test_a_score_becomes_a_threshold_just_above_it(broker: httpx.Client, auction: Store) -> None:
    record = {"id": "s", "language": "interest", "pattern": {"concepts": ["Computer", "Notebook PC"]}, "threshold": 0.5}
    broker.post("/v1/subscriptions", json=record).raise_for_status()
    publish(auction, "s")
    told = broker.get("/v1/notifications/1/less").json()
    [way] = told["ways"]
    assert way["kind"] == "threshold"
    assert way["patch"]["threshold"] > 0.5
    assert broker.patch("/v1/subscriptions/s", json=way["patch"]).json()["threshold"] == way["patch"]["threshold"]
    assert broker.get("/v1/notifications/1/less").json()["matches"] is False


def test_of_a_subscription_that_is_gone_there_is_no_less(broker: httpx.Client, auction: Store) -> None:
    record = {"id": "s", "language": "filter", "pattern": "exists ex:target", "prefixes": PREFIXES}
    broker.post("/v1/subscriptions", json=record).raise_for_status()
    publish(auction, "s")
    broker.delete("/v1/subscriptions/s").raise_for_status()
    assert broker.get("/v1/notifications/1/less").status_code == 404
