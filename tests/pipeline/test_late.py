"""A store that others keep locked: whoever matches waits for it, and loses nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.test_stream import catch_up, streaming
from tests.pipeline.world import broken, cheaper, eventually, notified, offer
from triplewire.errors import StoreError
from triplewire.store import Store, store_url

HASTY = "?timeout=0.1"
"""In an address: nobody waits for a lock any longer than that."""


@contextmanager
def locked(path: Path, alone: bool = False) -> Iterator[None]:
    """Somebody writes for as long as the block takes. ``alone``, others cannot even read it."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    if alone:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def is_waited_for(caplog: pytest.LogCaptureFixture) -> bool:
    return "cannot be used yet, and is waited for" in caplog.text


def test_a_stream_waits_for_a_store_that_is_locked_when_it_starts_and_when_it_writes(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = store_url(tmp_path)
    store = Store(url)
    store.subscribe(cheaper("a", 150, "Desktop"))
    store.append([offer(1), broken(2)])
    store.close()

    with locked(tmp_path / "triplewire.db", alone=True):
        with pytest.raises(StoreError, match="locked"):
            Store(url + HASTY)
        hasty = []
        opening = Thread(target=lambda: hasty.append(Store(url + HASTY, patient=True)))
        opening.start()
        eventually(lambda: is_waited_for(caplog))
        assert hasty == []
    opening.join()
    [late] = hasty
    caplog.clear()

    with streaming(spark, late, tmp_path) as query:
        catch_up(query, late)
        late.append([offer(3), broken(4)])
        with locked(tmp_path / "triplewire.db"):
            eventually(lambda: is_waited_for(caplog))
            assert query.isActive
            with pytest.raises(StoreError, match="locked"):
                Store(url + HASTY).append([offer(5)])
        late.append([offer(5)])
        catch_up(query, late)
    assert notified(late) == [(1, "a"), (3, "a"), (5, "a")]
    assert [letter.position for letter in late.dead_letters()] == [2, 4]
    late.close()
