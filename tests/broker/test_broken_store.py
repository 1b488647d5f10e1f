"""A store that cannot be used."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.broker.clients import cloudevent, publish


@pytest.mark.usefixtures("store")
def test_every_request_that_needs_the_store_is_answered_with_a_problem(broker: httpx.Client, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "triplewire.db") as connection:
        for table in ("events", "notifications", "revisions"):
            connection.execute(f"DROP TABLE {table}")
    connection.close()
    addresses = ("/healthz", "/v1/notifications", "/v1/notifications/stream", "/v1/subscriptions/s1", "/")
    for answer in (*map(broker.get, addresses), publish(broker, cloudevent())):
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert str(tmp_path) not in answer.text


def test_a_database_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "triplewire.db").write_bytes(b"something else\n" * 1000)
    command = [sys.executable, "-m", "triplewire", "serve", "--home", str(tmp_path), "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    told = [line for line in (ended.stdout + ended.stderr).splitlines() if "running as root" not in line]
    assert len(told) == 1
    assert told[0].endswith("triplewire.db: file is not a database")
