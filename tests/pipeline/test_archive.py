"""The archive holds every event once, however often it was put there and wherever the one who settles was killed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplewire.errors import UsageError
from triplewire.pipeline.archive import Archive, Part, _Replacement, dated
from triplewire.pipeline.canonical import Row, record_batches

DAYS = ["2026-03-01", "2026-03-02", "2026-03-02", None]


def event(position: int) -> list[Row]:
    """The entries of an event, the same whenever it is lifted; some have none, and are refused."""
    rng = Random(position)
    day = rng.choice(DAYS)
    entries = rng.choice([0, 1, 1, 2])
    if not entries:
        return [Row(position, refusal="{}")]
    time = None if day is None else f"{day}T12:00:00Z"
    return [Row(position, n, "/x", "e", f"e{position}#{n}", time, data="") for n in range(entries)]


def put(archive: Archive, first: int, last: int) -> None:
    rows = [row for position in range(first, last + 1) for row in event(position)]
    archive.put(dated(batch) for batch in record_batches(rows))


def found(archive: Archive) -> list[tuple[int, int, str | None]]:
    rows = [row for part in archive.parts() for batch in part.read() for row in batch.to_pylist()]
    return sorted((row["position"], row["entry"], row["day"]) for row in rows)


def expected(last: int) -> list[tuple[int, int, str | None]]:
    rows = (row for position in range(1, last + 1) for row in event(position) if row.data is not None)
    return [(row.position, row.entry, row.time and row.time[:10]) for row in rows]


class Killed(BaseException):
    pass


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_each_event_is_there_once(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Whatever is replayed, however the log is cut, whenever it is settled, and wherever settling breaks off."""
    rng = Random(seed)
    archive = Archive(tmp_path_factory.mktemp("archive"))
    done = 0
    for _ in range(rng.randint(1, 8)):
        first = rng.randint(max(done - 10, 1), done + 1)  # replayed from a bit before, cut otherwise
        done = first + rng.randrange(20) if first > done else max(done, first + rng.randrange(20))
        cuts = sorted({first, *(rng.randint(first, done + 1) for _ in range(2)), done + 1})
        for start, end in pairwise(cuts):
            put(archive, start, end - 1)
        if rng.random() < 0.5:
            settle(archive, done, rng)
        assert found(archive) == expected(done)
        day = "2026-03-02"
        assert [part.day for part in archive.parts() if part.day == day and part.last > archive.done()] == []


def settle(archive: Archive, upto: int, rng: Random) -> None:
    """Settle, perhaps killed before one of the files appears."""
    left = rng.choice([0, 1, 2, 3, 100])

    def finish(self: _Replacement) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        whole(self)

    whole = _Replacement.finish
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Replacement, "finish", finish)
        try:
            archive.settle(upto, many=1)
        except Killed:
            assert left < 0


def test_few_recent_files_are_left_alone_and_many_are_settled_by_day(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    for position in range(1, 30):
        put(archive, position, position)
    archive.settle(29)
    assert archive.done() == 0
    archive.settle(29, many=10)
    assert {path.name for path in tmp_path.glob("day=*")} == {"day=2026-03-01", "day=2026-03-02", "day=unknown"}
    assert {part.path.parent.name for part in archive.parts()} == {path.name for path in tmp_path.glob("day=*")}
    assert found(archive) == expected(29)


def test_what_is_still_being_read_stays_until_the_next_time(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    put(archive, 1, 20)
    reading = archive.parts()
    archive.settle(20, many=1)
    assert [row for part in reading for batch in part.read() for row in batch.to_pylist()]
    put(archive, 21, 40)
    archive.settle(40, many=1)
    assert not any(part.path.exists() for part in reading)
    assert found(archive) == expected(40)


def test_reading_can_begin_in_the_middle_of_a_file(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    put(archive, 1, 50)
    (part,) = archive.parts()
    assert isinstance(part, Part)
    whole = [row for batch in part.read() for row in batch.to_pylist()]
    assert [row for batch in part.read(skip=7) for row in batch.to_pylist()] == whole[7:]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        Archive(tmp_path / "nowhere").parts()
