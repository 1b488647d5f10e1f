"""The batch job: event files in, a folder of matches out, line for line what ``triplewire match`` prints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql.functions import row_number
from pyspark.storagelevel import StorageLevel

from triplewire.concepts.load import load_model
from triplewire.errors import UsageError
from triplewire.lift.lifting import Lifting, load_lifting
from triplewire.matching import DEFAULT_MATCHER, make_matcher
from triplewire.matching.lines import Line, Refusal, add_subscriptions, identity, match_line, read_lines
from triplewire.matching.matcher import Matcher
from triplewire.pipeline.session import session

CHUNK = 16 * 1024 * 1024
"""How many bytes of a file one task reads."""
TASKS = 1000
"""The most tasks that matching is spread over."""
ROWS = 500
"""How many lines travel in one record batch."""

SETTINGS = {"spark.python.daemon.module": "triplewire.pipeline.daemon"}

EVENTS = "file int, offset long, identity string, text binary"
EVENTS_ARROW = pa.schema(
    [("file", pa.int32()), ("offset", pa.int64()), ("identity", pa.string()), ("text", pa.binary())]
)
RESULTS = "file int, offset long, number int, refused boolean, text string"
RESULTS_ARROW = pa.schema(
    [
        ("file", pa.int32()),
        ("offset", pa.int64()),
        ("number", pa.int32()),
        ("refused", pa.bool_()),
        ("text", pa.string()),
    ]
)


class Chunk(NamedTuple):
    """The lines of a file that begin at ``start <= offset < end``."""

    file: int
    path: Path
    start: int
    end: int


@dataclass(frozen=True)
class Job:
    """What events are to be matched with. Workers read the files themselves, once for each job."""

    ontology: tuple[Path, ...]
    subscriptions: Path
    matcher: str
    bindings: bool
    lifting: Path | None = None
    key: str = field(default_factory=lambda: uuid4().hex)


def run_batch(
    ontology: list[Path],
    subscriptions: Path,
    events: list[Path],
    out: Path,
    master: str | None = None,
    matcher: str = DEFAULT_MATCHER,
    bindings: bool = False,
    lifting: Path | None = None,
) -> list[Refusal]:
    """Match files on Spark, into ``out/matches`` and ``out/refused``; returns what was refused.

    The part files, one after the other by name, are the lines in order. Every worker must find the files where the
    caller finds them.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already, and is not an empty folder")
    size_limit = load_lifting(lifting).size_limit
    _, refused = _load(ontology, subscriptions, matcher)
    chunks = cut(events, CHUNK)
    settings = None if lifting is None else lifting.absolute()
    job = Job(tuple(path.absolute() for path in ontology), subscriptions.absolute(), matcher, bindings, settings)
    with _spark(master) as spark:
        results = _results(spark, chunks, job, size_limit).persist(StorageLevel.DISK_ONLY)
        _write_matches(results, out / "matches")
        refused += _refused_events(results, events)
        results.unpersist()
    _write_refused(refused, out / "refused")
    return refused


def cut(files: Sequence[Path], size: int) -> list[Chunk]:
    """Files in chunks of a size."""
    try:
        lengths = [path.stat().st_size for path in files]
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from None
    return [
        Chunk(number, path.absolute(), start, start + size)
        for number, (path, length) in enumerate(zip(files, lengths, strict=True))
        for start in range(0, length, size)
    ]


def read_chunk(chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    """A chunk's lines that are not blank, each with its offset in the file."""
    with chunk.path.open("rb") as file:
        if chunk.start:
            file.seek(chunk.start - 1)
            file.readline()  # what began in the chunk before
        offset = file.tell()
        while offset < chunk.end and (text := file.readline()):
            if text.strip():
                yield offset, text
            offset += len(text)


def read_events(
    batches: Iterable[pa.RecordBatch], chunks: Sequence[Chunk], size_limit: int
) -> Iterator[pa.RecordBatch]:
    """The first stage: from the numbers of chunks to lines, each with what tells its event from others."""
    numbers = (number for batch in batches for number in batch.column(0).to_pylist())
    rows = (
        (chunk.file, offset, identity(text, size_limit) or f"{chunk.file}:{offset}", text)
        for chunk in map(chunks.__getitem__, numbers)
        for offset, text in read_chunk(chunk)
    )
    return _record_batches(rows, EVENTS_ARROW)


def match_events(batches: Iterable[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """The second stage: from events, no two of which are the same, to lines of output."""
    matcher, lifting = _prepared(job)
    rows = (
        (event["file"], event["offset"], number, *_told(result))
        for batch in batches
        for event in batch.to_pylist()
        for number, result in enumerate(match_line(Line("", 0, event["text"]), matcher, job.bindings, lifting))
    )
    return _record_batches(rows, RESULTS_ARROW)


def _results(spark: SparkSession, chunks: Sequence[Chunk], job: Job, size_limit: int) -> DataFrame:
    """Both stages, and between them the first of the events that are the same."""
    tasks = min(max(len(chunks), spark.sparkContext.defaultParallelism), TASKS)
    numbers = spark.range(0, len(chunks), 1, max(len(chunks), 1))
    lines = numbers.mapInArrow(partial(read_events, chunks=chunks, size_limit=size_limit), EVENTS)
    lines = lines.repartition(tasks, "identity")
    first = row_number().over(Window.partitionBy("identity").orderBy("file", "offset")) == 1
    events = lines.withColumn("first", first).where("first").drop("first", "identity")
    return events.mapInArrow(partial(match_events, job=job), RESULTS)


def _write_matches(results: DataFrame, folder: Path) -> None:
    matches = results.where("not refused").orderBy("file", "offset", "number").select("text")
    matches.write.text(str(folder.absolute()))


def _refused_events(results: DataFrame, files: Sequence[Path]) -> Iterator[Refusal]:
    """The refused events in order, each with its file and the number of its line, which no worker knows."""
    rows = results.where("refused").orderBy("file", "offset").collect()
    for number, group in groupby(rows, key=lambda row: row.file):
        path, told = files[number], list(group)
        for row, line in zip(told, _line_numbers(path, [row.offset for row in told]), strict=True):
            yield json.loads(row.text) | {"file": str(path), "line": line}


def _line_numbers(path: Path, offsets: Iterable[int]) -> Iterator[int]:
    """The one-based numbers of the lines that begin at these offsets, which ascend."""
    number, position = 1, 0
    with path.open("rb") as file:
        for offset in offsets:
            while position < offset:
                block = file.read(min(CHUNK, offset - position))
                number += block.count(b"\n")
                position += len(block)
            yield number


def _write_refused(refused: Iterable[Refusal], folder: Path) -> None:
    folder.mkdir(parents=True)
    with (folder / "part-00000.ndjson").open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(refusal)}\n" for refusal in refused)


def _load(ontology: Iterable[Path], subscriptions: Path, matcher: str) -> tuple[Matcher, list[Refusal]]:
    """The matcher with its subscriptions, and those that were refused."""
    model = load_model(ontology)
    made = make_matcher(matcher, model)
    return made, list(add_subscriptions(read_lines(subscriptions), made, model))


@lru_cache(maxsize=1)
def _prepared(job: Job) -> tuple[Matcher, Lifting]:
    """This process's matcher and settings, kept from task to task."""
    return _load(job.ontology, job.subscriptions, job.matcher)[0], load_lifting(job.lifting)


def _told(result: str | Refusal) -> tuple[bool, str]:
    return (False, result) if isinstance(result, str) else (True, json.dumps(result))


def _record_batches(rows: Iterator[tuple[Any, ...]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    while some := list(islice(rows, ROWS)):
        columns = [pa.array(column, field.type) for column, field in zip(zip(*some, strict=True), schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


@contextmanager
def _spark(master: str | None) -> Iterator[SparkSession]:
    """A session, ended if it was begun for us."""
    begun = SparkSession.getActiveSession() is None
    spark = session(master, "triplewire", SETTINGS)
    try:
        yield spark
    finally:
        if begun:
            spark.stop()
