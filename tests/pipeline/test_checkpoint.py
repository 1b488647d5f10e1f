"""Which checkpoints a stream goes on from, without Spark."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

import pytest

from tests.pipeline.world import offer
from triplewire.pipeline.checkpoint import FORMAT_FILE, LOCK, mark_format, set_aside_if_unfit
from triplewire.store import Store, backup, restore
from triplewire.store import store_url as embedded

WHOLE = 'v1\n{"batchWatermarkMs":0,"conf":{}}\n'
COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


def write(home: Path, offsets: list[int], commits: int) -> Path:
    """A checkpoint like Spark's, with batches that end at these positions, the first so many of them committed."""
    checkpoint = home / "checkpoint"
    for folder in ("offsets", "commits"):
        (checkpoint / folder).mkdir(parents=True)
    (checkpoint / LOCK).touch()
    mark_format(checkpoint)
    (checkpoint / "metadata").write_text('{"id":"192dfc7a"}')
    for batch, position in enumerate(offsets):
        (checkpoint / "offsets" / str(batch)).write_text(f'{WHOLE}{{"position": {position}}}')
        (checkpoint / "offsets" / f".{batch}.crc").touch()
    for batch in range(commits):
        (checkpoint / "commits" / str(batch)).write_text(COMMIT)
    return checkpoint


def kept(checkpoint: Path, store: Store) -> bool:
    """Whether a checkpoint is left as it is; if not, whether all of it is moved."""
    before = {path.relative_to(checkpoint) for path in checkpoint.rglob("*")}
    set_aside_if_unfit(checkpoint, store)
    left = {path.relative_to(checkpoint) for path in checkpoint.rglob("*")}
    aside = {path.relative_to(moved) for moved in checkpoint.parent.glob("*.unfit-*") for path in moved.rglob("*")}
    assert left | aside == before
    assert left in (before, {Path(LOCK)})
    return left == before


@pytest.fixture
def log(store: Store) -> Store:
    """A store with ten events, eight of them done."""
    store.append([offer(n) for n in range(10)])
    store.record([], [], upto=8)
    return store


@pytest.mark.parametrize(
    ("offsets", "commits"),
    [([], 0), ([8], 0), ([8], 1), ([8, 10], 1), ([2], 1), ([1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 10], 11)],
)
def test_a_checkpoint_that_fits_is_kept(log: Store, tmp_path: Path, offsets: list[int], commits: int) -> None:
    assert kept(write(tmp_path, offsets, commits), log)


def test_no_checkpoint_is_well(log: Store, tmp_path: Path) -> None:
    set_aside_if_unfit(tmp_path / "checkpoint", log)
    assert list(tmp_path.glob("checkpoint*")) == []


@pytest.mark.parametrize(
    ("offsets", "commits"),
    [
        ([8, 11], 2),  # beyond the log
        ([8, 11], 1),
        ([8, 10], 2),  # the log has grown past it since, with events that nobody has matched
        ([9, 10], 1),
        ([], 1),  # moved away by half
    ],
)
def test_a_checkpoint_of_another_log_is_set_aside_and_told_in_a_line(
    log: Store, tmp_path: Path, offsets: list[int], commits: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert not kept(write(tmp_path, offsets, commits), log)
    assert len(caplog.records) == 1
    assert "checkpoint.unfit-" in caplog.text


def test_after_a_restore_nothing_is_passed_over_that_the_old_checkpoint_had_done(log: Store, tmp_path: Path) -> None:
    """The store is of yesterday, and gets other events at the positions that the checkpoint has seen."""
    backup(log.url, tmp_path / "backup.db")
    checkpoint = write(tmp_path, [8, 10, 12], 3)
    restored_url = embedded(tmp_path / "restored")
    (tmp_path / "restored").mkdir()
    restore(tmp_path / "backup.db", restored_url)
    with closing(Store(restored_url)) as restored:
        restored.append([offer(n) for n in range(100, 110)])
        assert not kept(checkpoint, restored)
        assert (restored.pipeline_position(), restored.last_position()) == (8, 20), "where matching goes on"


@pytest.mark.parametrize("name", ["offsets/0", "offsets/1", "commits/0", "metadata"])
@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_checkpoint_cut_short_is_set_aside(log: Store, tmp_path: Path, name: str, share: float) -> None:
    checkpoint = write(tmp_path, [4, 8], commits=1)
    whole = (checkpoint / name).read_bytes()
    (checkpoint / name).write_bytes(whole[: int(len(whole) * share)])
    assert not kept(checkpoint, log)


@pytest.mark.parametrize("text", [WHOLE, WHOLE + "-", WHOLE + "7", WHOLE + "{}", "\0" * 50])
def test_a_checkpoint_with_an_offset_that_is_none_is_set_aside(log: Store, tmp_path: Path, text: str) -> None:
    checkpoint = write(tmp_path, [4, 8], commits=1)
    (checkpoint / "offsets" / "1").write_text(text)
    assert not kept(checkpoint, log)


@pytest.mark.parametrize("text", [None, "1", ""])
def test_a_checkpoint_of_another_version_of_the_software_is_set_aside_by_name(
    log: Store, tmp_path: Path, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = write(tmp_path, [4, 8], commits=1)
    (checkpoint / FORMAT_FILE).unlink()
    if text is not None:
        (checkpoint / FORMAT_FILE).write_text(text)
    with caplog.at_level(logging.WARNING):
        assert not kept(checkpoint, log)
    assert "another version of the software" in caplog.text
