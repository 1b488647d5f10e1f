"""Lifted events: graphs as N-Quads in Arrow's columns, which is what the engine reads and the archive keeps.

An event is told from all others by its ``position`` in the log, or in the files that it was read from, and by its
``entry`` among those that stood in one envelope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import pyarrow as pa

from triplewire.lift.cloudevents import Envelope, open_envelope
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import write
from triplewire.rdf.terms import Triple

SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("entry", pa.int32()),
        ("source", pa.string()),
        ("id", pa.string()),
        ("day", pa.string()),
        ("home", pa.string()),
        ("data", pa.large_string()),
    ]
)
ROWS = 1000
"""How many lifted events travel in one record batch."""


class Lifted(NamedTuple):
    """A row of ``SCHEMA``: ``day`` is that of the event's time in UTC, if it tells one."""

    position: int
    entry: int
    source: str
    id: str
    day: str | None
    home: str | None
    data: str


def lift_envelope(
    position: int, envelope: Envelope, lifting: Lifting = DEFAULT, received: str | None = None
) -> Iterator[Lifted]:
    """The events in an envelope. One without a time is of the day on which it was received."""
    time = envelope.attributes.get("time", received)
    day = None if time is None else day_of(time)
    for entry, event in enumerate(open_envelope(envelope, lifting)):
        yield Lifted(position, entry, event.source, event.id, day, _home(event), quads(event))


def quads(event: Event) -> str:
    """An event's arcs, a line each."""
    return write(Triple(subject, property_, object_) for subject, property_, object_, *_ in event.graph.arcs)


def day_of(time: str) -> str:
    """The day, in UTC, of an RFC 3339 time."""
    return datetime.fromisoformat(time).astimezone(UTC).date().isoformat()


def record_batch(rows: Sequence[Lifted]) -> pa.RecordBatch:
    """Rows as a record batch."""
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _home(event: Event) -> str | None:
    return None if event.graph.home is None else str(event.graph.home)
