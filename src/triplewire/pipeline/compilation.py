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

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from triplewire.concepts.load import load_model
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.chunks import Chunk, compile_chunk, put_together, repeated
from triplewire.matching.engine.files import ArrayFolder, write_arrays
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.shards import build_shards
from triplewire.matching.lines import Entry, Line, read_subscriptions, refusal_of_repeated
from triplewire.pipeline.files import Piece, line_numbers, pieces, texts
from triplewire.pipeline.progress import named
from triplewire.subscriptions.pattern import Subscription

PIECE = 4 << 20
"""So many bytes of subscriptions one task compiles."""

REFUSALS = "offset long, refusal string"
REFUSALS_ARROW = pa.schema([("offset", pa.int64()), ("refusal", pa.string())])


@dataclass(frozen=True)
class Places:
    """Where in the file each subscription of a chunk begins."""

    offsets: NDArray[np.int64]


def compile_on_spark(
    spark: SparkSession, ontology: Sequence[Path], subscriptions: Path, out: Path, shards: int | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Write the index, or its shards, into a folder; returns how many subscriptions it has and what was refused."""
    out.mkdir(parents=True, exist_ok=True)
    model = load_model(ontology)
    parts = pieces([subscriptions], PIECE)
    with TemporaryDirectory(prefix="compiling-", dir=out) as scratch:
        job = partial(compile_pieces, parts=parts, ontology=tuple(path.absolute() for path in ontology))
        numbers = spark.range(0, len(parts), 1, max(len(parts), 1))
        with named(spark, f"compiling {len(parts)} parts"):
            rows = numbers.mapInArrow(partial(job, folder=Path(scratch).absolute()), REFUSALS).collect()
        refused = [(row.offset, json.loads(row.refusal)) for row in rows]
        folders = [ArrayFolder.open(Path(scratch, str(number))) for number in range(len(parts))]
        chunks = [folder.value("chunk", Chunk) for folder in folders]
        gone = repeated(chunks)
        for folder, chunk, again in zip(folders, chunks, gone, strict=True):
            offsets = folder.value("places", Places).offsets
            ids = ((int(offsets[number]), chunk.layout.ids[number]) for number in np.flatnonzero(again).tolist())
            refused += [(offset, refusal_of_repeated(id_.decode())) for offset, id_ in ids]
        _save(chunks, model, gone, out, shards)
    refused.sort(key=lambda row: row[0])
    lines = line_numbers(subscriptions, [offset for offset, _ in refused])
    told = [
        {"subscription": refusal.get("subscription"), "file": str(subscriptions), "line": line} | refusal
        for line, (_, refusal) in zip(lines, refused, strict=True)
    ]
    return sum(len(chunk) - int(again.sum()) for chunk, again in zip(chunks, gone, strict=True)), told


def _save(
    chunks: list[Chunk], model: ConceptModel, gone: list[NDArray[np.bool_]], out: Path, shards: int | None
) -> None:
    if shards is not None:
        build_shards(chunks, model, gone, shards, out)
        return
    index = Index.of(put_together(chunks, model, gone), model)
    index.save(out)
    index.close()


def compile_pieces(
    batches: Iterable[pa.RecordBatch], parts: Sequence[Piece], ontology: tuple[Path, ...], folder: Path
) -> Iterator[pa.RecordBatch]:
    """From the numbers of pieces to chunks in a folder, and to what was refused of them."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            refused = list(_compile(parts[number], _model(ontology), folder / str(number)))
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
    unfinished = target.with_name(f"{target.name}-{id(chunk)}")
    write_arrays(unfinished, {"chunk": chunk, "places": Places(np.array(offsets, np.int64))}, {})
    if target.exists():  # the task ran before, and was lost when it had done its work
        shutil.rmtree(unfinished)
    else:
        unfinished.rename(target)
