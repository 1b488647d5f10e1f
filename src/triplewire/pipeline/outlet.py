"""Notifications, from the store to a topic of Kafka: each at least once, under a key that tells a second one.

The store is the outbox. A query of its own reads it by number and keeps a checkpoint of its own, so that matching does
not wait for Kafka, and what is matched while Kafka is away is sent afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from triplewire.errors import UsageError
from triplewire.lift.documents import write_json
from triplewire.pipeline.intake import KAFKA, no_connector, topic_of
from triplewire.pipeline.source import open_store, told
from triplewire.store import Notification

BATCH, ROWS = 5000, 500
"""So many notifications are sent at a time, and so many travel in one record batch."""

SCHEMA = "key string, value string"
ARROW_SCHEMA = pa.schema([("key", pa.string()), ("value", pa.string())])


def start_outlet(spark: SparkSession, target: str, store: str, checkpoint: Path) -> StreamingQuery:
    """Start the query that sends all notifications, old and new, to ``kafka:HOST:PORT/TOPIC``."""
    kind, _, place = target.partition(":")
    if kind != "kafka" or not place.partition("/")[2]:
        raise UsageError(f"{target!r} is no place for notifications: {KAFKA} is")
    servers, topic = topic_of(place)
    spark.dataSource.register(Outbox)
    records = spark.readStream.format(Outbox.name()).option("store", store).load()
    writer = records.writeStream.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", topic)
    writer = writer.option("checkpointLocation", str(checkpoint.absolute())).queryName(f"outlet to {target}")
    try:
        return writer.start()
    except AnalysisException as error:
        raise no_connector(spark, error) from None


class Outbox(DataSource):
    """The notifications of the store at the address ``store``, as records of Kafka."""

    @classmethod
    def name(cls) -> str:
        return "triplewire-outbox"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802, the name is Spark's
        return OutboxReader(self.options["store"])


@dataclass
class Numbers(InputPartition):
    """The notifications with ``after < number <= upto``."""

    after: int
    upto: int


class OutboxReader(DataSourceStreamReader):
    """Reads the notifications by number, in one task, so that they arrive in their order."""

    def __init__(self, store: str) -> None:
        self.store = store

    def initialOffset(self) -> dict[str, int]:  # noqa: N802, the name is Spark's
        return {"number": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802, the name is Spark's
        return ReadMaxRows(BATCH)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802, the name is Spark's
        last = told(self.store, lambda store: store.last_notification())
        return {"number": min(last, start["number"] + limit.max_rows) if isinstance(limit, ReadMaxRows) else last}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [Numbers(start["number"], end["number"])] if start["number"] < end["number"] else []

    def read(self, partition: Numbers) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        after = partition.after
        while after < partition.upto:
            found = open_store(self.store).notifications(after, min(ROWS, partition.upto - after))
            if not (found := [one for one in found if one.number <= partition.upto]):
                return
            columns = [[key(one) for one in found], [write_json(one.as_dict()) for one in found]]
            yield pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in columns], schema=ARROW_SCHEMA)
            after = found[-1].number


def key(found: Notification) -> str:
    """What a notification is known by, however often it is sent."""
    return json.dumps([found.source, found.event, found.subscription], ensure_ascii=False)
