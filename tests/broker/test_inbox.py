"""The inbox over HTTP: whose notifications are in it, and how far they are read."""

from __future__ import annotations

import httpx

from tests.broker.clients import bearer, notify, subscription
from triplewire.store import Store


def test_everybody_reads_for_themselves(broker: httpx.Client, store: Store) -> None:
    ann, bob, root = bearer(store, "ann"), bearer(store, "bob"), bearer(store, "root", "admin")
    for id_, who in (("a", ann), ("b", bob)):
        broker.post("/v1/subscriptions", json=subscription(id=id_), headers=who).raise_for_status()
    for _ in range(3):
        notify(store, "a", "b")

    def listed(who: dict[str, str], **filters: str) -> list[tuple[int, bool]]:
        answer = broker.get("/v1/inbox", params=filters, headers=who).raise_for_status()
        return [(one["id"], one["read"]) for one in answer.json()["items"]]

    def unread(who: dict[str, str]) -> int:
        return int(broker.get("/v1/inbox/unread", headers=who).json()["unread"])

    mine = [number for number, _ in listed(ann)]
    assert listed(ann) == [(number, False) for number in sorted(mine, reverse=True)]
    assert (len(mine), unread(ann), unread(root)) == (3, 3, 6)
    marked = broker.put(f"/v1/inbox/{mine[1]}/read", headers=ann).json()
    assert (marked["read"], marked["unread"]) == (True, 2)
    assert [read for _, read in listed(ann)] == [False, True, False]
    assert [number for number, _ in listed(ann, unread="true")] == [mine[0], mine[2]]
    assert unread(bob) == 3
    assert unread(root) == 6
    broker.post("/v1/inbox/read", params={"upto": mine[0]}, headers=ann).raise_for_status()
    broker.delete(f"/v1/inbox/{mine[2]}/read", headers=ann).raise_for_status()
    assert listed(ann, unread="true") == [(mine[2], False)]
    broker.post("/v1/inbox/read", params={"upto": 1 << 62}, headers=ann).raise_for_status()
    notify(store, "a")
    assert unread(ann) == 1, "what is yet to come cannot be read"


def test_the_inbox_is_searched_and_paged(broker: httpx.Client, store: Store) -> None:
    store.subscribe(subscription())
    for _ in range(12):
        notify(store, "s1")
    events: list[str] = []
    address: str | None = "/v1/inbox?limit=5"
    while address is not None:
        answer = broker.get(address)
        events += [one["event"] for one in answer.json()["items"]]
        address = answer.links["next"]["url"] if "next" in answer.links else None
    assert events == [f"e{number}" for number in range(12, 0, -1)]
    found = broker.get("/v1/inbox", params={"text": "E12", "subscription": "s1"}).json()["items"]
    assert [one["event"] for one in found] == ["e12"]
    assert broker.get("/v1/inbox", params={"since": "2099-01-01T00:00:00"}).json()["items"] == []
    assert len(broker.get("/v1/inbox", params={"until": "2099-01-01T00:00:00+01:00"}).json()["items"]) == 12
    assert broker.get("/v1/inbox", params={"until": "soon"}).status_code == 400


def test_the_log_is_listed_newest_first(broker: httpx.Client, store: Store) -> None:
    for _ in range(7):
        notify(store)
    first = broker.get("/v1/events", params={"limit": 4})
    assert [one["position"] for one in first.json()["items"]] == [7, 6, 5, 4]
    second = broker.get(first.links["next"]["url"]).json()
    assert [(one["position"], one["id"]) for one in second["items"]] == [(3, "e3"), (2, "e2"), (1, "e1")]
    assert second["next"] is None
