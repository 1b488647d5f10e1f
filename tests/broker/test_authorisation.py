"""Who may do what: every route, asked by everybody."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI
from pyoxigraph import Literal, NamedNode
from starlette.routing import BaseRoute, Mount, Route

from tests.broker.clients import COMPUTERS, PREFIXES, bearer, cloudevent, listening, notify, subscription
from triplewire.broker import create_app
from triplewire.broker.access.users import COOKIE
from triplewire.concepts.load import model_of_documents
from triplewire.rdf.terms import SKOS, Triple
from triplewire.store import DeadLetter, Offer, Outcome, Store, Webhook, store_url
from triplewire.subscriptions.languages import parse_subscription, proposals
from triplewire.subscriptions.profiles import Person

MARK = "xyzzy"
"""A word in everything that is ann's, and in nothing else."""
SECRET = "whsec_" + "c2VjcmV0" * 4
RECORD = {"id": "s", "language": "ops", "pattern": COMPUTERS, "prefixes": PREFIXES | {MARK: "urn:x:"}}
OTHER = {"language": "ops", "pattern": COMPUTERS, "prefixes": PREFIXES}
WEBHOOK = {"delivery": {"channel": "webhook", "url": "https://example.org/hook", "secret": SECRET}}
GRUNGE = {"id": "i", "language": "interest", "pattern": {"interest": "Music", "type": MARK}}
MUSIC = "<urn:x:Music> a <http://www.w3.org/2000/01/rdf-schema#Class> ."
PROFILE = "<urn:ann> <http://xmlns.com/foaf/0.1/knows> <urn:bob> ."

# What is asked, with its body, and what is answered: to somebody without a token, with a wrong one, with one that has
# no scope, to another user, to whom it concerns (ann), and to an administrator.
MATRIX = """
GET    /healthz                                                 200 200 200 200 200 200
GET    /readyz                                                  200 200 200 200 200 200
GET    /metrics                                                 200 200 200 200 200 200
GET    /static/page.css                                         200 200 200 200 200 200
GET    /openapi.json                                            401 401 200 200 200 200
GET    /sign-in                                                 200 200 303 303 303 303
GET    /                                                        401 401 200 200 200 200
GET    /v1/activity                                             401 401 200 200 200 200
GET    /subscribe?edit=s                                        401 401 403 200 200 200
GET    /publish?mends=2                                         401 401 403 404 200 200
GET    /ontology                                                401 401 200 200 200 200
GET    /ontology/words                                          401 401 200 200 200 200
GET    /ontology/proposals                                      401 401 200 200 200 200
GET    /ontology/versions                                       401 401 200 200 200 200
GET    /dead-letters                                            401 401 403 200 200 200
GET    /sources                                                 401 401 403 200 200 200
GET    /notifications                                           401 401 403 200 200 200
GET    /subscriptions                                           401 401 403 200 200 200
GET    /subscriptions/s                                         401 401 403 303 200 200
GET    /notifications/1                                         401 401 403 303 200 200
GET    /notifications/why-not?events=1                          401 401 403 200 200 200
POST   /v1/events                             event             401 401 403 202 202 202
POST   /v1/events?dry-run=true                event             401 401 403 200 200 200
POST   /v1/events?mends=2                     event             401 401 403 404 202 202
POST   /v1/sources                            source            401 401 403 201 201 201
GET    /v1/sources                                              401 401 403 200 200 200
GET    /v1/sources/1                                            401 401 403 404 200 200
PATCH  /v1/sources/1                          paused            401 401 403 404 200 200
POST   /v1/sources/1/read                                       401 401 403 404 202 202
DELETE /v1/sources/1                                            401 401 403 404 204 204
GET    /v1/dead-letters                                         401 401 403 200 200 200
GET    /v1/dead-letters/2                                       401 401 403 404 200 200
PATCH  /v1/dead-letters/2                     dismissed         401 401 403 404 200 200
POST   /v1/subscriptions                      other             401 401 403 201 201 201
GET    /v1/subscriptions                                        401 401 403 200 200 200
GET    /v1/subscriptions/s                                      401 401 403 404 200 200
PATCH  /v1/subscriptions/s                    webhook           401 401 403 404 200 200
DELETE /v1/subscriptions/s                                      401 401 403 404 200 200
GET    /v1/notifications                                        401 401 403 200 200 200
GET    /v1/notifications/stream?after=0                         401 401 403 200 200 200
GET    /v1/standings                                            401 401 403 200 200 200
GET    /v1/notifications/1/less                                 401 401 403 404 200 200
GET    /v1/inbox                                                401 401 403 200 200 200
GET    /v1/inbox/unread                                         401 401 403 200 200 200
POST   /v1/inbox/read?upto=1                                    401 401 403 200 200 200
PUT    /v1/inbox/1/read                                         401 401 403 404 200 200
DELETE /v1/inbox/1/read                                         401 401 403 404 200 200
GET    /v1/events?limit=1                                       401 401 403 200 200 200
GET    /v1/notifications/1/event                                401 401 403 404 200 200
GET    /v1/notifications/1/explanation                          401 401 403 404 200 200
GET    /v1/explanations?position=3&subscription={TRIAL}         401 401 403 200 200 200
GET    /v1/deliveries                                           401 401 403 200 200 200
GET    /v1/deliveries/s                                         401 401 403 404 200 200
GET    /v1/deliveries/s/omissions                               401 401 403 404 200 200
POST   /v1/deliveries/s/redeliver?from=1                        401 401 403 404 202 202
PATCH  /v1/deliveries/s                       paused            401 401 403 404 200 200
GET    /v1/endpoints                                            401 401 403 200 200 200
GET    /v1/feeds/atom/s                                         401 401 403 404 200 200
GET    /v1/feeds/json/s                                         401 401 403 404 200 200
POST   /v1/hub                                follow            401 401 403 404 202 202
GET    /v1/mailboxes/confirmation?token=x                       200 200 200 200 200 200
POST   /v1/mailboxes/confirmation?token=x                       404 404 404 404 404 404
GET    /v1/mailboxes/unsubscription?token=x                     200 200 200 200 200 200
POST   /v1/mailboxes/unsubscription?token=x                     404 404 404 404 404 404
GET    /v1/ontologies                                           401 401 200 200 200 200
POST   /v1/ontologies                         ontology          401 401 403 403 403 201
GET    /v1/ontologies/1                                         401 401 200 200 200 200
GET    /v1/ontologies/1/difference                              401 401 200 200 200 200
GET    /v1/ontologies/1/effect                                  401 401 200 200 200 200
POST   /v1/ontologies/1/restore               nothing           401 401 403 403 403 201
GET    /v1/concepts                                             401 401 200 200 200 200
GET    /v1/concepts/children                                    401 401 200 200 200 200
GET    /v1/concepts/way?of=urn:x:Music                          401 401 200 200 200 200
GET    /v1/concepts/details?of=urn:x:Music                      401 401 200 200 200 200
GET    /v1/concepts/picture?of=urn:x:Music                      401 401 200 200 200 200
GET    /v1/concepts/proposals                                   401 401 200 200 200 200
POST   /v1/concepts/proposals/1/accept        nothing           401 401 403 403 403 200
POST   /v1/concepts/proposals/1/merge         into              401 401 403 403 403 200
POST   /v1/concepts/proposals/1/reject        nothing           401 401 403 403 403 200
GET    /v1/synonyms                                             401 401 200 200 200 200
POST   /v1/synonyms                           synonym           401 401 403 403 403 201
DELETE /v1/synonyms?concept=urn:x:Music&word=tune               401 401 403 403 403 200
POST   /v1/profiles                           profile           401 401 403 403 200 200
GET    /v1/profiles/urn:ann                                     401 401 403 404 200 200
GET    /v1/suggestions?person=urn:ann                           401 401 403 403 200 200
POST   /v1/suggestions/1/decline?person=urn:ann                 401 401 403 403 200 200
GET    /v1/audit                                                401 401 403 403 403 200
GET    /v1/users                                                401 401 403 403 403 200
POST   /v1/users                              user              401 401 403 403 403 201
GET    /v1/users/urn:ann                                        401 401 404 404 200 200
PATCH  /v1/users/urn:ann                       scopes            401 401 403 403 403 200
POST   /v1/session                            nobody            401 401 401 401 401 401
GET    /v1/session                                              401 401 200 200 200 200
DELETE /v1/session                                              401 401 204 204 204 204
GET    /v1/tokens                                               401 401 200 200 200 200
POST   /v1/tokens                             feed              401 401 403 404 201 201
DELETE /v1/tokens/1                                             401 401 404 404 200 200
"""
ROWS = [line.split() for line in MATRIX.strip().splitlines()]
BODIES: dict[str, tuple[str, str]] = {
    "event": ("application/cloudevents+json", json.dumps(cloudevent("new"))),
    "ontology": ("text/turtle", MUSIC + " <urn:x:More> a <urn:x:Thing> ."),
    "profile": ("text/turtle", PROFILE),
    "follow": (
        "application/x-www-form-urlencoded",
        "hub.mode=subscribe&hub.topic=http://localhost/v1/feeds/atom/s&hub.callback=https://callback.invalid/",
    ),
} | {
    name: ("application/json", json.dumps(value))
    for name, value in {
        "other": OTHER,
        "webhook": WEBHOOK,
        "paused": {"paused": True},
        "dismissed": {"state": "dismissed"},
        "nothing": {},
        "into": {"into": "<urn:x:Music>"},
        "synonym": {"concept": "<urn:x:Music>", "word": "melody"},
        "user": {"name": "new"},
        "scopes": {"scopes": []},
        "nobody": {"name": "nobody", "password": ""},
        "feed": {"feed": "s"},
        "source": {"url": "https://example.org/feed"},
    }.items()
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Mapping[str, str]]]:
    """A store in which ann has something of everything, and the headers of those who ask."""
    home = tmp_path_factory.mktemp("world")
    with closing(Store(store_url(home))) as store:
        ann = bearer(store, "urn:ann")
        others = bearer(store, "cat", "ontology"), bearer(store, "urn:bob"), bearer(store, "root", "admin")
        store.users.change("cat", ())
        document = {"name": "o.ttl", "media_type": "text/turtle", "text": MUSIC}
        store.put_ontology([document])
        store.learn([Triple(NamedNode("urn:x:Music"), SKOS.altLabel, Literal("tune"))], "root", "")
        store.subscribe(RECORD, "urn:ann", Webhook(f"https://example.org/{MARK}", SECRET))
        store.subscribe(GRUNGE, "urn:ann")
        store.sources.add("urn:ann", f"https://example.org/{MARK}")
        model = model_of_documents([document])
        store.propose(proposals(GRUNGE, parse_subscription(GRUNGE, model), model), "urn:ann", "i")
        store.people.put(Person("urn:ann"))
        for id_ in (f"{MARK}-1", f"{MARK}-2"):
            store.append([("urn:test", id_, json.dumps(cloudevent(id_)), "urn:ann")])
        store.append([("urn:test", "anybody's", json.dumps(cloudevent("anybody's")), "urn:bob")])
        offer = Offer(1, f"{MARK}-1", "urn:ann", "s", 0.65)
        store.record([Outcome(1, f"{MARK}-1", "s", 1.0, "[{}]")], [DeadLetter(2, MARK)], 2, [offer])
    return home, [{}, {"Authorization": "Bearer tw_wrong"}, others[0], others[1], ann, others[2]]


def opened(home: Path, copy: Path) -> Store:
    copy.mkdir()
    shutil.copy(home / "triplewire.db", copy)
    return Store(store_url(copy))


@pytest.fixture(scope="module")
def unchanged(
    world: tuple[Path, list[Mapping[str, str]]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FastAPI]:
    """The application for those who only look."""
    with closing(opened(world[0], tmp_path_factory.mktemp("unchanged") / "home")) as store:
        yield create_app(store)


async def ask(app: FastAPI, method: str, address: str, body: str, headers: Mapping[str, str]) -> tuple[int, str]:
    """Status and text of an answer; of one without end, what came until it would wait."""
    path, _, query = address.partition("?")
    kind, content = BODIES.get(body, ("", ""))
    sent = {"host": "localhost", "content-type": kind, **headers}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "client": (path, 1),  # of its own, as failures are counted by address
        "server": ("127.0.0.1", 80),
        "scheme": "http",
        "root_path": "",
        "state": {},
    }
    coming = [{"type": "http.request", "body": content.encode(), "more_body": False}]
    gone = asyncio.Event()
    got: list[Any] = []

    async def receive() -> dict[str, Any]:
        if coming:
            return coming.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        got.append(message)
        if message["type"] == "http.response.start":
            asyncio.get_running_loop().call_later(0.3, gone.set)

    await asyncio.wait_for(app(scope, receive, send), 60)
    return got[0]["status"], b"".join(part.get("body", b"") for part in got[1:]).decode()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_everybody_may_do_this_and_no_more(
    row: list[str], world: tuple[Path, list[Mapping[str, str]]], unchanged: FastAPI, tmp_path: Path
) -> None:
    home, callers = world
    method, address, *rest = row
    address = address.replace("{TRIAL}", quote(json.dumps(OTHER)))
    body, expected = ("", rest) if len(rest) == 6 else (rest[0], rest[1:])

    def asked(app: FastAPI, asking: list[Mapping[str, str]]) -> list[tuple[int, str]]:
        async def all_of_them() -> list[tuple[int, str]]:
            return [await ask(app, method, address, body, one) for one in asking]

        return asyncio.run(all_of_them())

    if method == "GET":
        answers = asked(unchanged, callers)
    else:  # what ann does is not to be in an administrator's way
        answers = []
        for name, asking in (("most", callers[:5]), ("last", callers[5:])):
            with closing(opened(home, tmp_path / name)) as store:
                answers += asked(create_app(store), asking)
    assert [str(status) for status, _ in answers] == expected, answers
    for _, text in answers[:4]:
        assert MARK not in text


BY_LINK = "/v1/mailboxes/"
"""What a link in mail does, whoever follows it: no cookie opens it."""


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row[0] != "GET" and not row[1].startswith(BY_LINK)], ids=" ".join
)
def test_no_other_site_can_change_anything_with_somebodys_cookie(
    row: list[str], world: tuple[Path, list[Mapping[str, str]]], unchanged: FastAPI
) -> None:
    method, address, *rest = row
    body = rest[0] if len(rest) == 7 else ""
    token = world[1][5]["Authorization"].removeprefix("Bearer ")  # an administrator's: all would be allowed
    cookie = {"Cookie": f"{COOKIE}={token}"}
    foreign = [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
    foreign += [{"Sec-Fetch-Site": "same-site"}, {"Origin": "http://localhost.evil.example"}, {}]

    async def asked() -> list[tuple[int, str]]:
        return [await ask(unchanged, method, address, body, cookie | headers) for headers in foreign]

    assert [status for status, _ in asyncio.run(asked())] == [403] * len(foreign)


def routes(found: list[BaseRoute]) -> Iterator[Route | Mount]:
    """All routes of an application, those of the routers that it includes as well."""
    for route in found:
        if isinstance(route, Route | Mount):
            yield route
        else:
            yield from routes(route.original_router.routes)  # type: ignore[attr-defined]


def test_every_route_is_in_the_table_and_nothing_else(store: Store) -> None:
    known = list(routes(create_app(store).routes))

    def route_of(method: str, address: str) -> tuple[str, str]:
        path = address.partition("?")[0]
        for route in known:
            if route.path_regex.match(path) and (isinstance(route, Mount) or method in (route.methods or ())):
                return method, route.path
        raise AssertionError(f"there is no route {method} {path}")

    there = {
        (method, route.path)
        for route in known
        for method in (("GET",) if isinstance(route, Mount) else (route.methods or set()) - {"HEAD"})
    }
    assert {route_of(method, address) for method, address, *_ in ROWS} == there


def test_a_stream_tells_nobody_of_what_is_anothers(broker: httpx.Client, store: Store) -> None:
    ann, bob = bearer(store, "ann"), bearer(store, "bob")
    broker.post("/v1/subscriptions", json=subscription(id="a"), headers=ann).raise_for_status()
    broker.post("/v1/subscriptions", json=subscription(id="b"), headers=bob).raise_for_status()
    notify(store, "a")
    with listening(broker, "/v1/notifications/stream?after=0", **bob) as messages:
        notify(store, "a")
        notify(store, "b")
        assert next(messages)[1]["subscription"] == "b"
    with listening(broker, "/v1/notifications/stream?after=0", **ann) as messages:
        assert [next(messages)[1]["subscription"] for _ in range(2)] == ["a", "a"]


def test_a_feed_can_be_read_by_its_address_until_that_is_revoked(broker: httpx.Client, store: Store) -> None:
    ann, bob = bearer(store, "ann"), bearer(store, "bob")
    for id_ in ("a", "b"):
        broker.post("/v1/subscriptions", json=subscription(id=id_), headers=ann).raise_for_status()
    made = broker.post("/v1/tokens", json={"feed": "a"}, headers=ann).json()
    assert broker.post("/v1/tokens", json={"feed": "a"}, headers=bob).status_code == 404

    def status(path: str, **headers: str) -> int:
        return broker.get(path, headers=headers).status_code

    assert status(f"/v1/feeds/atom/a?token={made['token']}") == status(f"/v1/feeds/json/a?token={made['token']}") == 200
    told = broker.get(f"/v1/feeds/atom/a?token={made['token']}").text
    assert told.count(made["token"]) == told.count(f"/v1/hub?token={made['token']}") == 1  # the hub takes it, too
    assert status(f"/v1/feeds/atom/b?token={made['token']}") == 401
    assert status("/v1/subscriptions", Authorization=f"Bearer {made['token']}") == 401
    assert status(f"/v1/feeds/atom/a?token={ann['Authorization'].split()[1]}") == 401
    broker.delete("/v1/subscriptions/a", headers=ann)
    broker.post("/v1/subscriptions", json=subscription(id="a"), headers=bob).raise_for_status()
    assert status(f"/v1/feeds/atom/a?token={made['token']}") == 404
    broker.delete(f"/v1/tokens/{made['id']}", headers=ann)
    assert status(f"/v1/feeds/atom/a?token={made['token']}") == 401
