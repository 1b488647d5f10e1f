"""Dry runs: what is told of a subscription before it is made."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import worlds
from tests.broker.clients import COMPUTERS, bearer, cloudevent, publish, subscription
from triplewire.broker.subscribing.trial import PAGE, Recent, tried
from triplewire.lift.cloudevents import parse_event
from triplewire.lift.lifting import DEFAULT
from triplewire.matching import make_matcher
from triplewire.rdf.syntax import write
from triplewire.store import Store, store_url

DRY = "/v1/subscriptions?dry-run=true"
ONTOLOGY = """@prefix ex: <http://example.org/auction#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:NotebookPC rdfs:subClassOf ex:Computer . ex:Computer rdfs:subClassOf ex:Machine .
ex:target a rdfs:Property . ex:Selling a rdfs:Class ."""


def body(number: int, rng: Random) -> str:
    graph = worlds.graph(rng)
    record = cloudevent(f"e{number}", datacontenttype="application/n-triples", data=write(graph.triples))
    return json.dumps(record | ({"home": str(graph.home)} if graph.home else {}))


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_trial_finds_what_match_finds(tmp_path_factory, seed: int) -> None:
    rng = Random(seed)
    home: Path = tmp_path_factory.mktemp("trial")
    bodies = [body(number, rng) for number in range(rng.choice([3, 12]))]
    store = Store(store_url(home))
    try:
        store.append([("urn:test", json.loads(one)["id"], one) for one in bodies])
        model, recent = worlds.model(rng), Recent(store, DEFAULT)
        for number in range(3):
            one = worlds.anything(rng, f"s{number}")
            brute = make_matcher("brute", model)
            brute.add(one)
            expected = [match for text in reversed(bodies) for match in brute.match(parse_event(text), bindings=True)]
            found = tried(one, model, recent, seconds=60)
            assert [(m["event"], m["score"], m["bindings"]) for m in found.matches] == [
                (match.event, match.score, match.bindings) for match in expected
            ]
            assert (found.look.events, found.look.complete) == (len(bodies), True)
    finally:
        store.close()


def test_a_dry_run_tells_what_a_subscription_comes_to_and_makes_none(broker: httpx.Client, store: Store) -> None:
    broker.post("/v1/ontologies", content=ONTOLOGY, headers={"Content-Type": "text/turtle"})
    for id_, kind in (("wide", "Machine"), ("same", "Computer"), ("narrow", "NotebookPC")):
        record = subscription(id=id_, pattern=COMPUTERS.replace("Computer", kind))
        assert broker.post("/v1/subscriptions", json=record).status_code == 201
    for event in (cloudevent("e1"), cloudevent("e2", data="_:H a <urn:Other> ."), cloudevent("e3", data="no turtle")):
        assert publish(broker, event).status_code == 202
    answer = broker.post(DRY, json=subscription())
    told = answer.json()
    assert (answer.status_code, told["dryRun"], told["matched"]) == (200, True, 1)
    assert "Computer" in told["means"]
    assert told["picture"].startswith("<svg")
    assert told["scores"] is told["concepts"] is None
    assert (told["equal_to"], told["covered_by"], told["covers"]) == (["same"], ["wide"], ["narrow"])
    assert told["compared"] == {"subscriptions": 3, "complete": True}
    assert {"events": 2, "refused": 1, "complete": True, "from": 1, "to": 3}.items() <= told["tried"].items()
    [sample] = told["samples"]
    assert (sample["event"], sample["position"], sample["bindings"]) == ("e1", 1, [{"?1": "_:pc"}])
    assert sample["says"] == "Selling"
    assert told["missed"]["event"] == "e2"
    assert broker.get(told["missed"]["explanation"]).json()["matched"] is False
    fewer = broker.post(f"{DRY}&events=2", json=subscription()).json()
    assert (fewer["matched"], fewer["tried"]["events"], fewer["tried"]["from"]) == (0, 1, 2)
    explained = broker.get(sample["explanation"])
    assert (explained.status_code, explained.json()["matched"]) == (200, True)
    assert broker.get(sample["explanation"], headers={"Accept": "image/svg+xml"}).text.startswith("<svg")
    assert broker.get("/v1/subscriptions/s1").status_code == 404
    assert broker.get(sample["explanation"].replace("event=e1", "event=e7")).status_code == 404


def test_a_dry_run_of_an_interest_tells_what_any_threshold_would_match(broker: httpx.Client) -> None:
    broker.post("/v1/ontologies", content=ONTOLOGY, headers={"Content-Type": "text/turtle"})
    for kind in ("NotebookPC", "Computer", "Machine", "Selling"):
        data = f'@prefix ex: <http://example.org/auction#> . _:H a ex:{kind} ; ex:title "one", "two", "urn:a:b" .'
        publish(broker, cloudevent(kind, data=data))
    record = {"language": "interest", "pattern": "NotebookPC"}
    scores = {one["event"]: one["score"] for one in broker.post(DRY, json=record).json()["scores"]}
    assert [*scores] == ["Machine", "Computer", "NotebookPC"]
    assert scores["NotebookPC"] == 1 > scores["Computer"] > scores["Machine"] > 0
    for threshold in (0, scores["Machine"], 0.7, scores["Computer"], 1):
        told = broker.post(DRY, json=record | {"threshold": threshold}).json()
        assert {one["event"]: one["score"] for one in told["scores"]} == scores
        assert {one["event"] for one in told["samples"]} == {e for e, score in scores.items() if score > threshold}
        assert {one["says"] for one in told["samples"]} <= {f"{kind}: one, two" for kind in scores}


def test_a_dry_run_of_an_interest_tells_what_its_words_mean(broker: httpx.Client) -> None:
    broker.post("/v1/ontologies", content=ONTOLOGY, headers={"Content-Type": "text/turtle"})
    told = broker.post(DRY, json={"language": "interest", "pattern": {"a": "computer", "b": "Tablet"}}).json()
    computer = "http://example.org/auction#Computer"
    assert told["concepts"] == [
        {"concept": computer, "label": "Computer"},
        {"word": "tablet", "under": computer, "underLabel": "Computer"},
    ]


def test_a_dry_run_of_what_cannot_be_understood_shows_the_place(broker: httpx.Client) -> None:
    answer = broker.post(DRY, json=subscription(pattern="(_:H, ?1"))
    assert (answer.status_code, answer.json()["line"], answer.json()["language"]) == (422, 1, "ops")


def test_only_the_callers_own_subscriptions_are_told_of(broker: httpx.Client, store: Store) -> None:
    ann, bob = bearer(store, "ann"), bearer(store, "bob")
    broker.post("/v1/subscriptions", json=subscription(id="anns"), headers=ann)
    assert broker.post(DRY, json=subscription(), headers=bob).json()["equal_to"] == []
    assert broker.post(DRY, json=subscription(), headers=ann).json()["equal_to"] == ["anns"]


def test_the_newest_events_are_tried_up_to_a_number_of_them(store: Store) -> None:
    count = 2 * PAGE + 30
    store.append([("urn:test", f"e{n}", json.dumps(cloudevent(f"e{n}"))) for n in range(1, count + 1)])
    recent = Recent(store, DEFAULT)
    for most in (1, PAGE, PAGE + 7, count + 50):
        positions = [stored.position for stored, _ in recent.newest(most)]
        assert positions == list(range(count, count - min(most, count), -1))
