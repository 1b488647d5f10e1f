"""Events from elsewhere, into the event log: a folder that files are put into, or a topic of Kafka.

Whatever comes gets a position in the log first, and is matched from there, like what was published over HTTP: it has
an order, counts once however often it comes, and can be replayed. What is no event at all is in the log, too, under the
place that it came from, and becomes a dead letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from triplewire.errors import EventError, UsageError
from triplewire.lift.cloudevents import parse_envelope
from triplewire.lift.lifting import Lifting
from triplewire.pipeline.files import SUFFIXES, pieces, texts
from triplewire.store import Store, patiently

FILES, RECORDS = 100, 10_000
"""So many files of a folder, or records of a topic, are taken at a time."""
APPENDED = 1000
"""So many events are put into the log at once."""

ENVELOPES = "source string, id string, body string"
ENVELOPES_ARROW = pa.schema([("source", pa.string()), ("id", pa.string()), ("body", pa.string())])
REFUSED = "urn:triplewire:refused"
"""The source of what is no event; its id is the place that it came from."""
KAFKA = "kafka:HOST:PORT/TOPIC"


def start_intake(
    spark: SparkSession, source: str, store: str, checkpoint: Path, lifting: Lifting, once: bool = False
) -> StreamingQuery:
    """Start the query that puts ``folder:DIR`` or ``kafka:HOST:PORT/TOPIC`` into the log.

    ``once`` takes what is there, and ends.
    """
    kind, _, place = source.partition(":")
    if kind == "folder" and place:
        found = _folder(spark, Path(place), lifting)
    elif kind == "kafka" and place.partition("/")[2]:
        found = _topic(spark, place, lifting)
    else:
        raise UsageError(f"{source!r} is no source of events: folder:DIR or {KAFKA} are")
    writer = found.writeStream.foreachBatch(partial(append, store=Store(store, patient=True)))
    writer = writer.queryName(f"intake of {source}")
    writer = writer.trigger(availableNow=True) if once else writer
    return writer.option("checkpointLocation", str(checkpoint.absolute())).start()


def append(envelopes: DataFrame, _batch: int, store: Store) -> None:
    """Put envelopes into the log; those that are there already change nothing."""
    rows = ((row.source, row.id, row.body) for row in envelopes.toLocalIterator())
    while some := list(islice(rows, APPENDED)):
        patiently(partial(store.append, some))


def _folder(spark: SparkSession, folder: Path, lifting: Lifting) -> DataFrame:
    """The envelopes of all files, each file once. A file should appear whole, by being renamed."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    suffixes = ",".join(suffix.removeprefix(".") for suffix in SUFFIXES)
    found = (
        spark.readStream.format("binaryFile")
        .schema("path string, modificationTime timestamp, length long, content binary")
        .option("pathGlobFilter", f"*.{{{suffixes}}}")
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", FILES)
        .load(str(folder.absolute()))
    )
    read = partial(read_files, folder=folder.absolute(), size_limit=lifting.size_limit)
    return found.select("path").mapInArrow(read, ENVELOPES)


def _topic(spark: SparkSession, place: str, lifting: Lifting) -> DataFrame:
    """The envelopes of a topic: structured CloudEvents, one a record."""
    servers, topic = topic_of(place)
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    reader = spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger=str(RECORDS))
    try:
        found = reader.load()
    except AnalysisException as error:
        raise no_connector(spark, error) from None
    records = found.selectExpr("concat_ws('/', topic, partition, offset) as place", "value")
    return records.mapInArrow(partial(read_records, size_limit=lifting.size_limit), ENVELOPES)


def topic_of(place: str) -> tuple[str, str]:
    """The servers and the topic of ``HOST:PORT/TOPIC``."""
    servers, _, topic = place.partition("/")
    return servers, topic


def no_connector(spark: SparkSession, error: AnalysisException) -> UsageError:
    return UsageError(
        "Spark's connector to Kafka is missing: name it with --packages or --jars, in the version of this Spark "
        f"({spark.version}), org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION ({error.getCondition()})"
    )


def read_files(batches: Iterable[pa.RecordBatch], folder: Path, size_limit: int) -> Iterator[pa.RecordBatch]:
    """From the addresses of files to envelopes."""
    for batch in batches:
        for address in batch.column(0).to_pylist():
            path = Path(unquote(urlsplit(address).path))
            name = path.relative_to(folder).as_posix()
            found = (text for piece in pieces([path]) for text in texts(piece._replace(name=name)))
            rows = (_row(text.text, f"{name}#{text.position}", size_limit) for text in found)
            while some := list(islice(rows, APPENDED)):
                yield _batch(some)


def read_records(batches: Iterable[pa.RecordBatch], size_limit: int) -> Iterator[pa.RecordBatch]:
    """From records, each with its place, to envelopes."""
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("place", "value"))
        if batch.num_rows:
            yield _batch([_row(value or b"", place, size_limit) for place, value in zip(*columns, strict=True)])


def _row(text: bytes, place: str, size_limit: int) -> tuple[str, str, str]:
    body = text.decode("utf-8", "backslashreplace")
    try:
        envelope = parse_envelope(text, size_limit)
    except EventError:
        return REFUSED, place, body
    return envelope.source, envelope.id, body


def _batch(rows: list[tuple[str, str, str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(column, pa.string()) for column in zip(*rows, strict=True)], schema=ENVELOPES_ARROW
    )
