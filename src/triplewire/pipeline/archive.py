"""The archive: every event that was lifted, once, as Parquet by day.

::

    day=2026-11-15/000000000000001-000000000004000.parquet     settled: the day's events between two log positions
    _recent/000000000004001-000000000004100.parquet            what tasks of the stream have just lifted
    _done                                                      the position up to which everything is settled

A task writes one small file, named by its positions, so that a replay writes the same one again. Once they are many
they are settled: sorted into days, each event once, whatever files it is in. A settled file counts from the moment
``_done`` reaches its last position; whoever is killed before leaves what counted before. Spark passes over names that
begin with ``_``.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from triplewire.errors import UsageError
from triplewire.lift.lifting import Lifting
from triplewire.pipeline import canonical

log = logging.getLogger(__name__)

KEPT = ("position", "entry", "source", "id", "time", "home", "data")
SCHEMA = pa.schema([*(canonical.ARROW_SCHEMA.field(name) for name in KEPT), ("day", pa.string())])
"""Canonical events, each with the day of its time in UTC, null if it tells none."""

MANY = 1000
"""So many recent files are settled."""
ROW_GROUP = 5000
"""So many events are kept together in a settled file."""
NO_DAY = "unknown"
"""The folder of events that tell no time."""

_RECENT, _DONE = "_recent", "_done"
_SETTLED = SCHEMA.remove(SCHEMA.get_field_index("day"))


@dataclass(frozen=True)
class Part:
    """A file of the archive, of which the rows after a position count."""

    path: Path
    first: int
    last: int
    after: int = 0

    @classmethod
    def at(cls, path: Path) -> Part:
        first, _, last = path.stem.partition("-")
        return cls(path, int(first), int(last))

    @property
    def day(self) -> str | None:
        """The day of a settled file's events."""
        name = self.path.parent.name.removeprefix("day=")
        return None if name in (NO_DAY, _RECENT) else name

    def rows(self) -> int:
        """How many events are in the file, whether they count or not."""
        return int(pq.read_metadata(self.path).num_rows)

    def read(self, skip: int = 0) -> Iterator[pa.RecordBatch]:
        """The events that count, in log order, without the first so many of the file."""
        with pq.ParquetFile(self.path) as file:
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if skip < rows:
                    yield from self._counting(file.read_row_group(group).slice(skip))
                skip = max(skip - rows, 0)

    def _counting(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        if self.path.parent.name != _RECENT:
            table = table.append_column("day", pa.array([self.day] * len(table), pa.string()))
        elif self.first <= self.after:
            table = table.filter(pc.field("position") > self.after)
        return iter(table.select(SCHEMA.names).combine_chunks().to_batches())


def dated(batch: pa.RecordBatch, received: Mapping[int, str] | None = None) -> pa.RecordBatch:
    """The events of a canonical batch as the archive has them; where one tells no time, its position's was received."""
    events = batch.filter(batch.column("data").is_valid()).select(KEPT)
    times = zip(events.column("position").to_pylist(), events.column("time").to_pylist(), strict=True)
    days = [day_of(time or (received or {}).get(position)) for position, time in times]
    return events.append_column("day", pa.array(days, pa.string()))


def undated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Events of the archive as a canonical batch. In what envelopes they came is not known any more."""
    columns = {name: batch.column(name) for name in KEPT}
    nothing = pa.nulls(batch.num_rows, pa.string())
    arrays = [columns.get(name, nothing) for name in canonical.ARROW_SCHEMA.names]
    return pa.RecordBatch.from_arrays(arrays, schema=canonical.ARROW_SCHEMA)


def lift_and_keep(batches: Iterable[pa.RecordBatch], lifting: Lifting, folder: Path | None) -> Iterator[pa.RecordBatch]:
    """Lift a part of the log, as ``canonical.lift_events`` does, and put it into the archive, if there is one."""
    kept: list[pa.RecordBatch] = []
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("position", "received"))
        received = dict(zip(*columns, strict=True)) if folder is not None else {}
        for lifted in canonical.lift_events([batch], lifting):
            if folder is not None:
                kept.append(dated(lifted, received))
            yield lifted
    if folder is not None:
        Archive(folder).put(kept)


def day_of(time: str | None) -> str | None:
    """The day, in UTC, of an RFC 3339 time."""
    return None if time is None else datetime.fromisoformat(time).astimezone(UTC).date().isoformat()


class Archive:
    """An archive's folder. Any number may read it; tasks put events in; one process settles."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def done(self) -> int:
        """The position up to which everything is settled."""
        with suppress(FileNotFoundError):
            return int((self.folder / _DONE).read_text())
        return 0

    def begin(self, last: int) -> None:
        """Make ready for the events of a log that has come to a position; an archive of another log is moved away."""
        if self.folder.is_dir() and max([self.done(), *(part.last for part in self._recent(0))]) > last:
            aside = self.folder.with_name(f"{self.folder.name}.unfit-{time.strftime('%Y%m%dT%H%M%S')}")
            self.folder.rename(aside)
            log.warning("the archive goes on past the log, which ends at %d: moved to %s", last, aside)
        self.folder.mkdir(parents=True, exist_ok=True)

    def parts(self) -> list[Part]:
        """All files that count, oldest first."""
        if not self.folder.is_dir():
            raise UsageError(f"{self.folder}: no such folder")
        done = self.done()
        settled = sorted(self._settled(), key=lambda part: (part.first, part.path))
        return [part for part in settled if part.last <= done] + list(self._recent(done))

    def put(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Write what one task has lifted, in log order."""
        table = pa.Table.from_batches(batches, SCHEMA)
        if len(table):
            positions = table.column("position")
            name = _name(positions[0].as_py(), positions[-1].as_py())
            with _Replacement(self.folder / _RECENT / name) as unfinished:
                pq.write_table(table, unfinished)

    def settle(self, upto: int, many: int = MANY) -> None:
        """Settle what is recent up to a position, before which nothing more will come, if it is in many files.

        The recent files stay until the next time, since somebody may be reading them.
        """
        done = self.done()
        for part in self._settled():
            if part.last > done:  # somebody was killed before it counted
                part.path.unlink()
        recent = [part for part in self._recent(done) if part.last <= upto]
        if len(recent) < max(many, 1):
            return
        self._write_days(recent, _name(done + 1, upto))
        with _Replacement(self.folder / _DONE) as unfinished:
            unfinished.write_text(str(upto))
        for path in (self.folder / _RECENT).glob("*.parquet"):
            if Part.at(path).last <= done:
                path.unlink()

    def _write_days(self, recent: Iterable[Part], name: str) -> None:
        days: dict[str, _Day] = {}
        for part in recent:
            for batch in part.read():
                for day in pc.unique(batch["day"]).to_pylist():
                    own = pc.is_null(batch["day"]) if day is None else pc.equal(batch["day"], day)
                    folder = f"day={NO_DAY if day is None else day}"
                    if folder not in days:
                        days[folder] = _Day(self.folder / folder / name)
                    days[folder].write(batch.filter(own).drop_columns(["day"]))
        for written in days.values():
            written.close()

    def _settled(self) -> Iterator[Part]:
        return map(Part.at, self.folder.glob("day=*/*.parquet"))

    def _recent(self, done: int) -> Iterator[Part]:
        """Recent files with what none before them has."""
        found = map(Part.at, (self.folder / _RECENT).glob("*.parquet"))
        for part in sorted(found, key=lambda part: (part.first, -part.last)):
            if part.last > done:
                yield Part(part.path, part.first, part.last, done)
                done = part.last


class _Day:
    """A settled file in the making, in memory by row groups only."""

    def __init__(self, path: Path) -> None:
        self.replacing = _Replacement(path)
        self.writer = pq.ParquetWriter(self.replacing.unfinished, _SETTLED, compression="zstd")
        self.waiting: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        self.waiting.append(batch)
        if sum(map(len, self.waiting)) >= ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        self.writer.write_table(pa.Table.from_batches(self.waiting, _SETTLED))
        self.waiting.clear()

    def close(self) -> None:
        self.flush()
        self.writer.close()
        self.replacing.finish()


class _Replacement:
    """A file that appears under its name in one step, when it is on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix="_", delete=False) as file:
            self.unfinished = Path(file.name)

    def finish(self) -> None:
        descriptor = os.open(self.unfinished, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        self.unfinished.replace(self.path)

    def __enter__(self) -> Path:
        return self.unfinished

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self.finish()
        else:
            self.unfinished.unlink(missing_ok=True)  # who failed to write it may have removed it


def _name(first: int, last: int) -> str:
    return f"{first:015}-{last:015}.parquet"
