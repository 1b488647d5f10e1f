"""An ontology that learns, over HTTP: concepts are proposed by using them, and become everybody's when accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.broker.clients import publish
from triplewire.lift.cloudevents import parse_event
from triplewire.pipeline.snapshots import Snapshots
from triplewire.pipeline.standing import Standing
from triplewire.store import Outcome, Store

FOLDER = Path(__file__).parents[2] / "examples" / "music-news"
NEWS = "http://example.org/news#"
GRUNGE = "urn:triplewire:proposed:grunge"


@pytest.fixture
def news(broker: httpx.Client) -> httpx.Client:
    text, kind = (FOLDER / "ontology.ttl").read_text(), {"Content-Type": "text/turtle"}
    params = {"name": "news.ttl", "author": "ann", "reason": "the first"}
    broker.post("/v1/ontologies", content=text, headers=kind, params=params).raise_for_status()
    return broker


def subscribe(client: httpx.Client, id_: str, pattern: dict[str, Any], **members: Any) -> httpx.Response:
    record = {"id": id_, "language": "interest", "pattern": pattern, "owner": id_.split("-")[0]} | members
    return client.post("/v1/subscriptions", json=record)


def told(client: httpx.Client, store: Store, text: str) -> list[str]:
    """Who is told of a text, by what stands at its position. Written as the pipeline writes it."""
    name = f"e{store.last_position() + 1}"
    data = f"_:H <urn:triplewire:content> {json.dumps(text)} ."
    event = {"specversion": "1.0", "id": name, "source": "/test", "type": "t", "datacontenttype": "text/turtle"}
    position = publish(client, event | {"data": data}).json()["position"]
    [stored] = store.events(position - 1, position)
    found = Standing(store, Snapshots(Path("none"), store)).at(position).match(parse_event(stored.body), bindings=True)
    store.record([Outcome(position, name, m.subscription, m.score, "[]") for m in found], [], position)
    return [match.subscription for match in found]


def proposals(client: httpx.Client, **params: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/v1/concepts/proposals", params=params).json()["items"]
    return found


def test_a_new_word_is_its_proposers_at_once_and_everybodys_once_accepted(news: httpx.Client, store: Store) -> None:
    created = subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    assert created.json()["warnings"] == [f"<{GRUNGE}> is a new concept, put under <{NEWS}Music>"]
    subscribe(news, "janet", {"concepts": ["Music"]}).raise_for_status()
    assert told(news, store, "A night of grunge") == ["lori"]
    [one] = proposals(news)
    assert (one["word"], one["under"], one["proposer"], one["origin"]) == ("Grunge", f"{NEWS}Music", "lori", "lori")

    decision = {"author": "ann", "reason": "many ask for it"}
    accepted = news.post(f"/v1/concepts/proposals/{one['id']}/accept", json=decision)
    assert accepted.json() | decision | {"state": "accepted", "version": 2} == accepted.json()
    assert told(news, store, "Another night of grunge") == ["janet", "lori"]
    newest = news.get("/v1/ontologies").json()["items"][-1]
    assert (newest["author"], newest["reason"], newest["since"]) == ("ann", "many ask for it", 1)
    assert [d["name"] for d in newest["documents"]] == ["news.ttl", "learnt.nt"]
    assert proposals(news, state="open") == []


def test_an_explanation_is_by_the_version_that_was_in_force(news: httpx.Client, store: Store) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    told(news, store, "A night of grunge")
    news.post("/v1/concepts/proposals/1/merge", json={"into": "Pop"}).raise_for_status()
    told(news, store, "Another night of grunge")
    before, after = (json.dumps(news.get(f"/v1/notifications/{n}/explanation").json()) for n in (1, 2))
    assert (GRUNGE in before, f"{NEWS}Pop" in before) == (True, False)
    assert (GRUNGE in after, f"{NEWS}Pop" in after) == (False, True)


def test_a_merged_word_means_the_known_concept_to_its_proposer_and_to_everybody(
    news: httpx.Client, store: Store
) -> None:
    subscribe(news, "lori", {"interest": "Entertainment", "type": "Flicks"})
    subscribe(news, "john", {"concepts": ["Movie"]})
    assert told(news, store, "New flicks") == ["lori"]
    merged = news.post("/v1/concepts/proposals/1/merge", json={"into": f"{NEWS}Movie"}).json()
    assert (merged["state"], merged["author"]) == ("merged", "local")
    assert told(news, store, "Newer flicks") == ["john", "lori"]
    assert told(news, store, "A movie") == ["john", "lori"]
    [synonyms] = news.get("/v1/synonyms", params={"concept": "Movie"}).json()["items"]
    assert [word["word"] for word in synonyms["words"]] == ["Movie", "Movies", "Cinema", "Film", "Flicks"]


def test_after_a_rejection_a_word_means_to_its_proposer_what_it_did(news: httpx.Client, store: Store) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    subscribe(news, "janet", {"concepts": ["Music"]})
    rejected = news.post("/v1/concepts/proposals/1/reject", json={"reason": "too special"}).json()
    assert (rejected["state"], rejected["reason"], rejected["version"]) == ("rejected", "too special", None)
    assert told(news, store, "A night of grunge") == ["lori"]
    assert len(news.get("/v1/ontologies").json()["items"]) == 1


def test_a_proposer_may_use_their_word_anywhere_and_nobody_else_may(news: httpx.Client, store: Store) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    created = subscribe(news, "lori-2", {"concepts": ["grunge"]})
    assert created.json()["own"] == {f"<{GRUNGE}>": f"<{NEWS}Music>"}
    refused = subscribe(news, "jeff", {"concepts": ["grunge"]})
    assert (refused.status_code, "no concept is called 'grunge'" in refused.json()["detail"]) == (422, True)
    assert told(news, store, "Grunge is back") == ["lori", "lori-2"]
    news.post("/v1/concepts/proposals/1/accept", json={}).raise_for_status()
    assert subscribe(news, "jeff", {"concepts": ["grunge"]}).status_code == 201
    assert told(news, store, "Grunge is here") == ["jeff", "lori", "lori-2"]


def test_a_changed_subscription_proposes_as_a_new_one_does(news: httpx.Client) -> None:
    subscribe(news, "lori", {"interest": "Music"})
    news.patch("/v1/subscriptions/lori", json={"pattern": {"type": "Grunge"}}).raise_for_status()
    assert [(one["word"], one["proposer"]) for one in proposals(news)] == [("Grunge", "lori")]


def test_by_a_setting_a_new_word_is_everybodys_at_once(news: httpx.Client, store: Store) -> None:
    store.accept_at_once(True)
    subscribe(news, "janet", {"concepts": ["Music"]})
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    assert told(news, store, "A night of grunge") == ["janet", "lori"]
    assert [one["state"] for one in proposals(news)] == ["accepted"]


def test_concepts_are_listed_and_searched_by_their_words(news: httpx.Client) -> None:
    first = news.get("/v1/concepts", params={"limit": 2}).json()
    assert [one["label"] for one in first["items"]] == ["Agriculture", "Album"]
    second = news.get("/v1/concepts", params={"limit": 2, "after": first["next"]}).json()
    assert [one["concept"] for one in second["items"]] == [f"{NEWS}BryanAdams", f"{NEWS}Classical"]
    [movie] = news.get("/v1/concepts", params={"search": "cinem"}).json()["items"]
    assert (movie["label"], movie["parents"]) == ("Movie", [f"{NEWS}Entertainment"])
    assert news.get("/v1/concepts", params={"limit": 1000}).json()["next"] is None


def test_a_hierarchy_is_walked_a_branch_at_a_time(news: httpx.Client) -> None:
    seen: dict[str, set[str]] = {}
    work: list[str | None] = [None]
    while work:
        params = {"limit": "2", "kind": "interests"} | ({"of": of} if (of := work.pop()) else {})
        page: dict[str, Any] = {"next": 0}
        below = []
        while page["next"] is not None:
            page = news.get("/v1/concepts/children", params=params | {"after": page["next"]}).json()
            below += page["items"]
        assert [one["label"].casefold() for one in below] == sorted(one["label"].casefold() for one in below)
        for one in below:
            if one["concept"] not in seen:
                work += [one["concept"]] * bool(one["children"])
            seen.setdefault(one["concept"], set()).update([of] if of else [])
            assert of is None or of in [parent["concept"] for parent in one["parents"]]
    listed = news.get("/v1/concepts", params={"limit": 1000}).json()["items"]
    assert {one["concept"]: set(one["parents"]) for one in listed} == seen
    way = news.get("/v1/concepts/way", params={"of": f"{NEWS}Pop"}).json()["items"]
    assert [one["label"] for one in way] == ["News", "Entertainment", "Music", "Music type", "Pop"]
    unknown = news.get("/v1/concepts/children", params={"of": "no IRI", "kind": "classes"})
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "there is no term <no IRI> among the classes")


def test_a_misspelt_search_finds_what_was_meant_and_says_so(news: httpx.Client) -> None:
    found = news.get("/v1/concepts", params={"search": "Moovie"}).json()
    assert (found["items"][0]["label"], found["misspelt"]) == ("Movie", True)
    assert news.get("/v1/concepts", params={"search": "Movie"}).json()["misspelt"] is False


def test_a_search_tells_what_an_interest_would_mean_by_the_word(news: httpx.Client) -> None:
    for word, meant in (
        ("cinemas", ["Movie"]),
        ("P!NK", ["Pink"]),
        ("pop", ["Pop"]),
        ("mov", []),
        ("grunge", []),
        ("", []),
    ):
        found = news.get("/v1/concepts", params={"search": word}).json()
        assert found["called"] == [f"{NEWS}{name}" for name in meant], word
        assert [one["concept"] for one in found["items"][: len(meant)]] == found["called"]
        told = news.post(
            "/v1/subscriptions?dry-run=true", json={"language": "interest", "pattern": {"concepts": [word]}}
        )
        assert (told.status_code == 200) is bool(meant)


def test_a_synonym_is_added_with_author_and_reason(news: httpx.Client, store: Store) -> None:
    subscribe(news, "john", {"concepts": ["Movie"]})
    body = {"concept": "cinema", "word": "Spielfilm", "language": "de", "author": "ann", "reason": "for the Germans"}
    added = news.post("/v1/synonyms", json=body)
    word = added.json()["words"][-1]
    assert (added.status_code, word["word"], word["language"], word["author"]) == (201, "Spielfilm", "de", "ann")
    assert told(news, store, "ein Spielfilm") == ["john"]
    newest = news.get("/v1/ontologies").json()["items"][-1]
    assert (newest["version"], newest["author"], newest["reason"]) == (2, "ann", "for the Germans")
    assert "Spielfilm" in news.get("/v1/ontologies/2").json()["documents"][1]["text"]


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("concepts/proposals/9/accept", {}, 404, "no proposal 9"),
        ("concepts/proposals/1/merge", {"into": "Moovie"}, 422, "Did you mean Movie?"),
        ("concepts/proposals/1/merge", {}, 400, "'into' should name a concept"),
        ("concepts/proposals/1/reject", {"reason": 7}, 400, "'reason' should be a text"),
        ("concepts/proposals/1/reject", {"author": ""}, 400, "user's name"),
        ("synonyms", {"concept": "Movie", "word": " "}, 400, "'word' should be a word"),
        ("synonyms", {"concept": "Movie", "word": "x", "language": "no tag"}, 400, "'language' should be"),
    ],
)
def test_what_cannot_be_decided_is_refused_with_the_reason(
    news: httpx.Client, path: str, body: dict[str, Any], status: int, said: str
) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    refused = news.post(f"/v1/{path}", json=body)
    assert refused.status_code == status
    assert said in refused.json()["detail"]
    assert proposals(news)[0]["state"] == "open"


def test_a_proposal_is_decided_once(news: httpx.Client) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    assert [news.post("/v1/concepts/proposals/1/accept", json={}).status_code for _ in range(2)] == [200, 409]


def test_a_changed_subscription_may_use_another_word_of_its_owners(news: httpx.Client) -> None:
    for word in ("Grunge", "Ska"):
        subscribe(news, f"lori-{word}", {"interest": "Music", "type": word}).raise_for_status()
    subscribe(news, "lori", {"concepts": ["grunge"]}).raise_for_status()
    changed = news.patch("/v1/subscriptions/lori", json={"pattern": "ska, pop"})
    assert changed.status_code == 200, changed.text
    assert "<urn:triplewire:proposed:ska>" in changed.json()["own"]


@pytest.mark.parametrize(("decision", "body"), [("accept", {}), ("merge", {"into": "Movie"})])
def test_a_word_that_the_ontology_got_meanwhile_is_not_made_ambiguous(
    news: httpx.Client, decision: str, body: dict[str, str]
) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"}).raise_for_status()
    news.post("/v1/synonyms", json={"concept": "Pop", "word": "grunges"}).raise_for_status()
    refused = news.post(f"/v1/concepts/proposals/1/{decision}", json=body)
    assert refused.status_code == 409
    assert f"means <{NEWS}Pop> already: merge it into that" in refused.json()["detail"]
    assert "problem" not in news.get("/v1/subscriptions/lori").json()
    assert news.post("/v1/concepts/proposals/1/merge", json={"into": "Pop"}).status_code == 200


def test_nothing_is_accepted_under_a_concept_that_is_gone(news: httpx.Client) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"}).raise_for_status()
    other = "<urn:Art> a <http://www.w3.org/2004/02/skos/core#Concept> ."
    news.post("/v1/ontologies", content=other, headers={"Content-Type": "text/turtle"}).raise_for_status()
    refused = news.post("/v1/concepts/proposals/1/accept", json={})
    assert (refused.status_code, "no concept <" in refused.json()["detail"]) == (409, True)
    assert len(news.get("/v1/concepts").json()["items"]) == 1


def test_what_a_decision_would_change_is_told_before_it_is_made(news: httpx.Client, store: Store) -> None:
    subscribe(news, "lori", {"interest": "Music", "type": "Grunge"})
    subscribe(news, "janet", {"concepts": ["Music"]})
    told(news, store, "A night of grunge")
    accepting = news.post("/v1/concepts/proposals/1/accept", json={}, params={"dry-run": True}).json()
    assert [one["word"] for one in accepting["difference"]["words"]["appeared"]["items"]] == ["Grunge"]
    assert [(one["id"], one["gained"]) for one in accepting["effect"]["subscriptions"]] == [("janet", 1)]
    merging = news.post("/v1/concepts/proposals/1/merge", json={"into": "Agriculture"}, params={"dry-run": True}).json()
    assert [(one["id"], one["lost"]) for one in merging["effect"]["subscriptions"]] == [("lori", 1)]
    assert proposals(news)[0]["state"] == "open"
    assert len(store.ontologies()) == 1
