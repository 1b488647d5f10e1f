"""The past, lifted: of event files, or of an archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from triplewire.lift.lifting import Lifting
from triplewire.pipeline.archive import Archive, dated
from triplewire.pipeline.canonical import lift_events
from triplewire.pipeline.files import WINDOWS, Text, pieces, sample, texts

Seen = dict[tuple[str, str], int]
"""Where an envelope, by its source and id, was first met."""

ROWS, BYTES = 1000, 16 << 20
"""So many envelopes, or of so many bytes, are lifted at a time."""


class Stretch(NamedTuple):
    """Some events, how many could not be lifted, and what part they all are of the history's size."""

    events: pa.RecordBatch
    refused: int
    size: float


class History(Protocol):
    """Everything that was published."""

    @property
    def size(self) -> float:
        """How much that is, in units of its own."""

    def read(self) -> Iterator[Stretch]:
        """All events, in order."""

    def sample(self, wanted: int) -> Iterator[Stretch]:
        """About so many events from places that are evenly spread."""


class FileHistory:
    """Files of events. An event that was published again counts once, as ``triplewire match`` has it."""

    def __init__(self, paths: Iterable[Path], lifting: Lifting) -> None:
        self.lifting = lifting
        self.pieces = pieces(paths)
        self.size = sum(piece.size for piece in self.pieces)

    def read(self) -> Iterator[Stretch]:
        seen: Seen = {}
        return lift_texts((text for piece in self.pieces for text in texts(piece)), self.lifting, seen)

    def sample(self, wanted: int) -> Iterator[Stretch]:
        return lift_texts(sample(self.pieces, wanted), self.lifting, {})


class ArchiveHistory:
    """An archive, of which the days from ``since`` up to ``until`` count, both inclusive."""

    def __init__(self, folder: Path, since: str | None = None, until: str | None = None) -> None:
        self.parts = [part for part in Archive(folder).parts() if part.day is None or _within(part.day, since, until)]
        self.rows = [part.rows() for part in self.parts]
        self.size = sum(self.rows)

    def read(self) -> Iterator[Stretch]:
        return (Stretch(batch, 0, len(batch)) for part in self.parts for batch in part.read())

    def sample(self, wanted: int) -> Iterator[Stretch]:
        share = -(-wanted // WINDOWS)
        before = 0
        places = iter(range(0, self.size, max(self.size // WINDOWS, share)))
        place = next(places, None)
        for part, rows in zip(self.parts, self.rows, strict=True):
            while place is not None and place < before + rows:
                for batch in part.read(place - before):
                    yield Stretch(batch.slice(0, share), 0, min(share, len(batch)))
                    break
                place = next(places, None)
            before += rows


def lift_texts(texts: Iterable[Text], lifting: Lifting, seen: Seen) -> Iterator[Stretch]:
    """The events of envelopes, without those that are among what was ``seen``, and is from now on."""
    waiting: list[Text] = []
    bytes_ = 0
    for text in texts:
        waiting.append(text)
        bytes_ += len(text.text)
        if len(waiting) >= ROWS or bytes_ > BYTES:
            yield from _lifted(waiting, lifting, seen)
            waiting, bytes_ = [], 0
    if waiting:
        yield from _lifted(waiting, lifting, seen)


def _lifted(some: list[Text], lifting: Lifting, seen: Seen) -> Iterator[Stretch]:
    columns = {"position": [text.position for text in some], "body": [text.text for text in some]}
    size = sum(text.size for text in some)
    for batch in lift_events([pa.RecordBatch.from_pydict(columns)], lifting):
        first = batch.filter(pa.array(list(_first(batch, seen)), pa.bool_()))
        yield Stretch(dated(first), len(first) - first.column("refusal").null_count, size)
        size = 0.0


def _first(batch: pa.RecordBatch, seen: Seen) -> Iterator[bool]:
    """Whether each row is of an envelope that was not there before, or cannot be told from others."""
    columns = (batch.column(name).to_pylist() for name in ("position", "source", "envelope"))
    for position, source, envelope in zip(*columns, strict=True):
        yield source is None or seen.setdefault((source, envelope), position) == position


def _within(day: str, since: str | None, until: str | None) -> bool:
    return (since is None or since <= day) and (until is None or day <= until)
