"""The backtest on Spark: each task counts some pieces of history, and the counts are added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql.functions import row_number

from triplewire.lift.lifting import Lifting
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import identity
from triplewire.pipeline.archive import Part
from triplewire.pipeline.backtest import count_stretch
from triplewire.pipeline.files import Piece, Text, texts
from triplewire.pipeline.history import ArchiveHistory, FileHistory, Stretch, lift_texts
from triplewire.pipeline.progress import named
from triplewire.pipeline.shipping import Shipped, open_index, ship
from triplewire.pipeline.tally import Tally, total

TASKS = 1000
"""The most tasks that lifting and counting are spread over."""
ROWS = 500
"""How many texts travel in one record batch."""

TEXTS = "position long, identity string, text binary"
TEXTS_ARROW = pa.schema([("position", pa.int64()), ("identity", pa.string()), ("text", pa.binary())])
TALLIES = "tally string"
TALLIES_ARROW = pa.schema([("tally", pa.string())])


def count_on_spark(
    spark: SparkSession, history: FileHistory | ArchiveHistory, index: Index, against: Index | None
) -> Tally:
    """All that the indexes match. Every worker must find history's files where we find them."""
    with TemporaryDirectory(prefix="triplewire-backtest-") as scratch:
        shipped = []
        for number, one in enumerate([index] if against is None else [index, against]):
            one.save(Path(scratch, str(number)))
            shipped.append(ship(spark.sparkContext, Path(scratch, str(number))))
        if isinstance(history, FileHistory):
            tallies = _of_files(spark, history, tuple(shipped))
        else:
            tallies = _of_archive(spark, history, tuple(shipped))
        with named(spark, "counting"):
            return total(Tally.of_json(row.tally) for row in tallies.collect())


def _of_files(spark: SparkSession, history: FileHistory, shipped: tuple[Shipped, ...]) -> DataFrame:
    """Texts, the first of those that are the same event, and the counts of these."""
    tasks = min(max(len(history.pieces), spark.sparkContext.defaultParallelism), TASKS)
    read = partial(read_texts, pieces=history.pieces, size_limit=history.lifting.size_limit)
    found = _numbers(spark, len(history.pieces)).mapInArrow(read, TEXTS).repartition(tasks, "identity")
    first = row_number().over(Window.partitionBy("identity").orderBy("position")) == 1
    events = found.withColumn("first", first).where("first").select("position", "text")
    return events.mapInArrow(partial(count_texts, shipped=shipped, lifting=history.lifting), TALLIES)


def _of_archive(spark: SparkSession, history: ArchiveHistory, shipped: tuple[Shipped, ...]) -> DataFrame:
    numbers = _numbers(spark, len(history.parts))
    return numbers.mapInArrow(partial(count_parts, parts=history.parts, shipped=shipped), TALLIES)


def _numbers(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(0, count, 1, min(max(count, 1), TASKS))


def read_texts(batches: Iterable[pa.RecordBatch], pieces: Sequence[Piece], size_limit: int) -> Iterator[pa.RecordBatch]:
    """From the numbers of pieces to envelopes, each with what tells its event from others."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            rows: list[tuple[int, str, bytes]] = []
            for position, _, text in texts(pieces[number]):
                rows.append((position, identity(text, size_limit) or str(position), text))
                if len(rows) == ROWS:
                    yield _columns(rows, TEXTS_ARROW)
                    rows = []
            if rows:
                yield _columns(rows, TEXTS_ARROW)


def count_texts(
    batches: Iterable[pa.RecordBatch], shipped: tuple[Shipped, ...], lifting: Lifting
) -> Iterator[pa.RecordBatch]:
    """From envelopes, no two of which are the same, to one tally."""
    found = (
        Text(position, 0, text)
        for batch in batches
        for position, text in zip(batch["position"].to_pylist(), batch["text"].to_pylist(), strict=True)
    )
    return _counted(lift_texts(found, lifting, {}), shipped)


def count_parts(
    batches: Iterable[pa.RecordBatch], parts: Sequence[Part], shipped: tuple[Shipped, ...]
) -> Iterator[pa.RecordBatch]:
    """From the numbers of an archive's files to one tally."""
    numbers = (number for batch in batches for number in batch.column(0).to_pylist())
    return _counted((Stretch(some, 0, 0) for number in numbers for some in parts[number].read()), shipped)


def _counted(stretches: Iterable[Stretch], shipped: tuple[Shipped, ...]) -> Iterator[pa.RecordBatch]:
    tally = total(count_stretch(stretch, *_opened(shipped)) for stretch in stretches)
    yield _columns([(tally.as_json(),)], TALLIES_ARROW)


@lru_cache(maxsize=1)
def _opened(shipped: tuple[Shipped, ...]) -> tuple[Index, ...]:
    """This process's indexes, kept from task to task."""
    return tuple(map(open_index, shipped))


def _columns(rows: Sequence[Sequence[object]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
