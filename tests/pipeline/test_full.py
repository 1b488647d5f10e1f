"""A disk without room: the stream ends and says so, and goes on once there is room again."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.world import cheaper, eventually, expected, notified, offer
from triplewire.errors import DiskFullError
from triplewire.pipeline import snapshots, stream
from triplewire.pipeline.disk import full_disk_named
from triplewire.pipeline.snapshots import Snapshots
from triplewire.store import Store, store_url


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> Path:
    """Leave not a byte; a file that can be removed has them all."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(b"\0" * (64 << 10))
    return ballast


@pytest.mark.parametrize("part", ["store", "checkpoint", "archive"])
def test_a_stream_without_room_ends_by_name_and_loses_nothing(
    spark: SparkSession, tmp_path: Path, disk: Path, part: str
) -> None:
    places = {name: (disk if name == part else tmp_path) / name for name in ("store", "checkpoint", "archive")}
    places["store"].mkdir()
    store = Store(store_url(places["store"]))
    store.subscribe(cheaper("a", 150, "Desktop"))

    def run() -> None:
        query = stream.start_stream(spark, store.url, places["checkpoint"], archive=places["archive"])
        try:
            eventually(lambda: not query.isActive or store.pipeline_position() == store.last_position())
        finally:
            stream._stop(query)
        if (error := query.exception()) is not None:
            raise error

    store.append([offer(1)])
    run()
    store.append([offer(number, 10 * number) for number in range(2, 30)])
    with sqlite3.connect(places["store"] / "triplewire.db") as direct:
        direct.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    direct.close()
    ballast = fill(disk)
    with pytest.raises(DiskFullError, match=str(disk)), full_disk_named(*places.values()):
        run()
    ballast.unlink()
    run()
    assert store.pipeline_position() == store.last_position()
    assert notified(store) == expected(store)
    store.close()


def test_a_snapshot_without_room_is_none_and_is_made_once_there_is_room(
    tmp_path: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "FEW", 0)
    store = Store(store_url(tmp_path))
    for number in range(3):
        store.subscribe(cheaper(f"s{number}", 100 + number, "Desktop"))
    kept = Snapshots(disk / "index", store)
    kept.folder.mkdir()
    ballast = fill(disk)
    with pytest.raises(DiskFullError, match=str(disk)), full_disk_named(kept.folder):
        kept.make(0)
    assert kept.newest(0) is None
    ballast.unlink()
    made = kept.make(0)
    assert made is not None and any(kept.path(made).iterdir())
    store.close()
