"""What all routes have in common: tags, keys and pages."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from threading import Event
from typing import Any

import httpx
import pytest

from tests.broker.clients import OFFER, bearer, cloudevent, notify, subscription
from triplewire.store import DeadLetter, Store, moment_of

ONTOLOGY = (
    "@prefix ex: <http://example.org/auction#> . ex:NotebookPC <http://www.w3.org/2000/01/rdf-schema#subClassOf> "
)
KEY = {"Idempotency-Key": "k1"}
TURTLE = {"Content-Type": "text/turtle"}


def test_what_a_client_has_is_not_sent_again(broker: httpx.Client, store: Store) -> None:
    broker.post("/v1/ontologies", content=f"{ONTOLOGY} ex:Computer .", headers=TURTLE)
    created = broker.post("/v1/subscriptions", json=subscription())
    for place in ("/v1/subscriptions/s1", "/v1/ontologies/1"):
        found = broker.get(place)
        tag = found.headers["etag"]
        for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
            again = broker.get(place, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert broker.get(place, headers={"If-None-Match": '"other"'}).content == found.content
    assert created.headers["etag"] == broker.get("/v1/subscriptions/s1").headers["etag"]


def test_whoever_asks_for_the_head_alone_gets_what_a_get_would_have_begun_with(broker: httpx.Client) -> None:
    broker.post("/v1/subscriptions", json=subscription())
    for place in ("/healthz", "/v1/subscriptions", "/v1/subscriptions/s1", "/v1/nothing", "/v1/feeds/atom/s1"):
        head, whole = broker.head(place), broker.get(place)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert {
            name: head.headers[name] for name in ("content-type", "content-length")
        }.items() <= whole.headers.items()
    stream = broker.head("/v1/notifications/stream")
    assert (stream.status_code, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")


def test_a_change_of_what_somebody_else_has_changed_is_refused(broker: httpx.Client) -> None:
    first = broker.post("/v1/subscriptions", json=subscription()).headers["etag"]
    place = "/v1/subscriptions/s1"
    second = broker.patch(place, json={"prefixes": {"a": "urn:a:"}}, headers={"If-Match": first})
    assert (second.status_code, second.headers["etag"]) == (200, broker.get(place).headers["etag"])
    tag = second.headers["etag"]
    for old in (first, f"W/{tag}", '"other"'):
        late = broker.patch(place, json={"prefixes": {"b": "urn:b:"}}, headers={"If-Match": old})
        assert (late.status_code, late.headers["etag"]) == (412, tag)
        assert broker.patch(place, json={"delivery": None}, headers={"If-Match": old}).status_code == 412
        assert broker.delete(place, headers={"If-Match": old}).status_code == 412
    assert "b" not in broker.get(place).json()["prefixes"]
    assert broker.delete(place, headers={"If-Match": f'"other", {tag}'}).status_code == 200


def test_of_two_changes_of_the_same_state_one_is_refused(broker: httpx.Client) -> None:
    tag = broker.post("/v1/subscriptions", json=subscription()).headers["etag"]

    def change(number: int) -> int:
        patch = {"prefixes": {f"p{number}": "urn:p:"}}
        return broker.patch("/v1/subscriptions/s1", json=patch, headers={"If-Match": tag}).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(change, range(4))) == [200, 412, 412, 412]


def test_of_many_changes_of_a_delivery_a_user_a_source_or_a_letter_in_the_same_state_one_is_made(
    broker: httpx.Client, store: Store
) -> None:
    place = {"channel": "webhook", "url": "https://a.example.org/", "secret": f"whsec_{'QUJD' * 8}"}
    broker.post("/v1/subscriptions", json=subscription(delivery=place))
    source = broker.post("/v1/sources", json={"url": "https://a.example.org/feed"}).headers["location"]
    [position] = store.append([("urn:test", "bad", json.dumps(cloudevent("bad")))])
    store.record([], [DeadLetter(position, "not Turtle")], position)
    root = bearer(store, "root", "admin")
    broker.post("/v1/users", json={"name": "ann"}, headers=root)
    changes: list[tuple[str, list[dict[str, Any]]]] = [
        ("/v1/subscriptions/s1", [{"delivery": place | {"url": f"https://{n}.example.org/"}} for n in range(4)]),
        ("/v1/deliveries/s1", [{"paused": True}] * 4),
        ("/v1/users/ann", [{"scopes": [scope]} for scope in ("publish", "subscribe", "ontology", "admin")]),
        (source, [{"paused": True}] * 4),
        (f"/v1/dead-letters/{position}", [{"state": "dismissed"}] * 4),
        (f"/v1/dead-letters/{position}", [{"state": "open"}] * 4),
    ]
    for url, bodies in changes:
        headers = root | {"If-Match": broker.get(url, headers=root).headers["etag"]}
        change = partial(broker.patch, url, headers=headers)
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(change, json=body) for body in bodies]
        assert sorted(one.result().status_code for one in asked) == [200, 412, 412, 412], url
    gone = broker.delete(source, headers=root | {"If-Match": '"old"'})
    assert (gone.status_code, broker.get(source, headers=root).status_code) == (412, 200)


def test_a_parameter_that_does_not_exist_is_refused_and_those_that_do_are_named(broker: httpx.Client) -> None:
    for path in ("sources", "audit", "subscriptions", "notifications", "users", "deliveries"):
        refused = broker.get(f"/v1/{path}", params={"limit": 5, "ater": 3})
        assert refused.status_code == 400
        assert refused.json()["detail"].startswith("there is no parameter 'ater' here; there are ")
        assert "after, limit" in refused.json()["detail"]
        assert broker.get(f"/v1/{path}", params={"limit": 5}).status_code == 200
    assert broker.delete("/v1/session", params={"now": "yes"}).json()["detail"].endswith("here; it has none")


def test_an_ontology_replaces_the_one_that_its_author_saw(broker: httpx.Client) -> None:
    for unseen in ("*", '"old"'):
        early = broker.post("/v1/ontologies", content=f"{ONTOLOGY} ex:Toy .", headers=TURTLE | {"If-Match": unseen})
        assert early.status_code == 412
    first = broker.post("/v1/ontologies", content=f"{ONTOLOGY} ex:Computer .", headers=TURTLE)
    assert (first.headers["location"], first.status_code) == ("/v1/ontologies/1", 201)
    seen = TURTLE | {"If-Match": first.headers["etag"]}

    def put(kind: str) -> int:
        return broker.post("/v1/ontologies", content=f"{ONTOLOGY} ex:{kind} .", headers=seen).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(put, ("Machine", "Toy", "Tool", "Thing"))) == [201, 412, 412, 412]
    restore = partial(broker.post, "/v1/ontologies/1/restore", json={})
    assert restore(headers={"If-Match": seen["If-Match"]}).status_code == 412
    assert restore(headers={"If-Match": broker.get("/v1/ontologies/2").headers["etag"]}).status_code == 201


def requests() -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """Requests that create something by each route, with another one: the path, and what is sent."""
    return {
        "an event": ("/v1/events", {"content": OFFER, "headers": TURTLE | KEY}, {"content": f"{OFFER} "}),
        "a subscription": (
            "/v1/subscriptions",
            {"json": {k: v for k, v in subscription().items() if k != "id"}, "headers": KEY},
            {"json": subscription(id="other")},
        ),
        "an ontology": (
            "/v1/ontologies",
            {"content": f"{ONTOLOGY} ex:Computer .", "headers": TURTLE | KEY},
            {"content": f"{ONTOLOGY} ex:Toy ."},
        ),
    }


@pytest.mark.parametrize("what", requests())
def test_a_request_sent_again_under_its_key_is_answered_as_before(
    what: str, broker: httpx.Client, store: Store
) -> None:
    path, sent, other = requests()[what]
    first = broker.post(path, **sent)
    assert first.status_code < 300
    again = broker.post(path, **sent)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    for name in ("location", "etag", "content-type"):
        assert again.headers.get(name) == first.headers.get(name)
    refused = broker.post(path, **(sent | other))
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert store.last_position() + len(store.subscriptions()) + len(store.ontologies()) == 1


def test_a_key_is_its_callers_own_and_good_for_a_day(
    broker: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = bearer(store, "ann"), bearer(store, "bob")
    path, sent, _ = requests()["an event"]

    def ids(who: dict[str, str]) -> str:
        answer: str = broker.post(path, content=sent["content"], headers=sent["headers"] | who).json()["id"]
        return answer

    assert ids(ann) == ids(ann) != ids(bob)
    later = moment_of(datetime.now(UTC) + timedelta(seconds=1))
    monkeypatch.setattr("triplewire.store.answers._oldest", lambda: later)
    assert store.answers.find("ann", "k1") is None
    log = store.last_position()
    sent["content"] += "\n<urn:another> <urn:b> <urn:c> ."
    assert (ids(ann) != ids(bob), store.last_position()) == (True, log + 2), (
        "what is new is no longer taken for the old"
    )


def test_a_request_that_failed_may_be_mended_under_the_same_key(broker: httpx.Client) -> None:
    assert broker.post("/v1/subscriptions", json={"language": "ops"}, headers=KEY).status_code == 422
    assert broker.post("/v1/subscriptions", json=subscription(), headers=KEY).status_code == 201


def test_what_was_only_tried_out_under_a_key_can_be_done_under_it(broker: httpx.Client, store: Store) -> None:
    for what in requests():
        path, sent, _ = requests()[what]
        sent["headers"] = sent["headers"] | {"Idempotency-Key": what}
        answers = [broker.post(path, params={"dry-run": dry}, **sent) for dry in (True, True, False, False)]
        assert [one.status_code for one in answers[:2]] == [200, 200]
        assert answers[2].status_code in (201, 202)
        assert answers[3].json() == answers[2].json()
    assert (store.last_position(), len(store.subscriptions()), len(store.ontologies())) == (1, 1, 1)


def test_a_broker_that_died_before_it_answered_does_the_same_when_asked_again(
    broker: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it died is played by forgetting the answer."""
    for what in requests():
        path, sent, _ = requests()[what]
        monkeypatch.setattr(store.answers, "keep", lambda *_: None)
        first = broker.post(path, **sent)
        assert (broker.post(path, **sent).json(), first.status_code < 300) == (first.json(), True)
    assert (store.last_position(), len(store.subscriptions()), len(store.ontologies())) == (1, 1, 1)


def test_a_request_under_a_key_that_is_being_carried_out_is_told_to_wait(
    broker: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, begun, go_on = store.append, Event(), Event()

    def slow(rows: Any) -> list[int]:
        begun.set()
        assert go_on.wait(30)
        return append(rows)

    monkeypatch.setattr(store, "append", slow)
    path, sent, _ = requests()["an event"]
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(broker.post, path, **sent)
        assert begun.wait(30)
        second = broker.post(path, **sent)
        go_on.set()
        assert (second.status_code, second.headers["retry-after"], first.result().status_code) == (409, "1", 202)


def test_every_list_comes_in_pages_that_link_to_the_next(broker: httpx.Client, store: Store) -> None:
    hook = {"channel": "webhook", "url": "https://example.org/", "secret": "whsec_" + "A" * 40}
    for number in range(5):
        words = f"{ONTOLOGY} ex:C{number}, ex:D, ex:E, ex:F, ex:G ."
        broker.post("/v1/ontologies", content=words, headers=TURTLE)
        broker.post("/v1/subscriptions", json=subscription(id=f"s{number}", delivery=hook))
    notify(store, *(f"s{number}" for number in range(5)))
    for path in ("subscriptions", "ontologies", "notifications", "deliveries", "concepts", "synonyms"):
        whole = broker.get(f"/v1/{path}").json()
        assert whole.keys() >= {"items", "next"}
        assert (len(whole["items"]) >= 5, whole["next"]) == (True, None)
        pages = [broker.get(f"/v1/{path}?limit=2")]
        while (link := pages[-1].links.get("next")) is not None:
            pages.append(broker.get(link["url"]))
            assert len(pages) < 9
        assert [item for page in pages for item in page.json()["items"]] == whole["items"]
        assert all(before.json()["next"] is not None for before, _ in pairwise(pages))
        for wrong in ("limit=0", "limit=1001", "after=-1", "after=x"):
            assert broker.get(f"/v1/{path}?{wrong}").status_code == 400
    assert broker.get("/v1/endpoints").json()["next"] is None


def test_the_same_event_is_published_once_under_any_key(broker: httpx.Client) -> None:
    body, kind = json.dumps(cloudevent()), {"Content-Type": "application/cloudevents+json"}
    answers = [broker.post("/v1/events", content=body, headers=kind | {"Idempotency-Key": key}).json() for key in "ab"]
    assert answers[0] == answers[1]
