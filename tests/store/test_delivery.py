"""Deliveries: numbers without gaps, a mark that only moves when it should, and secrets that are not told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from triplewire.errors import UsageError
from triplewire.store import Attempt, Outcome, Portion, Store, Webhook
from triplewire.store import store_url as embedded

HOOK = Webhook("https://a.example/", "whsec_one")


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = Store(store_url)
    yield opened
    opened.close()


def tell(store: Store, *subscriptions: str) -> int:
    [position] = store.append([("source", str(store.last_position() + 1), "{}")])
    store.record([Outcome(position, str(position), one, 1.0, "[]") for one in subscriptions], [], position)
    return position


def attempt(store: Store, subscription: str, number: int, moment: str = "2026-01-01", reason: str = "") -> Attempt:
    return Attempt(store.deliveries.of([subscription])[subscription], number, moment, moment, reason)


def waiting(store: Store, subscription: str = "s") -> list[int]:
    delivery = store.deliveries.of([subscription])[subscription]
    [found] = store.deliveries.waiting([Portion(delivery, 100)])
    return [one.number for one in found]


def due(store: Store, day: str) -> list[tuple[str, str]]:
    found = store.deliveries.due(datetime.fromisoformat(f"{day}T00:00:00Z"))
    return [(one.subscription, one.url) for one in found]


pairs = st.tuples(st.integers(1, 6), st.sampled_from(["e", "f"]), st.sampled_from(["a", "b", "c"]))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(pairs, max_size=12), max_size=4), st.data())
def test_the_numbers_of_each_subscription_have_no_gaps_however_often_a_batch_is_written(
    tmp_path: Path, batches: Sequence[list[tuple[int, str, str]]], data: st.DataObject
) -> None:
    store = Store(embedded(Path(mkdtemp(dir=tmp_path))))
    first = 0
    for batch in batches:
        store.append([("source", f"{first + place}", "{}") for place in range(1, 7)])
        outcomes = [Outcome(first + place, event, one, 1.0, "[]") for place, event, one in batch]
        for _ in range(data.draw(st.integers(1, 3))):
            store.record(data.draw(st.permutations(outcomes)), [], first + 6)
        first += 6
    for one in ("a", "b", "c"):
        found = store.notifications(limit=1000, subscription=one)
        assert [n.sequence for n in found] == list(range(1, len(found) + 1))
        assert [n.position for n in found] == sorted(n.position for n in found)
    store.close()


def test_what_is_told_after_a_webhook_is_set_up_waits_until_it_is_received(store: Store) -> None:
    store.subscribe({"id": "s"}, webhook=HOOK)
    assert due(store, "2026-01-01") == []
    for _ in range(3):
        tell(store, "s")
    tell(store, "other")
    assert due(store, "2026-01-01") == [("s", HOOK.url)]
    assert (waiting(store), store.deliveries.pending(["s", "other"])) == ([1, 2, 3], {"s": 3})
    [now] = store.deliveries.settle([attempt(store, "s", 1)])
    assert now is not None
    assert (now.last, now.delivered, now.sent, now.last_success) == (1, 1, 1, "2026-01-01")
    assert waiting(store) == [2, 3]


def test_a_failure_says_since_when_and_why_and_a_success_forgets_it(store: Store) -> None:
    store.subscribe({"id": "s"}, webhook=HOOK)
    tell(store, "s")
    for moment in ("2026-01-01", "2026-01-02"):
        [now] = store.deliveries.settle([attempt(store, "s", 1, moment, "503")])
    assert now is not None
    assert (now.failing_since, now.reason, now.attempts, now.sent, now.delivered) == ("2026-01-01", "503", 2, 2, 0)
    assert due(store, "2025-12-31") == []
    assert due(store, "2026-01-02") == [("s", HOOK.url)]
    [now] = store.deliveries.settle([attempt(store, "s", 1, "2026-01-03")])
    assert now is not None
    assert (now.failing_since, now.reason, now.attempts, now.sent, now.delivered) == (None, "", 0, 3, 1)


def test_what_is_moved_or_paused_while_something_is_under_way_stays_so(store: Store) -> None:
    store.subscribe({"id": "s"}, webhook=HOOK)
    for _ in range(3):
        tell(store, "s")
    store.deliveries.settle([attempt(store, "s", 1), attempt(store, "s", 2)][:1])
    under_way = attempt(store, "s", 2)
    store.deliveries.move("s", 1)
    store.pause("s")
    [now] = store.deliveries.settle([under_way])
    assert now is not None
    assert (now.last, now.state) == (0, "paused")
    assert due(store, "2027-01-01") == []
    store.pause("s", False)
    assert (due(store, "2027-01-01"), waiting(store)) == ([("s", HOOK.url)], [1, 2, 3])
    store.deliveries.move("s", 3)
    assert waiting(store) == [3]
    store.deliveries.move("s", 99)
    assert waiting(store) == []
    with pytest.raises(UsageError, match="nothing is delivered"):
        store.deliveries.move("t", 1)


def test_an_attempt_on_an_address_that_is_given_up_changes_nothing(store: Store) -> None:
    store.subscribe({"id": "s"}, webhook=HOOK)
    tell(store, "s")
    late = attempt(store, "s", 1)
    store.deliveries.put("s", Webhook("https://b.example/", HOOK.secret), "")
    assert store.deliveries.settle([late]) == [None]
    assert waiting(store) == [1]
    store.unsubscribe("s")
    assert (store.deliveries.of(["s"]), store.deliveries.listed(0, 9)) == ({}, [])


def test_a_replaced_secret_is_good_for_a_while_and_none_is_printed(store: Store) -> None:
    store.subscribe({"id": "s"}, webhook=HOOK)
    store.deliveries.put("s", Webhook(HOOK.url, "whsec_two"), "2026-02-01")
    assert store.deliveries.of(["s"], "2026-01-31")["s"].secrets == ("whsec_two", "whsec_one")
    found = store.deliveries.of(["s"], "2026-02-01")["s"]
    assert found.secrets == ("whsec_two",)
    assert "whsec" not in f"{found} {HOOK} {attempt(store, 's', 1)}"


def test_nobody_is_sent_what_was_told_to_an_earlier_owner_of_the_id(store: Store) -> None:
    store.subscribe({"id": "s"}, "ann")
    first = tell(store)
    store.unsubscribe("s")
    store.subscribe({"id": "s"}, "bob", HOOK)
    store.record([Outcome(first, "1", "s", 1.0, "[]")], [], first)  # the pipeline is late
    tell(store, "s")
    assert (waiting(store), store.deliveries.pending(["s"])) == ([2], {"s": 1})
    store.deliveries.move("s", 1)
    assert waiting(store) == [2]


def test_an_endpoint_is_all_that_goes_to_one_address(store: Store) -> None:
    for one in "ab":
        store.subscribe({"id": one}, webhook=HOOK)
    store.subscribe({"id": "c"}, webhook=Webhook("https://c.example/", "whsec_c"))
    tell(store, "a", "b", "c")
    tell(store, "a")
    store.deliveries.settle([attempt(store, "a", 1), attempt(store, "b", 1, reason="no answer")])
    a, c = store.deliveries.endpoints()
    assert (a.url, a.subscriptions, a.failing, a.delivered, a.sent, a.pending) == (HOOK.url, 2, 1, 1, 2, 2)
    assert (a.failing_since, a.reason, a.last_success) == ("2026-01-01", "no answer", "2026-01-01")
    assert (c.subscriptions, c.failing, c.pending, c.failing_since, c.reason) == (1, 0, 1, None, "")


def test_what_came_of_many_attempts_is_written_in_as_many_statements_as_of_two(store: Store) -> None:
    names = [f"s{n}" for n in range(20)]
    for name in names:
        store.subscribe({"id": name}, webhook=HOOK)
    tell(store, *names)
    statements: list[str] = []
    counts = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    for several in (names[:2], names[2:]):
        reasons = ["" if n % 2 else "no answer" for n in range(len(several))]
        attempts = [attempt(store, name, 100, reason=why) for name, why in zip(several, reasons, strict=True)]
        event.listen(Engine, "before_cursor_execute", note)
        stand = store.deliveries.settle(attempts)
        event.remove(Engine, "before_cursor_execute", note)
        counts.append(len(statements))
        statements.clear()
        assert [one.reason for one in stand if one is not None] == reasons
        assert [one.delivered for one in stand if one is not None] == [not why for why in reasons]
    assert counts[0] == counts[1]


def test_what_is_due_is_found_without_reading_subscriptions_that_are_not_delivered(tmp_path: Path) -> None:
    plans: list[list[str]] = []

    def explained(connection: Any, _: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if "notifications" in statement and not statement.startswith("EXPLAIN"):
            plans.append([row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)])

    with closing(Store(embedded(tmp_path))) as store:
        event.listen(store._database._engine, "before_cursor_execute", explained)
        assert store.deliveries.due(datetime.now(UTC)) == []
    [plan] = plans
    assert any("revisions_by_id" in step for step in plan) and not any("revisions_by_until" in step for step in plan)
