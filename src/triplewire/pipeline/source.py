"""The event log as a streaming source of Spark. An offset is a log position: the last one that has been taken.

Processes that only plan load this module, too, one after the other: it loads the store where that is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from triplewire.store import Store, StoredEvent

SCHEMA = "position long, body string, received string"
ARROW_SCHEMA = pa.schema([("position", pa.int64()), ("body", pa.string()), ("received", pa.string())])

SLICE = 500
"""How many positions one task takes."""
ROWS = 100
"""How many events travel in one record batch."""


class EventLog(DataSource):
    """The event log of the store at the address ``store``, at most ``batch`` events at a time.

    A stream without a checkpoint begins with the events after the position ``after``, else with what is not done yet.
    """

    @classmethod
    def name(cls) -> str:
        return "triplewire"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802, the name is Spark's
        after = self.options.get("after")
        return EventLogReader(self.options["store"], int(self.options["batch"]), None if after is None else int(after))


@dataclass
class Slice(InputPartition):
    """The events with ``after < position <= upto``."""

    after: int
    upto: int


class EventLogReader(DataSourceStreamReader):
    """Reads the log by position; where it is cut into tasks depends on the offsets alone, so a replay cuts it alike."""

    def __init__(self, store: str, batch: int, after: int | None = None) -> None:
        self.store = store
        self.batch = batch
        self.after = after

    def initialOffset(self) -> dict[str, int]:  # noqa: N802, the name is Spark's
        """Where a stream without a checkpoint begins: as told, or after what the pipeline is known to have done."""
        if self.after is not None:
            return {"position": self.after}
        return {"position": told(self.store, lambda store: store.pipeline_position())}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802, the name is Spark's
        return ReadMaxRows(self.batch)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802, the name is Spark's
        if isinstance(limit, ReadMaxRows):
            rows = limit.max_rows
            return {"position": told(self.store, lambda store: store.nth_position_after(start["position"], rows))}
        return {"position": told(self.store, lambda store: store.last_position())}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        first, last = start["position"], end["position"]
        return [Slice(after, min(after + SLICE, last)) for after in range(first, last, SLICE)]

    def read(self, partition: Slice) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        events = open_store(self.store).events(partition.after, partition.upto)
        while rows := list(islice(events, ROWS)):
            yield record_batch(rows)


def told(url: str, question: Callable[[Store], int]) -> int:
    """What a store answers, once it does: where Spark plans, an error would be the end of the stream."""
    from triplewire.store import patiently

    return patiently(lambda: question(open_store(url)))


def open_store(url: str) -> Store:
    """This process's own store: a connection does not survive a fork."""
    return _open_store(url, os.getpid())


@cache
def _open_store(url: str, _process: int) -> Store:
    from triplewire.store import Store

    return Store(url, patient=True)


def record_batch(events: Sequence[StoredEvent]) -> pa.RecordBatch:
    columns = {name: [getattr(event, name) for event in events] for name in ARROW_SCHEMA.names}
    return pa.RecordBatch.from_pydict(columns, ARROW_SCHEMA)
