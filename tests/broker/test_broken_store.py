"""A store that cannot be used."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event

from tests.broker.clients import cloudevent, notify, publish, subscription
from tests.broker.conftest import served
from tests.postgres import NOBODY, PostgreSQL
from triplewire.store import Store


@pytest.mark.usefixtures("store")
def test_every_request_that_needs_the_store_is_answered_with_a_problem(broker: httpx.Client, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "triplewire.db") as connection:
        for table in ("events", "notifications", "revisions"):
            connection.execute(f"DROP TABLE {table}")
    connection.close()
    assert broker.get("/healthz").json() == {"status": "ok"}  # it lives, and to start it anew would not help
    assert broker.get("/readyz").status_code == 503
    assert "triplewire_store_up 0.0" in broker.get("/metrics").text
    addresses = ("/v1/notifications", "/v1/notifications/stream", "/v1/subscriptions/s1", "/")
    for answer in (*map(broker.get, addresses), publish(broker, cloudevent())):
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert answer.headers["retry-after"] == "1"
        assert str(tmp_path) not in answer.text


@contextmanager
def every_connection(store: Store, statement: str) -> Iterator[None]:
    """Have a statement hold for every connection that is opened meanwhile."""
    engine = store._database._engine

    def say(connection: Any, _: object) -> None:
        connection.execute(statement)
        connection.commit()

    event.listen(engine, "connect", say)
    engine.dispose()
    try:
        yield
    finally:
        event.remove(engine, "connect", say)
        engine.dispose()


def test_a_full_disk_takes_nothing_in_and_loses_nothing(broker: httpx.Client, store: Store) -> None:
    large = {"data": f"# {'x' * 5000}"}
    with store._database.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    accepted: list[tuple[int, str]] = []
    with every_connection(store, f"PRAGMA max_page_count = {pages + 20}"):
        while (answer := publish(broker, cloudevent(f"e{len(accepted) + 1}", **large))).status_code == 202:
            accepted.append((answer.json()["position"], answer.json()["id"]))
        assert (answer.status_code, answer.headers["content-type"]) == (507, "application/problem+json")
        assert "the disk is full, and nothing of this was accepted" in answer.json()["detail"]
        assert answer.headers["retry-after"] == "1"
        batch = [cloudevent(f"b{number}", **large) for number in range(9)]
        assert publish(broker, batch, "application/cloudevents-batch+json").status_code == 507
        assert broker.get("/v1/notifications").status_code == 200
    assert accepted
    assert [(found.position, found.id) for found in store.events(0, 1 << 40)] == accepted
    answer = publish(broker, cloudevent("later"))
    assert (answer.status_code, answer.json()["position"]) == (202, len(accepted) + 1)


@pytest.fixture
def small(postgresql: PostgreSQL, _template: str) -> Iterator[tuple[str, Path]]:
    """The address of a store in PostgreSQL on a small disk, and the folder that the disk is."""
    folder = postgresql.folder / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], check=False).returncode:
        pytest.skip("only root can mount a small disk")
    shutil.chown(folder, NOBODY)
    postgresql.run(f"CREATE TABLESPACE small LOCATION '{folder}'")
    postgresql.run(f"CREATE DATABASE small TEMPLATE {_template} TABLESPACE small")
    yield postgresql.url("small"), folder
    (folder / "ballast").unlink(missing_ok=True)
    postgresql.run("DROP DATABASE small WITH (FORCE)")
    postgresql.run("DROP TABLESPACE small")
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_server_whose_disk_is_full_takes_nothing_in_and_loses_nothing(small: tuple[str, Path]) -> None:
    url, disk = small
    ballast = disk / "ballast"
    ballast.write_bytes(b"\0" * (shutil.disk_usage(disk).free - (2 << 20)))
    accepted: list[str] = []
    with closing(Store(url)) as store, served(store) as address, httpx.Client(base_url=address) as broker:
        data = {"data": f"# {random.Random(1).randbytes(100_000).hex()}"}
        while (answer := publish(broker, cloudevent(f"e{len(accepted)}", **data))).status_code == 202:
            accepted.append(answer.json()["id"])
        assert (answer.status_code, answer.headers["content-type"]) == (507, "application/problem+json")
        ballast.unlink()
        assert publish(broker, cloudevent("later", **data)).status_code == 202
        assert [found.id for found in store.events(0, 1 << 40)] == [*accepted, "later"]
    assert accepted


@pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
def test_a_store_that_cannot_be_written_to_is_still_read(broker: httpx.Client, store: Store) -> None:
    notify(store, "s1")
    read_only = {"sqlite": "PRAGMA query_only = ON", "postgresql": "SET default_transaction_read_only = on"}
    with every_connection(store, read_only[store._database.kind]):
        refused = publish(broker, cloudevent("e2"))
        assert refused.status_code == 503
        assert "the store can only be read now, and nothing of this was accepted" in refused.json()["detail"]
        assert broker.post("/v1/subscriptions", json=subscription()).status_code == 503
        assert [one["event"] for one in broker.get("/v1/notifications").json()["items"]] == ["e1"]
        assert broker.get("/v1/notifications/1/event").status_code == 200
    assert publish(broker, cloudevent("e2")).json()["position"] == 2


def test_a_database_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "triplewire.db").write_bytes(b"something else\n" * 1000)
    command = [sys.executable, "-m", "triplewire", "serve", "--home", str(tmp_path), "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    told = [line for line in (ended.stdout + ended.stderr).splitlines() if "running as root" not in line]
    assert len(told) == 1
    assert told[0].endswith("triplewire.db: file is not a database")
