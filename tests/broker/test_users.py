"""Who is let in, and as whom."""

from __future__ import annotations

import asyncio
import io
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.broker.clients import bearer, cloudevent, listening, notify, publish, subscription
from tests.broker.conftest import served
from triplewire.broker.access import gate as gate_module
from triplewire.broker.access.gate import Gate
from triplewire.broker.notifying import notifications
from triplewire.broker.operations.logs import JsonLines
from triplewire.store import Store, moment_of
from triplewire.store import users as users_module
from triplewire.store.records import Bearer
from triplewire.store.rights import SCOPES, USUAL


def test_without_users_whoever_is_on_this_machine_may_do_everything(broker: httpx.Client, store: Store) -> None:
    assert broker.post("/v1/subscriptions", json=subscription()).json()["owner"] == "local"
    store.users.add("ann")
    answer = broker.get("/v1/subscriptions")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.headers["content-type"] == "application/problem+json"
    assert broker.get("/healthz").status_code == broker.get("/metrics").status_code == 200


def test_who_comes_through_a_proxy_on_this_machine_is_not_on_it(broker: httpx.Client) -> None:
    forwarded = {"X-Forwarded-For": "127.0.0.1, 198.51.100.7"}
    assert broker.get("/v1/subscriptions", headers=forwarded).status_code == 401
    assert broker.get("/v1/subscriptions").status_code == 200


def test_a_stream_ends_when_its_user_may_do_less_and_not_before(
    broker: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "LOOK_AGAIN", -1)
    ann, bob = bearer(store, "ann", *SCOPES), bearer(store, "bob")
    broker.post("/v1/subscriptions", json=subscription(), headers=bob).raise_for_status()
    with listening(broker, **ann) as stream, listening(broker, **bob) as own:
        for number in range(1, 21):
            notify(store, "s1")
            assert next(stream)[0] == next(own)[0] == str(number)
        store.users.change("ann", USUAL)
        notify(store, "s1")
        assert (next(own)[0], list(stream)) == ("21", [])


@pytest.mark.parametrize("given", ["Bearer tw_wrong", "Bearer", "Basic YTpi", "tw_wrong", ""])
def test_a_wrong_token_is_refused_even_where_none_is_needed(broker: httpx.Client, given: str) -> None:
    answer = broker.get("/v1/subscriptions", headers={"Authorization": given})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


def test_a_token_is_good_until_it_is_revoked_or_expires(broker: httpx.Client, store: Store) -> None:
    store.users.add("ann")
    yesterday, tomorrow = (moment_of(datetime.now(UTC) + timedelta(days=days)) for days in (-1, 1))
    (good, text), (_, old) = (store.users.issue("ann", expires=moment) for moment in (tomorrow, yesterday))

    def status(token: str) -> int:
        return broker.get("/v1/subscriptions", headers={"Authorization": f"Bearer {token}"}).status_code

    assert (status(text), status(old), status(text.lower()), status(f"{text}x")) == (200, 401, 401, 401)
    store.users.revoke(good.number)
    assert status(text) == 401


def test_what_another_process_changes_of_users_counts_a_second_later(store: Store) -> None:
    """The first user, what a user may do, a token that is made and one that is revoked."""
    time = [0.0]
    gate = Gate(store, loopback=True, clock=lambda: time[0])

    def let_in(token: str | None) -> frozenset[str] | None:
        found = asyncio.run(gate.let_in(token, ""))
        return None if found is None else found.scopes

    with closing(Store(store.url)) as other:
        assert let_in(None) == set(SCOPES)
        other.users.add("ann")
        token, text = other.users.issue("ann")
        time[0] += gate_module.REMEMBERED
        assert (let_in(None), let_in(text)) == (None, set(USUAL))
        for change, then in (
            (lambda: other.users.change("ann", ["publish"]), {"publish"}),
            (lambda: other.users.revoke(token.number), None),
        ):
            change()
            let_in(text)
            time[0] += gate_module.REMEMBERED
            assert let_in(text) == then


def test_nobody_is_remembered_who_was_changed_meanwhile(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, ask = Gate(store, loopback=True, clock=lambda: 0.0), store.users.bearer
    store.users.add("ann")
    (first, text), (second, other) = store.users.issue("ann"), store.users.issue("ann")

    def asked(token: str, feed: str | None = None) -> Bearer | None:
        found = ask(token, feed)
        store.users.revoke(first.number)
        return found

    assert asyncio.run(gate.let_in(other, "")) is not None
    monkeypatch.setattr(store.users, "bearer", asked)
    assert asyncio.run(gate.let_in(text, "")) is not None
    assert asyncio.run(gate.let_in(text, "")) is None
    store.users.revoke(second.number)
    assert asyncio.run(gate.let_in(other, "")) is None


def test_who_is_remembered_is_let_in_no_longer_than_their_token_is_good(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.users.add("ann")
    end = moment_of(datetime.now(UTC) + timedelta(hours=1))
    gate, text = Gate(store, loopback=True, clock=lambda: 0.0), store.users.issue("ann", expires=end)[1]
    assert asyncio.run(gate.let_in(text, "")) is not None
    for module in (gate_module, users_module):
        monkeypatch.setattr(module, "now", lambda: end)
    assert asyncio.run(gate.let_in(text, "")) is None


def test_a_token_may_do_no_more_than_its_user_and_its_scopes(broker: httpx.Client, store: Store) -> None:
    ann = bearer(store, "ann", "publish")
    assert publish(broker, cloudevent()).status_code == 401
    broker.headers.update(ann)
    assert publish(broker, cloudevent()).status_code == 202
    answer = broker.get("/v1/subscriptions")
    assert (answer.status_code, "'subscribe'" in answer.json()["detail"]) == (403, True)
    store.users.change("ann", ["subscribe"])
    assert (publish(broker, cloudevent()).status_code, broker.get("/v1/subscriptions").status_code) == (403, 403)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(broker: httpx.Client, store: Store, headers: dict[str, str]) -> None:
    assert broker.post("/v1/subscriptions", json=subscription(), headers=headers).status_code == 403
    turtle = headers | {"Content-Type": "text/turtle"}
    assert broker.post("/v1/events", content="<urn:a> <urn:b> <urn:c> .", headers=turtle).status_code == 403
    assert (store.last_position(), store.subscriptions()) == (0, [])
    own = {"Origin": str(broker.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert broker.post("/v1/subscriptions", json=subscription(), headers=own).status_code == 201


def test_an_id_that_changes_hands_takes_nothing_along(broker: httpx.Client, store: Store) -> None:
    ann, bob = bearer(store, "ann"), bearer(store, "bob")
    for headers in (ann, bob):
        assert broker.post("/v1/subscriptions", json=subscription(), headers=headers).status_code == 201
        notify(store, "s1")
        broker.delete("/v1/subscriptions/s1", headers=headers)
    for headers, event in ((ann, "e1"), (bob, "e2")):
        for query in ("", "?subscription=s1"):
            [found] = broker.get(f"/v1/notifications{query}", headers=headers).json()["items"]
            assert (found["event"], found["sequence"]) == (event, 1)


def test_a_token_makes_and_revokes_none_that_may_do_more_than_itself(broker: httpx.Client, store: Store) -> None:
    whole, small = bearer(store, "ann"), bearer(store, "ann", "publish")
    other = bearer(store, "bob")

    def issue(headers: dict[str, str], **asked: object) -> httpx.Response:
        return broker.post("/v1/tokens", json=asked, headers=headers)

    assert issue(small).json()["scopes"] == ["publish"]
    assert issue(small, scopes=["subscribe"]).status_code == 403
    assert issue(whole, scopes=["admin"]).status_code == 403
    assert issue(whole, user="bob").status_code == 403
    short = issue(whole, name="short", expires="2099-01-01T00:00:00+01:00").json()
    assert (short["name"], short["expires"]) == ("short", "2098-12-31T23:00:00.000Z")
    again = issue({"Authorization": f"Bearer {short['token']}"}, expires="2199-01-01T00:00:00Z").json()
    assert again["expires"] == short["expires"]
    statuses = [
        broker.delete(f"/v1/tokens/{short['id']}", headers=headers).status_code for headers in (other, small, whole)
    ]
    assert statuses == [404, 403, 200]
    assert {one["user"] for one in broker.get("/v1/tokens", headers=other).json()["items"]} == {"bob"}


def test_an_administrator_makes_users_and_shuts_them_out(broker: httpx.Client, store: Store) -> None:
    root = bearer(store, "root", "admin")
    assert broker.post("/v1/users", json={"name": "ann"}, headers=root).json()["scopes"] == ["publish", "subscribe"]
    assert broker.post("/v1/users", json={"name": "ann"}, headers=root).status_code == 409
    text = broker.post("/v1/tokens", json={"user": "ann"}, headers=root).json()["token"]
    ann = {"Authorization": f"Bearer {text}"}
    assert broker.get("/v1/users/ann", headers=ann).json()["name"] == "ann"
    assert (
        broker.get("/v1/users", headers=ann).status_code,
        broker.get("/v1/users/root", headers=ann).status_code,
    ) == (
        403,
        404,
    )
    assert broker.patch("/v1/users/ann", json={"scopes": []}, headers=root).json()["scopes"] == []
    assert broker.get("/v1/subscriptions", headers=ann).status_code == 403


def test_too_many_wrong_tokens_are_told_to_wait_and_a_good_one_is_not(broker: httpx.Client, store: Store) -> None:
    ann = bearer(store, "ann")
    wrong = [broker.get("/v1/tokens", headers={"Authorization": f"Bearer tw_{n}"}) for n in range(25)]
    assert {answer.status_code for answer in wrong[:20]} == {401}
    assert (wrong[-1].status_code, int(wrong[-1].headers["retry-after"]) > 0) == (429, True)
    assert broker.get("/v1/tokens", headers=ann).status_code == 200


def test_who_signs_in_has_a_cookie_that_only_our_own_pages_can_use(broker: httpx.Client, store: Store) -> None:
    store.users.add("ann")
    store.users.set_password("ann", "correct horse")
    origin = {"Origin": str(broker.base_url).rstrip("/")}

    def sign_in(name: str, password: str, **headers: str) -> httpx.Response:
        return broker.post("/v1/session", json={"name": name, "password": password}, headers=headers)

    for wrong in (("ann", "correct horsf"), ("bob", "")):
        assert (sign_in(*wrong).status_code, len(broker.cookies)) == (401, 0)
    assert sign_in("ann", "correct horse", Origin="https://evil.example").status_code == 403
    given = sign_in("ann", "correct horse").headers["set-cookie"]
    assert all(word in given for word in ("HttpOnly", "SameSite=strict", "Max-Age=43200"))
    assert broker.get("/v1/session").json() == {"name": "ann", "scopes": ["publish", "subscribe"]}
    assert broker.post("/v1/subscriptions", json=subscription()).status_code == 403  # where from, it does not say
    foreign = {"Origin": "https://evil.example"}
    assert broker.post("/v1/subscriptions", json=subscription(), headers=foreign).status_code == 403
    assert broker.post("/v1/subscriptions", json=subscription(), headers=origin).status_code == 201
    kept = dict(broker.cookies)
    assert broker.delete("/v1/session", headers=origin).status_code == 204
    assert (len(broker.cookies), broker.get("/v1/session").status_code) == (0, 401)
    assert httpx.get(f"{origin['Origin']}/v1/session", cookies=kept).status_code == 401


def test_who_signs_in_with_a_token_can_do_what_it_can_and_no_more(broker: httpx.Client, store: Store) -> None:
    store.users.add("ann")
    ends = "2099-01-01T00:00:00.000000Z"
    number, text = store.users.issue("ann", scopes=["subscribe"], expires=ends)
    origin = {"Origin": str(broker.base_url).rstrip("/")}
    for wrong in ("", "tw_wrong"):
        assert broker.post("/v1/session", json={"token": wrong}, headers=origin).status_code == 401
    assert broker.post("/v1/session", json={"token": 1}, headers=origin).status_code == 400
    found = broker.post("/v1/session", json={"token": text}, headers=origin)
    assert (found.status_code, found.json()) == (201, {"name": "ann", "scopes": ["subscribe"]})
    assert broker.get("/v1/sources").status_code == 403
    made = broker.post("/v1/tokens", json={"name": "longer?"}, headers=origin).json()
    assert made["expires"] == ends
    assert broker.delete("/v1/session", headers=origin).status_code == 204
    assert store.users.bearer(text) is not None  # programs that have it go on
    broker.post("/v1/session", json={"token": text}, headers=origin)
    store.users.revoke(number.number)
    assert broker.get("/v1/session").status_code == 401


def test_after_too_many_wrong_passwords_none_is_looked_at(
    broker: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "MOST_FAILURES", 2)
    store.users.add("ann")
    store.users.set_password("ann", "correct horse")
    for number in range(5):  # a program with an old token keeps nobody from signing in
        broker.get("/v1/session", headers={"Authorization": f"Bearer tw_{number}"})
    own = {"Origin": str(broker.base_url).rstrip("/")}
    answers = [
        broker.post("/v1/session", json={"name": "ann", "password": password}, headers=own)
        for password in ("correct horse", "wrong", "wrong", "correct horse")
    ]
    assert [answer.status_code for answer in answers] == [201, 401, 401, 429]
    assert "retry-after" in answers[-1].headers


def test_health_and_metrics_that_are_watched_elsewhere_need_a_token(store: Store) -> None:
    ann = bearer(store, "ann")
    with served(store, watched_elsewhere=True) as address, httpx.Client(base_url=address, timeout=60) as client:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert (client.get(path).status_code, client.get(path, headers=ann).status_code) == (401, 200)


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """Whatever is logged, by us and by those we use, but for what the client of the test tells."""
    out, root = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    levels = {name: logging.getLogger(name).level for name in ("", "triplewire", "uvicorn.access", "sqlalchemy.engine")}
    root.addHandler(handler)
    try:
        for name in levels:
            logging.getLogger(name).setLevel(logging.DEBUG if name == "triplewire" else logging.INFO)
        handler.addFilter(lambda record: record.name != "httpx")
        yield out
    finally:
        root.removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def test_no_secret_is_ever_logged_or_told(store: Store) -> None:
    """All is asked for after secrets of every kind were given, right and wrong; none is in an answer or in the log."""
    secret, other = ("whsec_" + word * 8 for word in ("c2Vj", "b3Ro"))
    wrong = "tw_" + "w" * 40
    with logged() as out, served(store) as address, httpx.Client(base_url=address, timeout=60) as client:
        client.headers.update(bearer(store, "ann", "admin", "subscribe"))
        hook = {"channel": "webhook", "url": "https://example.org/", "secret": secret}
        told = [client.post("/v1/subscriptions", json=subscription(delivery=hook)).text]
        for new in (other, other[:-2] + "!!"):
            told += [client.patch("/v1/subscriptions/s1", json={"delivery": {"secret": new}}).text]
        feed = client.post("/v1/tokens", json={"feed": "s1"}).json()["token"]
        client.get(
            f"/v1/feeds/json/s1?token={feed}"
        ).raise_for_status()  # it names the hub, to those who have the token
        told += [client.get("/v1/tokens", headers={"Authorization": f"Bearer {wrong}"}).text]
        told += [client.get(f"/v1/feeds/json/s1?token={wrong}").text]
        notify(store, "s1")
        for (
            name
        ) in "subscriptions subscriptions/s1 deliveries deliveries/s1 endpoints notifications users tokens".split():
            told += [client.get(f"/v1/{name}").text]
        told += [client.get(path).text for path in ("/", "/metrics", "/healthz", "/readyz", "/openapi.json")]
        mine = client.headers["Authorization"].split()[1]
    assert '"/v1/feeds/json' in out.getvalue()
    for text in (*told, *out.getvalue().splitlines()):
        assert not [one for one in (secret, other, other[:-2], feed, wrong, mine) if one in text], text
    with closing(sqlite3.connect(store.url.removeprefix("sqlite:///"))) as database:
        kept = "".join(database.iterdump())
    assert not [one for one in (feed, wrong, mine) if one in kept]


@pytest.mark.parametrize("path", ["/static/page.css", "/static/none", "/none", "/v1/tokens", "/healthz", "/"])
def test_every_answer_has_the_security_headers(broker: httpx.Client, store: Store, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer tw_wrong"}, {"Host": "evil.example"}):
        answer = broker.get(path, headers=headers)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_whoever_changes_something_is_noted(broker: httpx.Client, store: Store) -> None:
    store.users.add("ann")
    store.users.add("root", ["admin"])
    made = broker.post("/v1/subscriptions", json=subscription(), headers=bearer(store, "ann"))
    assert made.status_code == 201
    listed = broker.get("/v1/audit", params={"kind": "subscription"}, headers=bearer(store, "root")).json()["items"]
    assert [(one["who"], one["id"], one["what"]) for one in listed] == [("ann", "s1", "created")]
