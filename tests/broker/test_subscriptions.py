"""Subscriptions over HTTP."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import httpx
import pytest

from tests.broker.clients import AUCTION, COMPUTERS, PREFIXES, cloudevent, publish, subscription
from triplewire.broker import model as model_module
from triplewire.store import Store, StoredLapse


def test_a_subscription_lives_and_ends_by_log_position(broker: httpx.Client, store: Store) -> None:
    publish(broker, cloudevent("e1"))
    created = broker.post("/v1/subscriptions", json=subscription())
    assert (created.status_code, created.headers["location"]) == (201, "/v1/subscriptions/s1")
    assert created.json() == {
        **subscription(),
        "state": "active",
        "owner": "local",
        "since": 1,
        "warnings": [],
    }

    publish(broker, cloudevent("e2"))
    changed = broker.patch("/v1/subscriptions/s1", json={"mapping": "homomorphic"}).json()
    told = {"state": "active", "owner": "local", "since": 2, "warnings": []}
    assert changed == subscription(mapping="homomorphic") | told
    found = broker.get("/v1/subscriptions/s1").json()
    assert (found["mapping"], found["since"]) == ("homomorphic", 2)
    assert broker.patch("/v1/subscriptions/s1", json=found | {"mapping": None}).json()["since"] == 2

    publish(broker, cloudevent("e3"))
    ended = broker.delete("/v1/subscriptions/s1")
    assert (ended.status_code, ended.json()) == (200, {"id": "s1", "until": 4})
    assert [revision.covers(3) for revision in store.revisions(2, 3)] == [True]
    for answer in (broker.get("/v1/subscriptions/s1"), broker.delete("/v1/subscriptions/s1")):
        assert (answer.status_code, answer.json()["detail"]) == (404, "there is no subscription 's1'")
    assert broker.patch("/v1/subscriptions/s1", json={}).status_code == 404


def test_a_subscription_tells_on_what_it_was_given_up(broker: httpx.Client, store: Store) -> None:
    broker.post("/v1/subscriptions", json=subscription())
    tag = broker.get("/v1/subscriptions/s1").headers["etag"]
    for id_ in ("e1", "e2"):
        publish(broker, cloudevent(id_))
    lapses = [StoredLapse(position, f"e{position}", "s1", "too long") for position in (1, 2)]
    for upto in (1, 2, 2):  # a batch may be repeated, and hold more the second time
        store.record([], [], upto, lapses=lapses[:upto])
    found = broker.get("/v1/subscriptions/s1").json()
    told = found["lapses"]
    assert (told["count"], told["last"]["event"], told["last"]["reason"]) == (2, "e2", "too long")
    changed = broker.patch("/v1/subscriptions/s1", json=found | {"priority": 3}, headers={"If-Match": tag})
    assert changed.status_code == 200
    assert "lapses" not in store.subscription("s1").record  # type: ignore[union-attr]
    broker.delete("/v1/subscriptions/s1")
    store.subscribe(subscription(), "somebody else")
    assert "lapses" not in broker.get("/v1/subscriptions/s1").json()


def test_an_id_is_made_where_none_is_given(broker: httpx.Client) -> None:
    record = {"language": "ops", "pattern": COMPUTERS, "prefixes": PREFIXES}
    first, second = (broker.post("/v1/subscriptions", json=record).json()["id"] for _ in range(2))
    assert first != second
    assert broker.get(f"/v1/subscriptions/{first}").json()["pattern"] == COMPUTERS


@pytest.mark.parametrize("id_", ["a/b", "ä ?#%", "stream"])
def test_any_text_is_an_id(broker: httpx.Client, id_: str) -> None:
    place = broker.post("/v1/subscriptions", json=subscription(id=id_)).headers["location"]
    assert place == f"/v1/subscriptions/{quote(id_, safe='')}"
    assert broker.get(place).json()["id"] == id_
    assert broker.delete(place).status_code == 200


def test_an_id_is_taken_once(broker: httpx.Client) -> None:
    broker.post("/v1/subscriptions", json=subscription())
    answer = broker.post("/v1/subscriptions", json=subscription())
    assert (answer.status_code, answer.json()["detail"]) == (409, "there is a subscription 's1' already")
    broker.delete("/v1/subscriptions/s1")
    assert broker.post("/v1/subscriptions", json=subscription()).status_code == 201


def test_a_bad_pattern_is_shown_its_place(broker: httpx.Client) -> None:
    pattern = f"{COMPUTERS}\n(_:H, ?2 (ex:Selling, ex:price, ex:MoneyValue))"
    answer = broker.post("/v1/subscriptions", json=subscription(pattern=pattern))
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert (problem["language"], problem["line"], problem["column"]) == ("ops", 2, 10)
    assert problem["excerpt"].splitlines()[1] == " " * 9 + "^"


def test_a_bad_change_leaves_the_subscription_as_it_was(broker: httpx.Client) -> None:
    broker.post("/v1/subscriptions", json=subscription())
    assert broker.patch("/v1/subscriptions/s1", json={"pattern": "("}).status_code == 422
    assert broker.patch("/v1/subscriptions/s1", json={"id": "s2"}).status_code == 400
    assert broker.get("/v1/subscriptions/s1").json()["pattern"] == COMPUTERS


def test_a_change_within_a_member_keeps_its_other_parts(broker: httpx.Client) -> None:
    broker.post("/v1/subscriptions", json=subscription())
    changed = broker.patch("/v1/subscriptions/s1", json={"prefixes": {"b": "urn:b:"}}).json()
    assert changed["prefixes"] == PREFIXES | {"b": "urn:b:"}
    assert broker.patch("/v1/subscriptions/s1", json={"prefixes": {"b": None}}).json()["prefixes"] == PREFIXES
    assert broker.get("/v1/subscriptions/s1").json()["prefixes"] == PREFIXES
    deep = f'{{"x": {"[" * 900}{"]" * 900}}}'
    answer = broker.patch("/v1/subscriptions/s1", content=deep, headers={"Content-Type": "application/json"})
    assert (answer.status_code, "nested" in answer.json()["detail"]) == (400, True)


def test_of_many_changes_at_once_none_is_lost(broker: httpx.Client) -> None:
    broker.post("/v1/subscriptions", json=subscription())

    def change(number: int) -> int:
        return broker.patch("/v1/subscriptions/s1", json={"prefixes": {f"p{number}": "urn:p:"}}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(change, range(40))) == {200}
    assert len(broker.get("/v1/subscriptions/s1").json()["prefixes"]) == 41


def test_a_misspelt_language_is_told_the_nearest(broker: httpx.Client) -> None:
    problem = broker.post("/v1/subscriptions", json=subscription(language="sparkl")).json()
    assert (problem["status"], problem["nearest"]) == (422, "sparql")


def test_terms_are_checked_against_the_newest_ontology(broker: httpx.Client) -> None:
    text = (AUCTION / "ontology.ttl").read_text()
    assert broker.post("/v1/subscriptions", json=subscription(id="before")).json()["warnings"] == []
    answer = broker.post("/v1/ontologies", content=text, headers={"Content-Type": "text/turtle"})
    assert (answer.status_code, answer.json()["version"]) == (201, 1)
    pattern = COMPUTERS.replace("Computer", "Komputer")
    [warning] = broker.post("/v1/subscriptions", json=subscription(pattern=pattern)).json()["warnings"]
    assert "Komputer" in warning


def test_json_only_so_that_no_foreign_form_can_subscribe(broker: httpx.Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = broker.post("/v1/subscriptions", content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code == 415
    for body in (b"{", b"[]", b"null"):
        answer = broker.post("/v1/subscriptions", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_that_json_cannot_hold_is_refused(broker: httpx.Client, number: str) -> None:
    record = subscription(language="interest", pattern={"concepts": ["<urn:x:a>"]}, threshold=0)
    body = json.dumps(record).replace(": 0}", f": {number}}}")
    answer = broker.post("/v1/subscriptions", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, "not JSON" in answer.json()["detail"]) == (400, True)
    assert broker.get("/v1/subscriptions").json()["items"] == []


def test_lists_come_in_pages(broker: httpx.Client) -> None:
    for number in range(5):
        broker.post("/v1/subscriptions", json=subscription(id=f"s{number}"))
    ids, after = [], 0
    while after is not None:
        page = broker.get("/v1/subscriptions", params={"after": after, "limit": 2}).json()
        ids.append([item["id"] for item in page["items"]])
        after = page["next"]
    assert ids == [["s0", "s1"], ["s2", "s3"], ["s4"]]


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "after=-1", "after=99999999999999999999"])
def test_a_bad_parameter_is_a_problem(broker: httpx.Client, query: str) -> None:
    answer = broker.get(f"/v1/subscriptions?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert answer.json()["detail"].startswith(query.split("=")[0])


def test_ontology_versions_are_listed_and_checked(broker: httpx.Client) -> None:
    def post(text: str, kind: str = "text/turtle") -> httpx.Response:
        return broker.post("/v1/ontologies?name=mine.ttl", content=text, headers={"Content-Type": kind})

    first = "@prefix ex: <urn:x:> . ex:A <http://www.w3.org/2000/01/rdf-schema#subClassOf> ex:B ."
    assert [post(text).json()["version"] for text in (first, first, first + " ")] == [1, 1, 2]
    assert (post("ex:A").status_code, post("A", "text/plain").status_code) == (422, 415)
    items = broker.get("/v1/ontologies").json()["items"]
    assert [(item["version"], item["documents"][0]["name"]) for item in items] == [(1, "mine.ttl"), (2, "mine.ttl")]


def test_a_new_ontology_tells_which_subscriptions_it_leaves_without_a_meaning(
    broker: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_module, "PAGE", 2)  # small, so that there are several

    def post(*words: str) -> list[dict[str, str]]:
        labels = (f'<urn:x:{word}> a rdfs:Class ; rdfs:label "{word}" .' for word in words)
        text = "\n".join(("@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .", *labels))
        answer = broker.post("/v1/ontologies", content=text, headers={"Content-Type": "text/turtle"})
        assert answer.status_code == 201
        warnings: list[dict[str, str]] = answer.json()["warnings"]
        return warnings

    assert post("Music", "Sports") == []
    for id_, word in {"a": "Music", "b": "Sports", "c": "Music"}.items():
        record = {"id": id_, "language": "interest", "pattern": {"concepts": [word]}}
        assert broker.post("/v1/subscriptions", json=record).status_code == 201
    assert post("Music", "Sports") == []
    warnings = post("Sports")
    assert [warning["id"] for warning in warnings] == ["a", "c"]
    assert "no concept is called 'Music'" in warnings[0]["reason"]
    found = broker.get("/v1/subscriptions/a").json()
    assert found["problem"] == warnings[0]["reason"]
    assert "problem" not in broker.get("/v1/subscriptions/b").json()
    mended = broker.patch("/v1/subscriptions/a", json=found | {"pattern": {"concepts": ["Sports"]}})
    assert mended.status_code == 200
    assert "problem" not in broker.get("/v1/subscriptions/a").json()
