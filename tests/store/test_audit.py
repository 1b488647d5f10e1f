"""Audit: whatever is changed, by whatever way, is noted in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pyoxigraph import NamedNode
from sqlalchemy import event

from triplewire.concepts.proposed import Proposal
from triplewire.store import ACTOR, Outcome, Store, Webhook
from triplewire.subscriptions.profiles import Person

CHANGED = {"revisions", "ontologies", "proposals", "users", "tokens", "people", "mailboxes"}
"""What nothing but somebody's change writes to; deliveries are also written to as they go on."""


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = Store(store_url)
    yield opened
    opened.close()


@pytest.fixture
def ann() -> Iterator[str]:
    """Whoever is at work."""
    before = ACTOR.set("ann")
    yield "ann"
    ACTOR.reset(before)


@pytest.fixture
def unnoted(store: Store) -> list[set[str]]:
    """The tables that were changed in transactions in which nothing was noted."""
    written: set[str] = set()
    found: list[set[str]] = []
    engine = store._database._engine

    @event.listens_for(engine, "after_execute")
    def _written(_connection: Any, clause: Any, *_: Any) -> None:
        if getattr(clause, "is_dml", False):
            written.add(clause.table.name)

    @event.listens_for(engine, "commit")
    def _committed(_connection: Any) -> None:
        if written & CHANGED and "audit" not in written:
            found.append(set(written))
        written.clear()

    return found


def proposal(word: str) -> Proposal:
    return Proposal(NamedNode(f"urn:x:{word}"), word, NamedNode("urn:x:under"), NamedNode("urn:x:Music"))


@pytest.mark.usefixtures("ann")
def test_every_change_is_noted_with_who_made_it(store: Store, unnoted: list[set[str]]) -> None:
    store.users.add("bob")
    store.users.change("bob", ["publish"])
    store.users.set_password("bob", "secret")
    token, _ = store.users.issue("bob")
    store.users.revoke(token.number)
    store.subscribe({"id": "s"}, "bob", Webhook("https://a.example/", "whsec_x"))
    store.revise({"id": "s", "v": 1})
    store.amend("s", lambda record: record | {"v": 2})
    store.pause("s")
    store.pause("s", False)
    store.deliveries.put("s", Webhook("https://b.example/", "whsec_y"), "")
    store.append([("source", "1", "{}")])
    store.record([Outcome(1, "1", "s", 1.0, "[]")], [], 1)
    store.deliveries.move("s", 1)
    store.deliveries.remove("s")
    store.unsubscribe("s")
    store.put_ontology([{"name": "a.ttl", "media_type": "text/turtle", "text": ""}], "carl")
    store.propose([proposal("pop"), proposal("jazz")], "dora", "s")
    store.reject(1, "carl")
    store.accept(2, "carl")
    store.people.put(Person("eve"))
    store.people.decline("eve")
    asked = store.mailboxes.ask("bob", "bob@example.org", datetime.now(UTC))
    store.mailboxes.confirm(str(asked), datetime.now(UTC))
    assert unnoted == []
    noted = store.audit(limit=1000)
    assert {(c.who, c.kind, c.id, c.what) for c in noted} >= {
        ("ann", "user", "bob", "created"),
        ("ann", "token", "1", "issued to bob"),
        ("ann", "token", "1", "revoked"),
        ("ann", "subscription", "s", "created"),
        ("ann", "subscription", "s", "changed"),
        ("ann", "delivery", "s", "repeated from position 1"),
        ("ann", "subscription", "s", "deleted"),
        ("carl", "ontology", "1", "created"),
        ("dora", "proposal", "1", "made"),
        ("carl", "proposal", "1", "rejected"),
        ("carl", "proposal", "2", "accepted"),
        ("ann", "profile", "eve", "changed"),
    }
    assert [c.number for c in noted] == sorted(c.number for c in noted)
    assert {c.kind for c in store.audit(kind="token")} == {"token"}
    assert [c.what for c in store.audit(who="dora")] == ["made", "made"]
    assert "secret" not in str(noted)
    assert "whsec" not in str(noted)


def test_a_change_that_fails_is_not_noted(store: Store) -> None:
    store.subscribe({"id": "s"})
    before = store.audit()
    with pytest.raises(ZeroDivisionError):
        store.amend("s", lambda record: {"v": 1 / 0})
    assert store.audit() == before
