"""The store: the log, who listens from where, and results that may be written twice."""

import socket
import threading
import time
from contextlib import ExitStack, closing
from random import Random

import pytest
from sqlalchemy import create_engine

from tests.postgres import PASSWORD
from triplewire.errors import StoreAwayError, StoreError, UsageError
from triplewire.store import DeadLetter, Outcome, Store, patiently
from triplewire.store import store_url as embedded
from triplewire.store.holders import _last_number


@pytest.fixture
def store(store_url):
    opened = Store(store_url)
    yield opened
    opened.close()


def event(id_):
    return ("source", id_, "{}")


def test_positions_grow_and_a_known_event_keeps_its_own(store):
    assert store.append([event("1"), event("2"), event("1")]) == [1, 2, 1]
    assert store.append([event("2"), event("3")])[0] == 2
    assert [e.id for e in store.events(0, 99)] == ["1", "2", "3"]


def test_a_glance_tells_what_a_look_would(store, store_url):
    """Of what another process wrote as well, from the first notification on."""
    assert store.look() == 0
    with closing(Store(store_url)) as other:
        for count in range(3):
            assert _glance(store, count) == count
            other.append([event(str(count))])
            other.record([Outcome(count + 1, str(count), "s", 1.0, "[]")], [], count + 1)
        assert _glance(store, 3) == 3
        assert store.at_a_glance(1, 1) == (None if "postgresql" in store_url else store.notifications(1, 1))


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_bell_that_was_cut_off_is_missed_by_nobody_and_rings_again(store, store_url):
    store.look()
    with closing(Store(store_url)) as other:
        for count in range(2):
            _cut_off(other)
            other.append([event(str(count))])
            other.record([Outcome(count + 1, str(count), "s", 1.0, "[]")], [], count + 1)
            assert _glance(store, None) is None, "it is time to look"
            assert store.look() == count + 1
            assert store.glance() == count + 1


def _glance(store: Store, number: int | None) -> int | None:
    """What a glance tells once it can tell this: a server takes a moment."""
    deadline = time.monotonic() + 10
    while (found := store.glance()) != number and time.monotonic() < deadline:
        if found is None:
            store.look()
    return found


def _cut_off(store: Store) -> None:
    """Have the server end the connections that listen, and wait until they have ended."""
    listening = "SELECT pid FROM pg_stat_activity WHERE query ~ '^LISTEN' AND datname = current_database()"
    with store._reading() as connection:
        connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid, 10000) FROM ({listening}) AS those")


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_connections_that_the_server_has_ended_are_replaced_before_they_are_used(store, store_url):
    with store._reading() as one, store._reading() as another:
        assert one.exec_driver_sql("SELECT 1").scalar() == another.exec_driver_sql("SELECT 1").scalar()
    with closing(Store(store_url)) as other, other._reading() as connection:
        others = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        ended = f"SELECT count(pg_terminate_backend(pid, 10000)) FROM ({others}) AS those"
        assert connection.exec_driver_sql(ended).scalar() == 2
    assert store.append([event("1")]) == [1]
    with store._reading() as one, store._reading() as another:
        assert one.exec_driver_sql("SELECT 1").scalar() == another.exec_driver_sql("SELECT 1").scalar()


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


def test_of_many_who_replace_the_ontology_that_they_saw_one_does(store, store_url):
    seen = store.put_ontology([])
    begin, refused = threading.Barrier(4), []

    def unchanged(current):
        if current.version != seen.version:
            raise UsageError("it is another one by now")

    def replace(number):
        with closing(Store(store_url)) as own:
            document = {"name": "a.ttl", "media_type": "text/turtle", "text": f"# {number}"}
            begin.wait()
            try:
                own.put_ontology([document], check=unchanged)
            except UsageError:
                refused.append(number)

    threads = [threading.Thread(target=replace, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), len(store.ontologies())) == (3, 2)


def test_whoever_follows_the_log_sees_all_of_many_writers_in_order(store, store_url):
    """A position must not be seen before those below it: who reads on from there would never see them."""

    def publish(name):
        own = Store(store_url)
        for i in range(10):
            own.append([event(f"{name}-{i}-{j}") for j in range(3)])
            own.record([Outcome(1, f"{name}-{i}", "s", 1.0, "[]")], [], 0)
            own.put_ontology([{"name": "a.ttl", "media_type": "text/turtle", "text": f"# {name} {i}"}])
        own.close()

    threads = [threading.Thread(target=publish, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    events, told, last = [], [], False
    while not last:
        last = not any(thread.is_alive() for thread in threads)
        events += [e.position for e in store.events(events[-1] if events else 0, store.last_position())]
        told += store.notifications(told[-1].number if told else 0, 1000)
    assert events == [e.position for e in store.events(0, 1000)]
    assert (len(events), len(told)) == (120, 40)
    assert [n.sequence for n in told] == list(range(1, 41))
    assert [o.version for o in store.ontologies()] == list(range(1, 41))


def test_a_database_that_is_killed_keeps_what_was_accepted_and_is_found_again(postgresql):
    accepted, ended = [], threading.Event()

    def publish(url):
        store, number = Store(url), 0
        while not ended.is_set():
            try:
                [position] = store.append([event(str(number))])
                accepted.append((position, str(number)))
                number += 1
            except StoreError:
                continue  # it may be there or not; the same again makes sure
        store.close()

    with postgresql.database() as url:
        writer = threading.Thread(target=publish, args=(url,))
        writer.start()
        for _ in range(2):
            before = len(accepted)
            while len(accepted) < before + 20:
                assert writer.is_alive()
            postgresql.kill()
            postgresql.start()
        ended.set()
        writer.join()
        with closing(Store(url)) as store:
            found = [(e.position, e.id) for e in store.events(0, 1 << 40)]
    assert len(accepted) >= 40
    assert found[: len(accepted)] == accepted
    assert len(found) <= len(accepted) + 1


def test_what_a_database_was_killed_in_the_midst_of_is_done_again(postgresql):
    lives = iter(["killed", "well"])

    def work():
        with store._writing() as connection:
            if next(lives) == "killed":
                postgresql.kill()
                postgresql.start()
            return connection.exec_driver_sql("SELECT 7").scalar()

    with postgresql.database() as url, closing(Store(url, patient=True)) as store:
        assert patiently(work) == 7
    assert list(lives) == []


def test_who_leaves_waits_no_longer_for_somebody_who_keeps_the_store_locked(store, store_url):
    refused = []

    def write():
        try:
            store.append([event("1")])
        except StoreError as error:
            refused.append(error)

    writer = threading.Thread(target=write)
    with closing(Store(store_url)) as other, other._writing():
        writer.start()
        store.leave()
        writer.join(20)
        assert [type(error) for error in refused] == [StoreAwayError]
    assert store.append([event("1")]) == [1]


def test_what_is_checked_in_the_midst_of_writing_takes_no_connection_of_its_own(store):
    with ExitStack() as others:
        for _ in range(14):  # of the fifteen that there are
            others.enter_context(store._reading())
        store.subscribe({"id": "s"}, check=lambda: store.deliveries.count("local"))
    assert store.subscription("s") is not None


def test_a_server_that_takes_a_connection_and_says_nothing_is_away(monkeypatch):
    monkeypatch.setattr("triplewire.store.database.CONNECTING", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(StoreAwayError, match="timeout") as error:
        Store(f"postgresql://triplewire:{PASSWORD}@127.0.0.1:{silent.getsockname()[1]}/triplewire")
    assert PASSWORD not in str(error.value)


def test_an_embedded_store_is_read_by_its_owner_alone(tmp_path):
    with closing(Store(embedded(tmp_path))) as store:
        store.append([event("1")])
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("triplewire.db", "triplewire.db-wal", "triplewire.db-shm"), 0o600)


def test_any_sign_may_be_in_a_text(store):
    texts = ["a\x00b", "a\U0010ffff0b", "\x00", "\U0010ffff", "\U0010ffff1\x00", "é\n"]
    positions = store.append([("source", text, text) for text in texts])
    assert store.append([("source", text, text) for text in texts]) == positions == [1, 2, 3, 4, 5, 6]
    assert [(e.id, e.body) for e in store.events(0, 9)] == [(text, text) for text in texts]
    assert [e.position for e in store.events_saying(["\x00"], 0, 9)] == [1, 3, 5]
    for text in texts:
        store.subscribe({"id": text})
        store.record([Outcome(1, text, text, 1.0, "[]")], [DeadLetter(1, text)], 1)
        assert [(n.event, n.subscription) for n in store.notifications(subscription=text)] == [(text, text)]
    assert [one.id for one in store.subscriptions()] == texts


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path):
    (tmp_path / "triplewire.db").write_bytes(b"something else\n" * 1000)
    with pytest.raises(StoreError, match=r"triplewire\.db: file is not a database"):
        Store(embedded(tmp_path))


def test_a_store_that_breaks_says_so_when_it_is_read(store, store_url):
    store.append([event("1")])
    engine = create_engine(store_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE events")
        connection.exec_driver_sql("DROP TABLE notifications")
    engine.dispose()
    for read in (store.last_position, store.last_notification, store.notifications, lambda: list(store.events(0, 9))):
        with pytest.raises(StoreError, match=r"no such table|does not exist") as error:
            read()
        assert PASSWORD not in str(error.value)


def test_events_of_a_batch_get_positions_in_order_and_known_ones_keep_theirs(store):
    rng, known = Random(11), {}
    for _ in range(12):
        keys = [(f"s{rng.randrange(3)}", f"é\x00{rng.randrange(700)}") for _ in range(rng.choice([1, 5, 1200]))]
        positions = store.append([(*key, f"{key}") for key in keys])
        for key in dict.fromkeys(keys):
            known.setdefault(key, len(known) + 1)
        assert positions == [known[key] for key in keys]
    found = {(event.source, event.id): event.position for event in store.events(0, store.last_position())}
    assert found == known


def test_a_subscriptions_last_number_is_found_without_reading_what_else_its_owner_was_told(tmp_path):
    with closing(Store(embedded(tmp_path))) as store, store._reading() as connection:
        query = _last_number("s", "ann").compile(connection, compile_kwargs={"literal_binds": True})
        [(*_, plan)] = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}")
    assert "notifications_by_subscription (subscription=?)" in plan
