"""The batch job: event files in, a folder of matches out, line for line what ``triplewire match`` prints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql.functions import row_number
from pyspark.storagelevel import StorageLevel

from triplewire.concepts.load import load_model
from triplewire.errors import UsageError
from triplewire.lift.lifting import Lifting, load_lifting
from triplewire.matching import DEFAULT_MATCHER, make_matcher
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import Entry, Refusal, add_subscriptions, read_lines, read_subscriptions
from triplewire.matching.matcher import Matcher
from triplewire.pipeline import stage
from triplewire.pipeline.canonical import lift_events
from triplewire.pipeline.lines import expand
from triplewire.pipeline.session import session
from triplewire.pipeline.shipping import Shipped, open_index, ship
from triplewire.subscriptions.pattern import Subscription

CHUNK = 16 * 1024 * 1024
"""How many bytes of a file one task reads."""
ROWS, BYTES = 10_000, 16 * 1024 * 1024
"""How many lines, and about how many bytes of them, travel in one record batch."""
FILE = 40
"""A position is the number of the file, shifted by so many bits, and the offset in the file."""

SETTINGS = {"spark.python.daemon.module": "triplewire.pipeline.daemon"}

LINES_ARROW = pa.schema([("position", pa.int64()), ("body", pa.binary())])


class Chunk(NamedTuple):
    """The lines of a file that begin at ``start <= offset < end``."""

    file: int
    path: Path
    start: int
    end: int


@dataclass(frozen=True)
class Papers:
    """One of the papers' matchers, which every worker makes for itself from the files."""

    matcher: str
    ontology: tuple[Path, ...]
    subscriptions: Path


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
    settings = load_lifting(lifting)
    chunks = cut(events, CHUNK)
    index = out / "_index"
    if matcher == DEFAULT_MATCHER:
        refused = compile_index(ontology, subscriptions, index)
    else:
        papers = Papers(matcher, tuple(path.absolute() for path in ontology), subscriptions.absolute())
        refused = _load(papers)[1]
    with _spark(master) as spark:
        source = ship(spark.sparkContext, index) if matcher == DEFAULT_MATCHER else papers
        groups = match_chunks(spark, chunks, source, bindings, settings).persist(StorageLevel.DISK_ONLY)
        again = _again(groups)
        lines = groups.where("refusal is null").mapInArrow(partial(_lines, source=source, again=again), "text string")
        lines.write.text(str((out / "matches").absolute()))
        refused += _refused_events(groups, again, events)
        groups.unpersist()
    shutil.rmtree(index, ignore_errors=True)
    _write_refused(refused, out / "refused")
    return refused


def compile_index(ontology: Iterable[Path], subscriptions: Path, folder: Path) -> list[Refusal]:
    """Write the index of a file of subscriptions to a folder; returns those that were refused."""
    model = load_model(ontology)
    refused: list[Refusal] = []

    def accepted() -> Iterator[Subscription]:
        for entry in read_subscriptions(read_lines(subscriptions), model):
            if isinstance(entry, Entry):
                yield entry.subscription
            else:
                refused.append(entry)

    index = Index.build(accepted(), model)
    index.save(folder)
    index.close()
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


def match_chunks(
    spark: SparkSession, chunks: Sequence[Chunk], source: Shipped | Papers, bindings: bool, lifting: Lifting
) -> DataFrame:
    """What comes of the lines of chunks, as ``stage`` has it, in their order: a partition for each chunk."""
    numbers = spark.range(0, len(chunks), 1, max(len(chunks), 1))
    work = partial(_match_chunks, chunks=chunks, source=source, bindings=bindings, lifting=lifting)
    return numbers.mapInArrow(work, stage.SCHEMA)


def _match_chunks(
    batches: Iterable[pa.RecordBatch],
    chunks: Sequence[Chunk],
    source: Shipped | Papers,
    bindings: bool,
    lifting: Lifting,
) -> Iterator[pa.RecordBatch]:
    numbers = (number for batch in batches for number in batch.column(0).to_pylist())
    lines = (batch for number in numbers for batch in _line_batches(chunks[number]))
    return stage.match_events(lift_events(lines, lifting), _matcher(source), bindings)


def _line_batches(chunk: Chunk) -> Iterator[pa.RecordBatch]:
    positions: list[int] = []
    texts: list[bytes] = []
    size = 0
    for offset, text in read_chunk(chunk):
        positions.append((chunk.file << FILE) + offset)
        texts.append(text)
        size += len(text)
        if len(texts) == ROWS or size > BYTES:
            yield pa.RecordBatch.from_pydict({"position": positions, "body": texts}, schema=LINES_ARROW)
            positions, texts, size = [], [], 0
    if texts:
        yield pa.RecordBatch.from_pydict({"position": positions, "body": texts}, schema=LINES_ARROW)


def _lines(
    batches: Iterable[pa.RecordBatch], source: Shipped | Papers, again: NDArray[np.int64]
) -> Iterator[pa.RecordBatch]:
    """The lines of the events that are there for the first time, those of an event as one text."""
    ids = open_index(source).ids if isinstance(source, Shipped) else None
    for batch in batches:
        first = batch.filter(pa.array(~np.isin(batch.column("position").to_numpy(), again)))
        yield expand(first, ids)


def _again(groups: DataFrame) -> NDArray[np.int64]:
    """The positions of envelopes that were there before: same source, same id."""
    known = groups.where("envelope is not null and entry = 0").select("position", "source", "envelope")
    number = row_number().over(Window.partitionBy("source", "envelope").orderBy("position"))
    rows = known.withColumn("number", number).where("number > 1").select("position").toArrow()
    return np.sort(rows.column("position").to_numpy())


def _refused_events(groups: DataFrame, again: NDArray[np.int64], files: Sequence[Path]) -> Iterator[Refusal]:
    """The refused events in order, each with its file and the number of its line, which no worker knows."""
    rows = groups.where("refusal is not null").select("position", "envelope", "refusal").orderBy("position").collect()
    seen = set(again.tolist())
    rows = [row for row in rows if row.position not in seen]
    for number, group in groupby(rows, key=lambda row: row.position >> FILE):
        path, told = files[number], list(group)
        offsets = [row.position & ((1 << FILE) - 1) for row in told]
        for row, line in zip(told, _line_numbers(path, offsets), strict=True):
            yield {"event": row.envelope, "file": str(path), "line": line} | json.loads(row.refusal)


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


def _load(papers: Papers) -> tuple[Matcher, list[Refusal]]:
    """The matcher with its subscriptions, and those that were refused."""
    model = load_model(papers.ontology)
    made = make_matcher(papers.matcher, model)
    return made, list(add_subscriptions(read_lines(papers.subscriptions), made, model))


def _matcher(source: Shipped | Papers) -> Matcher:
    """This process's matcher, kept from task to task."""
    return open_index(source) if isinstance(source, Shipped) else _made(source)


@lru_cache(maxsize=1)
def _made(papers: Papers) -> Matcher:
    return _load(papers)[0]


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
