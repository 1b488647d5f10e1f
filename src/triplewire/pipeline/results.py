"""The results of the stream on their way from workers to the driver: record batches as bytes.

The JVM between them takes columns apart into rows, and puts them together again. Of bytes it has one row for many
events, however many subscriptions they trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

SCHEMA = "results binary"
ARROW_SCHEMA = pa.schema([("results", pa.binary())])
NEEDED = ("position", "id", "version", "told", "refusal", "lapses")
"""What the driver wants to know, as ``stage`` has it."""
MOST_BYTES = 64 << 20
"""About so much travels in one row, which may have 2 GB."""


def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What ``stage.match_events`` gives, in one row for each batch; in more if one would be too large."""
    for batch in batches:
        needed = batch.select(NEEDED)
        step = max(int(needed.num_rows * MOST_BYTES / max(needed.nbytes, MOST_BYTES)), 1)
        rows = [_written(needed.slice(start, step)) for start in range(0, needed.num_rows, step)]
        yield pa.RecordBatch.from_arrays([pa.array(rows, pa.binary())], schema=ARROW_SCHEMA)


def unpack(packed: pa.Table) -> Iterator[pa.Table]:
    """The batches that were packed, in their order."""
    for row in packed.column("results"):
        with pa.ipc.open_stream(row.as_buffer()) as reader:
            yield reader.read_all()


def _written(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written
