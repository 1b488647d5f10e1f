"""Ontology versions over HTTP: what a new one would change, and for whom; and the way back."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.broker.clients import bearer
from tests.worlds import EX, graph, model
from triplewire.broker.subscribing.effect import effect
from triplewire.errors import SubscriptionError
from triplewire.matching import make_matcher
from triplewire.rdf.graph import Event
from triplewire.store import Revision, Store, StoredEvent
from triplewire.subscriptions.languages import parse_subscription

ALL_RECORDS: list[dict[str, Any]] = [
    {"language": "sparql", "pattern": "ASK { tw:home a ex:A }"},
    {"language": "sparql", "pattern": "SELECT ?x WHERE { ?x ex:p0 ?y . ?y a ex:B }"},
    {"language": "sparql", "pattern": "ASK { ?x a ex:C FILTER NOT EXISTS { ?x a ex:D } }"},
    {"language": "gtopss", "pattern": [["?s", "?p", "?o", [["?s", "<=", "ex:C"]], []]]},
    {"language": "ops", "pattern": "(?x, ?y, (ex:A, ex:p1, owl:Thing))"},
    {"language": "filter", "pattern": "exists ex:p2"},
    {"language": "interest", "pattern": {"concepts": ["A"]}, "threshold": 0.3},
    {"language": "interest", "pattern": {"concepts": ["D", "E"]}, "threshold": 0.2},
]


def revisions() -> list[Revision]:
    named = [{"id": f"s{n}", "prefixes": {"ex": EX}} | record for n, record in enumerate(ALL_RECORDS)]
    return [Revision(n, record["id"], record, 0, None, "", "ann") for n, record in enumerate(named)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_the_effect_of_an_ontology_is_the_difference_of_two_brute_forces(seed: int) -> None:
    rng = Random(seed)
    before, after = model(rng), model(rng)
    events = [Event("urn:x", f"e{n}", graph(rng)) for n in range(6)]
    log = [(StoredEvent(n, "urn:x", event.id, "{}"), (event,)) for n, event in enumerate(events, 1)]
    found = effect(revisions(), before, after, log, seconds=600)
    assert (found.look.events, found.look.complete, found.all_subscriptions) == (6, True, True)
    sides = []
    for one in (before, after):
        matcher, refused = make_matcher("brute", one), set()
        for revision in revisions():
            try:
                matcher.add(parse_subscription(revision.record, one))
            except SubscriptionError:
                refused.add(revision.id)
        sides.append(({(m.subscription, e.id) for e in events for m in matcher.match(e)}, refused))
    (old, not_then), (new, not_now) = sides
    for id_, change in found.changes.items():
        gained = {event for name, event in new - old if name == id_}
        lost = {event for name, event in old - new if name == id_}
        assert (change.gained, change.lost) == (len(gained), len(lost))
        told = {(one["change"], one["event"]) for one in change.events}
        assert told <= {("gained", event) for event in gained} | {("lost", event) for event in lost}
        assert len(told) == min(len(gained) + len(lost), 5)
        assert bool(change.problem) == (id_ in not_now - not_then)
        assert bool(change.mended) == (id_ in not_then - not_now)


NEWS = "http://example.org/news#"
PREFIXES = f"""
@prefix : <{NEWS}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
FIRST = (
    PREFIXES
    + ":Music a rdfs:Class ; rdfs:comment 'Sounds in time'@en . :Pop rdfs:subClassOf :Music . :Opera a rdfs:Class ."
)
SECOND = (
    PREFIXES
    + ":Music a rdfs:Class . :Opera rdfs:subClassOf :Music ; skos:altLabel 'Singspiel'@de . :Pop a rdfs:Class ."
)


def put(client: httpx.Client, text: str, **params: Any) -> httpx.Response:
    return client.post("/v1/ontologies", content=text, headers={"Content-Type": "text/turtle"}, params=params)


def publish_about(store: Store, *classes: str) -> None:
    for name in classes:
        data = f"<urn:e:{name}> a <{NEWS}{name}> ."
        event = {"specversion": "1.0", "id": name, "source": "urn:x", "type": "t", "data": data}
        store.append([("urn:x", name, json.dumps(event | {"datacontenttype": "text/turtle"}))])


def music(id_: str) -> dict[str, Any]:
    return {"id": id_, "language": "sparql", "pattern": f"ASK {{ ?x a <{NEWS}Music> }}"}


@pytest.fixture
def lively(broker: httpx.Client, store: Store) -> httpx.Client:
    """Two versions, three events, and the same subscription of two people's."""
    put(broker, FIRST).raise_for_status()
    put(broker, SECOND).raise_for_status()
    publish_about(store, "Pop", "Opera", "Music")
    for owner in ("ann", "bob"):
        store.subscribe(music(owner), owner)
    return broker


def changes(told: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {one["id"]: (one["gained"], one["lost"]) for one in told["subscriptions"]}


def test_everybody_is_told_what_changes_for_them_and_ontologists_for_how_many(
    lively: httpx.Client, store: Store
) -> None:
    ann, cat = bearer(store, "ann"), bearer(store, "cat", "ontology")
    root = bearer(store, "root", "admin")
    own, counted, all_ = (lively.get("/v1/ontologies/2/effect", headers=who).json() for who in (ann, cat, root))
    assert (changes(own), own["affected"], own["against"]) == ({"ann": (1, 1)}, 1, 1)
    assert [(one["change"], one["event"]) for one in own["subscriptions"][0]["events"]] == [
        ("gained", "Opera"),
        ("lost", "Pop"),
    ]
    assert (changes(counted), counted["affected"]) == ({}, 2)
    assert changes(all_) == {"ann": (1, 1), "bob": (1, 1)}
    only = lively.get("/v1/ontologies/2/effect", headers=bearer(store, "ann", "publish")).json()
    assert (only["subscriptions"], only["affected"], only["compared"]["subscriptions"]) == ([], 0, 0)
    assert all_["tried"] | {"events": 3, "refused": 0, "complete": True, "from": 1, "to": 3} == all_["tried"]
    back = lively.get("/v1/ontologies/1/effect", params={"against": 0}, headers=ann).json()
    assert changes(back) == {"ann": (1, 0)}
    assert lively.get("/v1/ontologies/3/effect", headers=ann).status_code == 404


def test_a_document_is_checked_before_it_is_put(lively: httpx.Client, store: Store) -> None:
    cyclic = FIRST + ":Music rdfs:subClassOf :Pop . :Music :unheard 'of' ."
    tried = put(lively, cyclic, **{"dry-run": True})
    told = tried.json()
    assert (tried.status_code, told["triples"], told["used"]) == (200, 6, 4)
    assert set(told["unused"]) == {"http://www.w3.org/2000/01/rdf-schema#comment", f"{NEWS}unheard"}
    assert [f"<{NEWS}Music>" in one and f"<{NEWS}Pop>" in one for one in told["cycles"]] == [True]
    assert changes(told["effect"]) == {"ann": (1, 1), "bob": (1, 1)}
    assert told["difference"]["classes"]["gone"]["items"] == [
        {"lower": f"{NEWS}Opera", "upper": f"{NEWS}Music", "label": "Singspiel", "under": "Music"}
    ]
    assert told["difference"]["words"]["gone"]["items"][0]["word"] == "Singspiel"
    refused = put(lively, cyclic, strict=True)
    assert (refused.status_code, "on a cycle" in refused.json()["detail"]) == (422, True)
    wrong = put(lively, FIRST + "\n:Music :: .", **{"dry-run": True})
    assert (wrong.status_code, "line 5" in wrong.json()["detail"]) == (422, True), wrong.text
    assert len(store.ontologies()) == 2


def test_an_earlier_version_is_restored_as_a_new_one_with_what_was_learnt_then(lively: httpx.Client) -> None:
    lively.post("/v1/synonyms", json={"concept": "Opera", "word": "Belcanto"}).raise_for_status()
    made = lively.post("/v1/ontologies/1/restore", json={"reason": "it was better"})
    assert (made.status_code, made.json()["version"], made.json()["since"]) == (201, 4, 3)
    documents = [lively.get(f"/v1/ontologies/{version}").json()["documents"] for version in (1, 4)]
    assert documents[0] == documents[1]
    gone = lively.get("/v1/ontologies/4/difference").json()["words"]["gone"]
    assert [one["word"] for one in gone["items"]] == ["Belcanto", "Singspiel"]
    again = lively.post("/v1/ontologies/4/restore", json={})
    assert again.json()["version"] == 4
    lively.post("/v1/ontologies/3/restore", json={}).raise_for_status()
    [words] = lively.get("/v1/synonyms", params={"concept": "Belcanto"}).json()["items"]
    assert [(one["word"], one.get("version")) for one in words["words"]] == [("Singspiel", None), ("Belcanto", 5)]


def test_a_word_that_was_added_can_be_taken_back_and_one_of_a_document_cannot(lively: httpx.Client) -> None:
    added = {"concept": "Opera", "word": "Belcanto"}
    would = lively.post("/v1/synonyms", json=added, params={"dry-run": True}).json()
    assert would["difference"]["words"]["appeared"]["count"] == 1
    lively.post("/v1/synonyms", json=added).raise_for_status()
    asked = {"concept": "Opera", "word": "Belcanto", "reason": "that is a style"}
    tried = lively.delete("/v1/synonyms", params=asked | {"dry-run": "true"}).json()
    assert tried["difference"]["words"]["gone"]["items"][0]["word"] == "Belcanto"
    removed = lively.delete("/v1/synonyms", params=asked).json()
    assert ([one["word"] for one in removed["words"]], removed["version"]) == (["Singspiel"], 4)
    assert lively.delete("/v1/synonyms", params=asked).status_code == 404
    stated = lively.delete("/v1/synonyms", params={"concept": "Opera", "word": "Singspiel", "language": "de"})
    assert (stated.status_code, "put another document in its place" in stated.json()["detail"]) == (409, True)


def test_what_is_known_of_a_term_is_told(lively: httpx.Client, store: Store) -> None:
    lively.post("/v1/ontologies/1/restore", json={}).raise_for_status()
    store.subscribe(music("mine"))
    told = lively.get("/v1/concepts/details", params={"of": f"{NEWS}Music"}).json()
    assert told["definitions"] == [{"text": "Sounds in time", "language": "en"}]
    assert set(told["hierarchies"]) == {"classes", "interests"}
    assert told["hierarchies"]["classes"]["children"] == 1
    assert told["subscriptions"] == {"count": 1, "complete": True}
    drawn = lively.get("/v1/concepts/picture", params={"of": f"{NEWS}Pop", "up": 1})
    assert drawn.headers["content-type"].startswith("image/svg+xml")
    assert f"/ontology?concept={NEWS.replace(':', '%3A').replace('/', '%2F').replace('#', '%23')}Music" in drawn.text
    assert lively.get("/v1/concepts/details", params={"of": "urn:none"}).status_code == 404
