"""Notifications as a person reads them, against a plain list and a set of what was read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import select, update

from triplewire.store import Notification, Outcome, Store
from triplewire.store.inbox import END, SEARCHED, Wanted
from triplewire.store.tables import exceptions, notifications


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with closing(Store(store_url)) as opened:
        yield opened


def fill(store: Store, count: int, seed: int = 0) -> list[Notification]:
    """Notifications of two owners' subscriptions, a second apart, the newest first."""
    rng = random.Random(seed)
    for id_, owner in (("a", "ann"), ("b", "ann"), ("c", "bob")):
        store.subscribe({"id": id_}, owner)
    store.append([("urn:x", f"e{n}", f'{{"word": "{rng.choice(("Red", "green"))}"}}') for n in range(1, count + 1)])
    store.record([Outcome(n, f"e{n}", rng.choice("abc"), 1.0, "[]") for n in range(1, count + 1)], [], count)
    with store._database.writing() as connection:
        for n in range(1, count + 1):
            moment = f"2026-01-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.000Z"
            connection.execute(update(notifications).where(notifications.c.number == n).values(created=moment))
    return store.inbox.newest(Wanted(), END, count)[0]


def all_of(store: Store, wanted: Wanted, limit: int) -> list[int]:
    numbers: list[int] = []
    before: int | None = END
    while before is not None:
        found, following = store.inbox.newest(wanted, before, limit)
        assert len(found) <= limit
        numbers += [one.number for one in found]
        before = following
    return numbers


def test_what_is_read_is_what_was_marked_whatever_is_marked_and_asked(store: Store) -> None:
    rng = random.Random(7)
    rows = fill(store, 90)
    read: dict[str, set[int]] = {"ann": set(), "root": set()}
    for _ in range(150):
        reader, number = rng.choice(("ann", "root")), rng.randint(1, 90)
        owner = "ann" if reader == "ann" else None
        if rng.random() < 0.05:
            store.inbox.mark_all(reader, number)
            read[reader] |= set(range(1, number + 1))
        else:
            mark = rng.random() < 0.7
            store.inbox.mark(reader, number, mark, owner)
            read[reader] = read[reader] | {number} if mark else read[reader] - {number}
        own = [one for one in rows if owner in (None, one.owner)]
        unread = [one.number for one in own if one.number not in read[reader]]
        assert store.inbox.read(reader, (one.number for one in own)) == {one.number for one in own} - set(unread)
        assert store.inbox.unread(reader, owner) == len(unread)
        assert all_of(store, Wanted(owner, unread_by=reader), rng.randint(1, 40)) == unread
        only = [one.number for one in own if one.subscription == "b" and one.number not in read[reader]]
        assert all_of(store, Wanted(owner, "b", unread_by=reader), 7) == only


def test_text_subscription_and_period_are_searched_together(store: Store) -> None:
    rows = fill(store, 130)
    rng = random.Random(3)
    for _ in range(40):
        since, until = sorted(rng.sample(range(-5, 140), 2))
        text, subscription = rng.choice(("", "red", "E1", "100%")), rng.choice((None, "a", "c"))
        moments = [f"2026-01-01T00:{max(n, 0) // 60:02}:{max(n, 0) % 60:02}.000Z" for n in (since, until)]
        wanted = Wanted(None, subscription, text, None, *moments)
        expected = [
            one.number
            for one in rows
            if subscription in (None, one.subscription)
            and moments[0] <= one.created < moments[1]
            and any(text.lower() in place.lower() for place in (one.event, one.body, one.subscription))
        ]
        assert all_of(store, wanted, rng.randint(1, 50)) == expected


def test_what_somebody_was_told_of_a_subscription_stays_theirs_whoever_has_its_id_now(store: Store) -> None:
    expected: dict[str, list[int]] = {"ann": [], "bob": [], "eve": []}
    for number, owner in enumerate(("ann", "bob", "bob", "ann", "bob"), 1):
        store.subscribe({"id": "a"}, owner)
        [position] = store.append([("urn:x", f"e{number}", "{}")])
        store.record([Outcome(position, f"e{number}", "a", 1.0, "[]")], [], position)
        expected[owner].insert(0, number)
        for who, own in expected.items():
            assert all_of(store, Wanted(who, "a"), 1) == own
            assert all_of(store, Wanted(who, "a", unread_by=who), 10) == own
        store.unsubscribe("a")
    assert all_of(store, Wanted("ann", "a"), 10) == [4, 1]


def test_a_text_is_searched_for_in_so_many_at_a_time_and_found_in_the_end(store: Store) -> None:
    store.subscribe({"id": "a"}, "ann")
    count = SEARCHED + 10
    store.append([("urn:x", f"e{n}", '{"word": "rare"}' if n == 3 else "{}") for n in range(1, count + 1)])
    store.record([Outcome(n, f"e{n}", "a", 1.0, "[]") for n in range(1, count + 1)], [], count)
    found, following = store.inbox.newest(Wanted("ann", text="rare"), END, 20)
    assert (found, following) == ([], 11)
    found, following = store.inbox.newest(Wanted("ann", text="rare"), 11, 20)
    assert ([one.event for one in found], following) == (["e3"], None)


def test_whoever_reads_one_by_one_has_no_exceptions_in_the_end(store: Store) -> None:
    rows = fill(store, 40)
    order = [one.number for one in rows if one.owner == "ann"]
    random.Random(1).shuffle(order)
    for number in order:
        store.inbox.mark("ann", number, owner="ann")
    assert store.inbox.unread("ann", "ann") == 0
    with store._database.reading() as connection:
        assert connection.execute(select(exceptions)).all() == []
