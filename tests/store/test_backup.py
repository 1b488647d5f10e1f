"""Backups: of a store that is being written to, from either kind to either kind."""

from __future__ import annotations

import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run
from tests.postgres import PostgreSQL
from triplewire.errors import StoreError, UsageError
from triplewire.store import Outcome, Store, Webhook, backup, restore
from triplewire.store import store_url as embedded


def publish_until(url: str, ended: threading.Event) -> None:
    """A broker and a pipeline: each event is accepted, then told of, in two transactions."""
    with closing(Store(url)) as store:
        while not ended.is_set():
            [position] = store.append([("source", str(store.last_position() + 1), '{"é": "\\u0000"}')])
            store.record([Outcome(position, str(position), "s", 0.5, '[{"?1": "_:a"}]')], [], position)


def test_a_backup_under_load_is_one_moment_and_goes_on_from_there(
    store_url: str, tmp_path: Path, postgresql: PostgreSQL
) -> None:
    ended, file = threading.Event(), tmp_path / "backup.db"
    with closing(Store(store_url)) as store:
        store.put_ontology([{"name": "a.ttl", "media_type": "text/turtle", "text": "# é"}], "ann", "first")
        store.subscribe({"id": "s"}, "ann", Webhook("https://a.example/", "whsec_x"))
        store.users.add("ann")
        writer = threading.Thread(target=publish_until, args=(store_url, ended))
        writer.start()
        while store.last_position() < 5:
            assert writer.is_alive()
        backup(store_url, file)
        ended.set()
        writer.join()
        last = store.last_position()
    (tmp_path / "other").mkdir()
    with postgresql.database() as database:
        for target in (embedded(tmp_path / "other"), database):
            restore(file, target)
            with closing(Store(target)) as made:
                done = made.pipeline_position()
                positions = [event.position for event in made.events(0, 1 << 40)]
                assert positions == list(range(1, len(positions) + 1))
                assert 5 <= len(positions) <= last
                assert done in (len(positions), len(positions) - 1)
                assert [n.position for n in made.notifications(limit=1 << 20)] == list(range(1, done + 1))
                assert [n.sequence for n in made.notifications(limit=1 << 20)] == list(range(1, done + 1))
                assert made.deliveries.of(["s"])["s"].secrets == ("whsec_x",)
                assert made.newest_ontology().documents[0]["text"] == "# é"
                assert made.append([("source", "new", "{}")]) == [len(positions) + 1]
                made.subscribe({"id": "t"})
                assert [one.id for one in made.subscriptions()] == ["s", "t"]
            with pytest.raises(UsageError, match="is not empty"):
                restore(file, target)


def test_a_backup_is_one_file_for_its_owner_and_replaces_none(tmp_path: Path) -> None:
    Store(embedded(tmp_path)).close()
    (tmp_path / "b").mkdir()
    file = tmp_path / "b" / "backup.db"
    backup(embedded(tmp_path), file)
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["backup.db"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="is there already"):
        backup(embedded(tmp_path), file)
    with pytest.raises(StoreError, match="cannot be written"):
        backup(embedded(tmp_path), tmp_path / "nowhere" / "backup.db")


def test_what_is_no_store_is_not_backed_up(tmp_path: Path, postgresql: PostgreSQL) -> None:
    """A wrong folder must not give a good backup of nothing."""
    with postgresql.database() as nothing:
        for url in (embedded(tmp_path), nothing):
            with pytest.raises(UsageError, match="there is no store"):
                backup(url, tmp_path / "backup.db")
    assert list(tmp_path.iterdir()) == []


def test_a_backup_that_is_damaged_is_refused_and_nothing_of_it_restored(tmp_path: Path) -> None:
    with closing(Store(embedded(tmp_path))) as store:
        store.append([("source", str(number), "é" * 400) for number in range(500)])
    backup(embedded(tmp_path), file := tmp_path / "backup.db")
    whole = file.read_bytes()
    middle = len(whole) // 2
    (new := tmp_path / "new").mkdir()
    for damaged in (b"", whole[:middle], whole[:-4096], whole[:middle] + b"U" * 5000 + whole[middle + 5000 :]):
        file.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"backup\.db is damaged, or no backup of a store"):
            restore(file, embedded(new))
    assert list(new.iterdir()) == []


def test_the_commands_restore_into_an_empty_place_only(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    with closing(Store(embedded(old))) as store:
        store.append([("source", "1", "{}")])
    assert run("backup", str(tmp_path / "b"), "--home", str(old)).returncode == 0
    (new / "checkpoint").mkdir(parents=True)
    refused = run("restore", str(tmp_path / "b"), "--home", str(new))
    assert (refused.returncode, "belongs to another store" in refused.stderr) == (2, True)
    (new / "checkpoint").rmdir()
    assert run("restore", str(tmp_path / "b"), "--home", str(new)).returncode == 0
    with closing(Store(embedded(new))) as store:
        assert [event.id for event in store.events(0, 9)] == ["1"]
