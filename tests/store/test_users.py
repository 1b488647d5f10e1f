"""Users and tokens in either kind of database, and whose a notification is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triplewire.errors import UsageError
from triplewire.store import Outcome, Store, Webhook
from triplewire.store.rights import ADMIN, SCOPES

OWNERS = ("ann", "bob")


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with closing(Store(store_url)) as store:
        yield store


def test_a_token_is_good_for_what_both_it_and_its_user_may_do(store: Store) -> None:
    for most in ((), ("publish",), ("publish", "subscribe"), (ADMIN,), SCOPES):
        name = "-".join(most) or "none"
        store.users.add(name, SCOPES)
        _, text = store.users.issue(name, scopes=("publish", "ontology"))
        store.users.change(name, most)
        found = store.users.bearer(text)
        assert found is not None
        wanted = {"publish", "ontology"}
        assert found.scopes == (wanted if ADMIN in most else wanted & set(most))


def test_a_user_has_so_many_tokens_and_those_that_long_ended_are_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.store.users.MOST_TOKENS", 3)
    store.users.add("ann")
    store.users.issue("ann", expires="2026-01-01T00:00:00.000000Z")
    numbers = [store.users.issue("ann")[0].number for _ in range(3)]
    with pytest.raises(UsageError, match="revoke some"):
        store.users.issue("ann")
    store.users.revoke(numbers[0])
    store.users.issue("ann")
    assert [token.number for token in store.users.tokens("ann")] == [*numbers, numbers[-1] + 1]


def test_names_are_taken_once_and_case_counts(store: Store) -> None:
    for name in ("ann", "Ann", "urn:ann"):
        store.users.add(name)
    with pytest.raises(UsageError, match="already"):
        store.users.add("ann")
    assert [user.name for user in store.users.listed()] == ["Ann", "ann", "urn:ann"]


Step = st.sampled_from(["event", "event told by another", "event told at the second try", *OWNERS, "end"])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(Step, min_size=3, max_size=25))
def test_a_notification_is_theirs_who_had_the_subscription_at_the_event(store: Store, steps: list[str]) -> None:
    """An id changes hands at random; after each event the one who has it is told, and nobody else, from 1 on.

    Whoever writes remembers whose it is and the last number, as long as nothing else is written, and all is.
    """
    another = Store(store.url)
    id_ = f"s{store.last_change()}-{store.last_position()}"
    has: str | None = None
    told: dict[str, list[str]] = {owner: [] for owner in OWNERS}
    for step in steps:
        if step.startswith("event"):
            event = f"e{store.last_position() + 1}"
            [position] = store.append([("source", event, "{}")])
            if has is not None:
                found = [Outcome(position, event, id_, 1.0, "[]")]
                if step.endswith("try"):
                    with pytest.raises(ZeroDivisionError):
                        store.record(found, [], position, offers=(1 // 0 for _ in "x"))
                (another if step.endswith("another") else store).record(found, [], position)
                told[has].append(event)
        elif step == "end" and has is not None:
            store.unsubscribe(id_)
            has = None
        elif step in OWNERS and has is None:
            store.subscribe({"id": id_, "pattern": json.dumps(step)}, step)
            has = step
    another.close()
    for owner in OWNERS:
        theirs = store.notifications(subscription=id_, owner=owner)
        assert [(one.event, one.sequence) for one in theirs] == [(e, n) for n, e in enumerate(told[owner], 1)]
    everybody = [one.event for one in store.notifications(subscription=id_)]
    assert sorted(everybody) == sorted(told["ann"] + told["bob"])


def test_nothing_is_sent_to_or_read_for_who_is_shut_out_until_they_may_again(store: Store) -> None:
    store.users.add("ann")
    for owner in ("ann", "nobody we know"):
        store.subscribe({"id": owner}, owner, Webhook("https://a.example/", "whsec_x"))
        store.sources.add(owner, "https://a.example/feed")
    store.append([("source", "e1", "{}"), ("source", "e2", "{}"), ("source", "e3", "{}")])
    outcomes = [Outcome(1, "e1", owner, 1.0, "[]") for owner in ("ann", "nobody we know")]
    store.record(outcomes, [], 2)
    store.record([], [], 3)

    def served() -> tuple[set[str], set[str]]:
        sent = {one.owner for one in store.deliveries.due(datetime.now(UTC))}
        return sent, {one.owner for one in store.sources.due("9999")}

    everybody = {"ann", "nobody we know"}
    assert served() == (everybody, everybody)
    for scopes, sent, read in [((), False, False), (("publish",), False, True), (("subscribe",), True, False)]:
        store.users.change("ann", scopes)
        assert served() == (everybody if sent else {"nobody we know"}, everybody if read else {"nobody we know"})
    store.users.change("ann", ("admin",))
    assert served() == (everybody, everybody)
    store.users.change("ann", ())
    store.unsubscribe("nobody we know")
    assert store.trim(datetime.now(UTC)) == 2, "whoever is shut out does not keep the log from being cut"
    assert store.deliveries.of(["ann"])["ann"].undelivered == 1
