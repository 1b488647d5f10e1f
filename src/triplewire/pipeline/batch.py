"""The batch job: event files in, a folder of matches out, line for line what ``triplewire match`` prints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql.functions import row_number
from pyspark.storagelevel import StorageLevel

from triplewire.concepts.load import load_model
from triplewire.errors import UsageError
from triplewire.lift.files import MEDIA_TYPES
from triplewire.lift.lifting import Lifting, load_lifting
from triplewire.matching import DEFAULT_MATCHER, make_matcher
from triplewire.matching.engine.folder import is_sharded
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import (
    Entry,
    Refusal,
    add_subscriptions,
    read_lines,
    read_subscriptions,
    refusal_of_lapse,
)
from triplewire.matching.matcher import Matcher
from triplewire.pipeline import stage
from triplewire.pipeline.archive import Archive, Part, undated
from triplewire.pipeline.canonical import lift_events
from triplewire.pipeline.files import CHUNK, FILE, PARQUET, Piece, event_files, line_numbers, pieces, texts
from triplewire.pipeline.lines import expand
from triplewire.pipeline.progress import named
from triplewire.pipeline.session import session
from triplewire.pipeline.sharding import SCHEMA as ROUTED
from triplewire.pipeline.sharding import match_routed, route_events
from triplewire.pipeline.shipping import Shards, Shipped, open_index, open_router, ship, ship_shards
from triplewire.subscriptions.pattern import Subscription

ROWS, BYTES = 10_000, 16 * 1024 * 1024
"""How many lines, and about how many bytes of them, travel in one record batch."""

TEXTS_ARROW = pa.schema([("position", pa.int64()), ("body", pa.binary())])


@dataclass(frozen=True)
class Papers:
    """One of the papers' matchers, which every worker makes for itself from the files."""

    matcher: str
    ontology: tuple[Path, ...]
    subscriptions: Path


Source: TypeAlias = Shipped | Shards | Papers
Lifted: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def run_batch(
    ontology: list[Path],
    subscriptions: Path | None,
    events: list[Path],
    out: Path,
    master: str | None = None,
    matcher: str = DEFAULT_MATCHER,
    bindings: bool = False,
    lifting: Path | None = None,
    archive: Path | None = None,
    index: Path | None = None,
) -> list[Refusal]:
    """Match files or folders of events, or an archive, into ``out/matches`` and ``out/refused``; returns the latter.

    With an ``index``, whole or in shards, there is nothing to compile. The part files, one after the other by name, are
    the lines in order. Every worker must find the files of events where the caller finds them.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already, and is not an empty folder")
    settings = load_lifting(lifting)
    chunks: list[Piece | Part] = [*pieces(events, CHUNK)] if archive is None else [*Archive(archive.absolute()).parts()]
    made = out / "_index"
    chosen, refused = _chosen(ontology, subscriptions, matcher, index, made)
    with _spark(master) as spark:
        source = chosen if isinstance(chosen, Papers) else _shipped(spark, chosen)
        groups = match_chunks(spark, chunks, source, bindings, settings).persist(StorageLevel.DISK_ONLY)
        with named(spark, f"matching {len(chunks)} parts"):
            again = _again(groups)
        told = groups.where("refusal is null")
        if archive is not None or isinstance(source, Shards):  # whose files are by day, and which have no order
            told = told.orderBy("position", "entry")
        lines = told.mapInArrow(partial(_lines, source=source, again=again), "text string")
        with named(spark, "writing matches"):
            lines.write.text(str((out / "matches").absolute()))
        refused += _refused_events(groups, again, [path for path, _ in event_files(events)])
        groups.unpersist()
    shutil.rmtree(made, ignore_errors=True)
    _write_refused(refused, out / "refused")
    return refused


def _chosen(
    ontology: list[Path], subscriptions: Path | None, matcher: str, index: Path | None, made: Path
) -> tuple[Papers | Path, list[Refusal]]:
    """What to match with, an index that may have to be made first, and the subscriptions that were refused."""
    if index is not None:
        return index, []
    if subscriptions is None:
        raise UsageError("there is nothing to match with: neither subscriptions nor an index")
    if matcher == DEFAULT_MATCHER:
        return made, compile_index(ontology, subscriptions, made)
    papers = Papers(matcher, tuple(path.absolute() for path in ontology), subscriptions.absolute())
    return papers, _load(papers)[1]


def _shipped(spark: SparkSession, index: Path) -> Shipped | Shards:
    return ship_shards(spark.sparkContext, index) if is_sharded(index) else ship(spark.sparkContext, index)


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


def match_chunks(
    spark: SparkSession,
    chunks: Sequence[Piece | Part],
    source: Source,
    bindings: bool,
    lifting: Lifting,
) -> DataFrame:
    """What comes of pieces of files, or of an archive, as ``stage`` has it; unless by shards, in their order."""
    numbers = spark.range(0, len(chunks), 1, max(len(chunks), 1))
    lifted = partial(_lifted_chunks, chunks=chunks, lifting=lifting)
    if isinstance(source, Shards):
        return match_routed(numbers.mapInArrow(partial(_route, lifted=lifted, source=source), ROUTED), source, bindings)
    return numbers.mapInArrow(partial(_match, lifted=lifted, source=source, bindings=bindings), stage.SCHEMA)


def _lifted_chunks(
    batches: Iterable[pa.RecordBatch], chunks: Sequence[Piece | Part], lifting: Lifting
) -> Iterator[pa.RecordBatch]:
    numbers = (number for batch in batches for number in batch.column(0).to_pylist())
    return (batch for number in numbers for batch in _canonical(chunks[number], lifting))


def _match(
    batches: Iterable[pa.RecordBatch], lifted: Lifted, source: Shipped | Papers, bindings: bool
) -> Iterator[pa.RecordBatch]:
    return stage.match_events(lifted(batches), _matcher(source), bindings)


def _route(batches: Iterable[pa.RecordBatch], lifted: Lifted, source: Shards) -> Iterator[pa.RecordBatch]:
    return route_events(lifted(batches), open_router(source))


def _canonical(chunk: Piece | Part, lifting: Lifting) -> Iterator[pa.RecordBatch]:
    """The canonical events of a piece, or of a part of an archive, which has them."""
    if isinstance(chunk, Part):
        return map(undated, chunk.read())
    return lift_events(_text_batches(chunk), lifting)


def _text_batches(piece: Piece) -> Iterator[pa.RecordBatch]:
    positions: list[int] = []
    bodies: list[bytes] = []
    size = 0
    for position, _, text in texts(piece):
        positions.append(position)
        bodies.append(text)
        size += len(text)
        if len(bodies) == ROWS or size > BYTES:
            yield pa.RecordBatch.from_pydict({"position": positions, "body": bodies}, schema=TEXTS_ARROW)
            positions, bodies, size = [], [], 0
    if bodies:
        yield pa.RecordBatch.from_pydict({"position": positions, "body": bodies}, schema=TEXTS_ARROW)


def _lines(batches: Iterable[pa.RecordBatch], source: Source, again: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
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
    """The refused events in order, each with its place: its file and line, which no worker knows, or its position.

    Likewise the subscriptions that were given up on an event.
    """
    columns = ("position", "entry", "id", "envelope", "refusal", "lapses")
    rows = groups.where("refusal is not null or size(lapses) > 0").select(*columns).orderBy("position", "entry")
    seen = set(again.tolist())
    found = [row for row in rows.collect() if row.position not in seen]
    if not files:
        yield from (told for row in found for told in _told(row, row.id, {"position": row.position}))
        return
    for number, group in groupby(found, key=lambda row: row.position // FILE):
        told = list(group)
        for row, place in zip(told, _places(files[number], [row.position % FILE for row in told]), strict=True):
            yield from _told(row, row.envelope, {"file": str(files[number])} | place)


def _told(row: Row, event: str, place: dict[str, Any]) -> Iterator[Refusal]:
    if row.refusal is not None:
        yield {"event": event} | place | json.loads(row.refusal)
    for one in row.lapses or ():
        yield refusal_of_lapse(row.id, one.subscription, one.reason, place)


def _places(path: Path, offsets: list[int]) -> Iterator[dict[str, int]]:
    if path.suffix.lower() == PARQUET:
        return ({"row": row + 1} for row in offsets)
    if path.suffix.lower() in MEDIA_TYPES:
        return ({} for _ in offsets)
    return ({"line": line} for line in line_numbers(path, offsets))


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
    spark = session(master)
    try:
        yield spark
    finally:
        if begun:
            spark.stop()
