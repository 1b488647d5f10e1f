"""The store: the log, who listens from where, and results that may be written twice."""

import sqlite3
import threading

import pytest

from triplewire.errors import StoreError, UsageError
from triplewire.store import DeadLetter, Outcome, Store, store_url


@pytest.fixture
def store(tmp_path):
    opened = Store(store_url(tmp_path))
    yield opened
    opened.close()


def event(id_):
    return ("source", id_, "{}")


def test_positions_grow_and_a_known_event_keeps_its_own(store):
    assert store.append([event("1"), event("2"), event("1")]) == [1, 2, 1]
    assert store.append([event("2"), event("3")])[0] == 2
    assert [e.id for e in store.events(0, 99)] == ["1", "2", "3"]


def test_a_subscription_hears_what_comes_after_its_creation_and_nothing_from_its_end_on(store):
    store.append([event("1")])
    assert store.subscribe({"id": "s", "language": "ops"}) == 1
    store.append([event("2"), event("3")])
    assert store.unsubscribe("s") == 4
    store.append([event("4")])
    (revision,) = store.revisions(0, 4)
    assert [p for p in range(1, 5) if revision.covers(p)] == [2, 3]
    assert store.subscription("s") is None


def test_a_revision_takes_over_between_two_events(store):
    store.subscribe({"id": "s", "v": 1})
    store.append([event("1")])
    assert store.revise({"id": "s", "v": 2}) == 1
    store.append([event("2")])
    heard = {p: [r.record["v"] for r in store.revisions(0, 2) if r.covers(p)] for p in (1, 2)}
    assert heard == {1: [1], 2: [2]}


def test_a_record_is_amended_as_it_stands_or_not_at_all(store):
    store.subscribe({"id": "s", "v": 1})
    store.append([event("1")])
    assert store.amend("s", lambda record: record | {"v": record["v"] + 1}) == 1
    assert (store.subscription("s").record, store.subscription("s").since) == ({"id": "s", "v": 2}, 1)
    with pytest.raises(ZeroDivisionError):
        store.amend("s", lambda record: record | {"v": 1 / 0})
    assert store.subscription("s").record["v"] == 2
    with pytest.raises(UsageError, match="no subscription 't'"):
        store.amend("t", dict)


def test_a_batch_needs_only_the_revisions_that_are_valid_in_it(store):
    store.subscribe({"id": "a"})
    store.append([event("1"), event("2")])
    store.unsubscribe("a")
    store.subscribe({"id": "b"})
    store.append([event("3")])
    assert [r.id for r in store.revisions(0, 2)] == ["a"]
    assert [r.id for r in store.revisions(2, 3)] == ["b"]


def test_an_id_is_taken_once_and_unknown_ids_are_named(store):
    store.subscribe({"id": "s"})
    with pytest.raises(UsageError, match="'s' already"):
        store.subscribe({"id": "s"})
    with pytest.raises(UsageError, match="no subscription 't'"):
        store.unsubscribe("t")


def test_writing_results_again_changes_nothing(store):
    store.append([event("1"), event("2")])
    for _ in range(2):
        store.record([Outcome(1, "1", "s", 1.0, "[]")], [DeadLetter(2, "broken")], upto=2)
    assert [(n.position, n.event, n.subscription) for n in store.notifications()] == [(1, "1", "s")]
    assert [(d.position, d.reason, d.id) for d in store.dead_letters()] == [(2, "broken", "2")]
    store.record([], [], upto=1)
    assert store.pipeline_position() == 2


def test_entries_of_one_position_are_told_apart(store):
    store.append([event("1")])
    for _ in range(2):
        store.record([Outcome(1, "1#a", "s", 1.0, "[]"), Outcome(1, "1#b", "s", 1.0, "[]")], [], upto=1)
    assert [(n.position, n.event) for n in store.notifications()] == [(1, "1#a"), (1, "1#b")]


def test_the_same_ontology_again_is_no_new_version(store):
    documents = [{"name": "a.ttl", "media_type": "text/turtle", "text": ""}]
    assert store.put_ontology(documents).version == 1
    store.append([event("1")])
    assert store.put_ontology(documents).version == 1
    newer = store.put_ontology([{**documents[0], "text": "#"}])
    assert (newer.version, newer.since) == (2, 1)


def test_many_writers_at_once_lose_nothing(tmp_path):
    def publish(name):
        own = Store(store_url(tmp_path))
        for i in range(20):
            own.append([event(f"{name}-{i}")])
        own.close()

    threads = [threading.Thread(target=publish, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = Store(store_url(tmp_path))
    assert [e.position for e in store.events(0, 1000)] == list(range(1, 81))
    store.close()


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path):
    (tmp_path / "triplewire.db").write_bytes(b"something else\n" * 1000)
    with pytest.raises(StoreError, match=r"triplewire\.db: file is not a database"):
        Store(store_url(tmp_path))


def test_a_store_that_breaks_says_so_when_it_is_read(tmp_path, store):
    store.append([event("1")])
    with sqlite3.connect(tmp_path / "triplewire.db") as connection:
        connection.execute("DROP TABLE events")
        connection.execute("DROP TABLE notifications")
    connection.close()
    for read in (store.last_position, store.last_notification, store.notifications, lambda: list(store.events(0, 9))):
        with pytest.raises(StoreError, match="no such table"):
            read()
