"""Subscriptions compiled on Spark: tasks read and compile pieces of the file, the driver puts their chunks together.

Understanding texts is what takes time. Chunks are arrays, and are put together without understanding anything again.
They are handed over as files: tasks write them beside the index, where the driver must find them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from triplewire.concepts.load import load_model
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.serial import from_json, to_json
from triplewire.errors import IndexFolderError
from triplewire.matching.engine.chunks import Chunk, compile_chunk, put_together, repeated
from triplewire.matching.engine.files import HEADER, ArrayFolder, write_arrays
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.shards import assign, write_routes, write_shard
from triplewire.matching.lines import Entry, Line, read_subscriptions, refusal_of_repeated
from triplewire.pipeline.files import Piece, line_numbers, pieces, texts
from triplewire.pipeline.progress import named
from triplewire.subscriptions.pattern import Subscription

PIECE = 4 << 20
"""So many bytes of subscriptions one task compiles, or fewer: at least so that every core gets some pieces."""
PIECES = 4
"""So many pieces a core should get, so that none has much more to do than another."""

REFUSALS = "offset long, refusal string"
REFUSALS_ARROW = pa.schema([("offset", pa.int64()), ("refusal", pa.string())])


@dataclass(frozen=True)
class Places:
    """Where in the file each subscription of a chunk begins."""

    offsets: NDArray[np.int64]


@dataclass(frozen=True)
class Assigned:
    """The shard of each subscription of all chunks, -1 where it is removed."""

    shards: NDArray[np.int32]


def compile_on_spark(
    spark: SparkSession, ontology: Sequence[Path], subscriptions: Path, out: Path, shards: int | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Write the index, or its shards, into a folder; returns how many subscriptions it has and what was refused.

    The subscriptions are a file of records; or a folder of chunks, which ``write_chunks`` has written.
    """
    out.mkdir(parents=True, exist_ok=True)
    model = load_model(ontology)
    if subscriptions.is_dir():
        count, again = put_chunks_together(spark, model, subscriptions, out, shards)
        return count, [{"file": str(chunk.path)} | refusal_of_repeated(id_) for chunk, _, id_ in again]
    with TemporaryDirectory(prefix="compiling-", dir=out) as scratch:
        chunks = Path(scratch, "chunks")
        refused = write_chunks(spark, ontology, subscriptions, chunks)
        count, again = put_chunks_together(spark, model, chunks, out, shards)
        for chunk, number, id_ in again:
            refused.append((int(chunk.value("places", Places).offsets[number]), refusal_of_repeated(id_)))
    refused.sort(key=lambda row: row[0])
    lines = line_numbers(subscriptions, [offset for offset, _ in refused])
    return count, [
        {"subscription": refusal.get("subscription"), "file": str(subscriptions), "line": line} | refusal
        for line, (_, refusal) in zip(lines, refused, strict=True)
    ]


def write_chunks(
    spark: SparkSession, ontology: Sequence[Path], subscriptions: Path, folder: Path
) -> list[tuple[int, dict[str, Any]]]:
    """Compile a file of records to chunks in a folder; returns what was refused, with where in the file it begins."""
    folder.mkdir(parents=True)
    share = subscriptions.stat().st_size // (PIECES * spark.sparkContext.defaultParallelism) + 1
    parts = pieces([subscriptions], min(PIECE, max(share, PIECE // 64)))
    job = partial(compile_pieces, parts=parts, ontology=tuple(path.absolute() for path in ontology))
    numbers = spark.range(0, len(parts), 1, max(len(parts), 1))
    with named(spark, f"compiling {len(parts)} parts"):
        rows = numbers.mapInArrow(partial(job, folder=folder.absolute()), REFUSALS).collect()
    return [(row.offset, json.loads(row.refusal)) for row in rows]


def put_chunks_together(
    spark: SparkSession, model: ConceptModel, folder: Path, out: Path, shards: int | None = None
) -> tuple[int, list[tuple[ArrayFolder, int, str]]]:
    """Write the index, or its shards, of a folder's chunks; returns how many subscriptions it has.

    And those that were left out, as another that comes before has their id: the chunk, the number there, and the id.
    """
    folders = _folders(folder, model)
    chunks = [one.value("chunk", Chunk) for one in folders]
    gone = repeated(chunks)
    again = [
        (one, number, chunk.layout.ids[number].decode())
        for one, chunk, flags in zip(folders, chunks, gone, strict=True)
        for number in np.flatnonzero(flags).tolist()
    ]
    if shards is not None:
        _write_shards(spark, chunks, model, gone, folder, out, shards)
    else:
        with named(spark, f"putting {len(chunks)} chunks together"):
            index = Index.of(put_together(chunks, model, gone), model)
            index.save(out)
            index.close()
    return sum(map(len, chunks)) - len(again), again


def _folders(folder: Path, model: ConceptModel) -> list[ArrayFolder]:
    """The folders of chunks in their order."""
    found = [ArrayFolder.open(path) for path in sorted(folder.iterdir()) if (path / HEADER).exists()]
    for one in found:
        if one.header.get("model") != model.content_hash:
            raise IndexFolderError(f"{one.path} was made with another ontology: compile it again")
    return found


def _write_shards(
    spark: SparkSession,
    chunks: list[Chunk],
    model: ConceptModel,
    gone: list[NDArray[np.bool_]],
    folder: Path,
    out: Path,
    count: int,
) -> None:
    """Have each shard written by a task."""
    assigned, routes = assign(chunks, gone, count)
    with TemporaryDirectory(prefix="compiling-", dir=out) as scratch:
        told = Path(scratch, "assigned")
        write_arrays(told, {"assigned": Assigned(np.concatenate([np.empty(0, np.int32), *assigned]))}, {})
        Path(scratch, "model").write_text(to_json(model))
        job = partial(write_shards, folder=folder.absolute(), scratch=Path(scratch).absolute(), out=out.absolute())
        with named(spark, f"writing {count} shards"):
            spark.range(0, count, 1, count).mapInArrow(job, "shard long").collect()
    write_routes(routes, model, count, out)


def write_shards(batches: Iterable[pa.RecordBatch], folder: Path, scratch: Path, out: Path) -> Iterator[pa.RecordBatch]:
    """From the numbers of shards to shards in a folder."""
    model = from_json((scratch / "model").read_bytes())
    chunks = [one.value("chunk", Chunk) for one in _folders(folder, model)]
    assigned = ArrayFolder.open(scratch / "assigned").value("assigned", Assigned).shards
    parts = np.split(assigned, np.cumsum([len(chunk) for chunk in chunks])[:-1])
    for batch in batches:
        for shard in batch.column(0).to_pylist():
            write_shard(chunks, model, parts, shard, out)
        yield pa.RecordBatch.from_arrays([batch.column(0)], ["shard"])


def compile_pieces(
    batches: Iterable[pa.RecordBatch], parts: Sequence[Piece], ontology: tuple[Path, ...], folder: Path
) -> Iterator[pa.RecordBatch]:
    """From the numbers of pieces to chunks in a folder, and to what was refused of them."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            refused = list(_compile(parts[number], _model(ontology), folder / f"{number:06}"))
            columns = [[offset for offset, _ in refused], [json.dumps(refusal) for _, refusal in refused]]
            yield pa.RecordBatch.from_pydict(dict(zip(REFUSALS_ARROW.names, columns, strict=True)), REFUSALS_ARROW)


@lru_cache(maxsize=1)
def _model(ontology: tuple[Path, ...]) -> ConceptModel:
    return load_model(ontology)


def _compile(piece: Piece, model: ConceptModel, target: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    found: dict[str, tuple[int, Subscription]] = {}
    for entry in read_subscriptions((Line("", text.position, text.text) for text in texts(piece)), model):
        if isinstance(entry, Entry):
            found[entry.subscription.id] = entry.line.number, entry.subscription
        else:
            yield entry.pop("line"), {name: value for name, value in entry.items() if name != "file"}
    chunk = compile_chunk((subscription for _, subscription in found.values()), model)
    offsets = [found[id_.decode()][0] for id_ in chunk.layout.ids]
    unfinished = target.parent.with_name(f"{target.name}-{uuid4().hex}")
    about = {"model": model.content_hash}
    write_arrays(unfinished, {"chunk": chunk, "places": Places(np.array(offsets, np.int64))}, about)
    if target.exists():  # the task ran before, and was lost when it had done its work
        shutil.rmtree(unfinished)
    else:
        unfinished.rename(target)
