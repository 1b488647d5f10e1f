"""Who is let in, and as whom."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.broker.clients import bearer, cloudevent, notify, publish, subscription
from triplewire.store import Store, moment_of


def test_without_users_whoever_is_on_this_machine_may_do_everything(broker: httpx.Client, store: Store) -> None:
    assert broker.post("/v1/subscriptions", json=subscription()).json()["owner"] == "local"
    store.users.add("ann")
    answer = broker.get("/v1/subscriptions")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.headers["content-type"] == "application/problem+json"
    assert broker.get("/healthz").status_code == broker.get("/metrics").status_code == 200


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
