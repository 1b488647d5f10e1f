"""Profiles taken in as RDF, and what they lead to: subscriptions, offers, and a no for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.broker.clients import notify
from triplewire.store import Offer, Store

NEWS = Path(__file__).parents[2] / "examples" / "music-news"
PEOPLE = "http://example.org/people#"
TURTLE = {"Content-Type": "text/turtle"}


@pytest.fixture
def news(broker: httpx.Client) -> httpx.Client:
    broker.post("/v1/ontologies", content=(NEWS / "ontology.ttl").read_text(), headers=TURTLE).raise_for_status()
    return broker


def put(client: httpx.Client, text: str) -> httpx.Response:
    prefixes = "@prefix tw: <urn:triplewire:> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . "
    return client.post("/v1/profiles", content=prefixes + text, headers=TURTLE)


def offers(client: httpx.Client, person: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/v1/suggestions", params={"person": person}).json()["items"]
    return found


def test_profiles_become_people_and_their_subscriptions(news: httpx.Client) -> None:
    taken = news.post("/v1/profiles", content=(NEWS / "profiles.ttl").read_text(), headers=TURTLE).json()
    assert len(taken["subscriptions"]) == 19
    jack = news.get("/v1/subscriptions/http://example.org/people#case-2-jack".replace("#", "%23")).json()
    assert (jack["owner"], jack["language"]) == (f"{PEOPLE}jack", "interest")
    paula = news.get(f"/v1/profiles/{PEOPLE}paula".replace("#", "%23")).json()
    assert paula == {
        "id": f"{PEOPLE}paula",
        "knows": [f"{PEOPLE}alma", f"{PEOPLE}mick"],
        "shares": True,
        "declines": False,
    }
    again = news.post("/v1/profiles", content=(NEWS / "profiles.ttl").read_text(), headers=TURTLE)
    assert again.status_code == 200
    assert len(news.get("/v1/subscriptions").json()["items"]) == 19


def test_a_profile_that_cannot_be_understood_leaves_nothing_behind(news: httpx.Client) -> None:
    refused = put(
        news, '<urn:a> tw:hasInterest <urn:i>, <urn:j> . <urn:i> tw:isAbout "Pop" . <urn:j> tw:isAbout "Moovie" .'
    )
    assert (refused.status_code, "'Moovie'" in refused.json()["detail"]) == (422, True)
    assert news.get("/v1/profiles/urn:a").status_code == 404
    assert news.get("/v1/subscriptions").json()["items"] == []


def test_nobody_takes_over_anothers_interest(news: httpx.Client) -> None:
    put(news, '<urn:a> tw:hasInterest <urn:i> . <urn:i> tw:isAbout "Pop" .').raise_for_status()
    assert put(news, '<urn:b> tw:hasInterest <urn:i> . <urn:i> tw:isAbout "Movie" .').status_code == 409


def test_an_offer_is_marked_as_one_and_declined_for_good(news: httpx.Client, store: Store) -> None:
    put(news, "<urn:b> foaf:knows <urn:a> ; tw:sharesWithFriends true .").raise_for_status()
    notify(store, "s1")
    store.record([], [], 1, [Offer(1, "e1", "urn:a", "s2", 0.65), Offer(1, "e1", "urn:b", "s3", 0.64)])
    [offer] = offers(news, "urn:a")
    assert (offer["kind"], offer["event"], offer["subscription"], offer["score"]) == ("suggestion", "e1", "s2", 0.65)
    assert "urn:b" not in str(offer)
    assert [item["subscription"] for item in news.get("/v1/notifications").json()["items"]] == ["s1"]
    assert news.post(f"/v1/suggestions/{offer['id']}/decline", params={"person": "urn:b"}).status_code == 404
    declined = news.post(f"/v1/suggestions/{offer['id']}/decline", params={"person": "urn:a"}).json()
    assert declined == {"person": "urn:a", "declines": True, "since": 1}
    [again] = put(news, "<urn:a> foaf:knows <urn:b> .").json()["people"]
    assert again["declines"]
    a, b = (news.get(f"/v1/profiles/{person}").json() for person in ("urn:a", "urn:b"))
    assert a == {"id": "urn:a", "knows": ["urn:b"], "shares": False, "declines": True}
    assert b == {"id": "urn:b", "knows": ["urn:a"], "shares": True, "declines": False}


def test_a_profile_may_use_a_word_of_its_owners(news: httpx.Client) -> None:
    pattern = {"interest": "Music", "type": "Grunge"}
    news.post("/v1/subscriptions", json={"language": "interest", "pattern": pattern, "owner": "urn:a"})
    profile = '<urn:{0}> tw:hasInterest <urn:i{0}> . <urn:i{0}> tw:isAbout "grunge" .'
    assert put(news, profile.format("b")).status_code == 422
    assert put(news, profile.format("a")).status_code == 200
    assert "own" in news.get("/v1/subscriptions/urn:ia").json()
