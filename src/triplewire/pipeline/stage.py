"""The second stage: canonical events in, their matches out, grouped by event. Batch, stream and backtest share it.

A group is one row, however many subscriptions an event trips; it is expanded only where somebody is told.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from triplewire.errors import EventError
from triplewire.matching.engine.index import Index
from triplewire.matching.matcher import Match, Matcher
from triplewire.pipeline import canonical
from triplewire.pipeline.canonical import refusal_of
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import read_graph

log = logging.getLogger(__name__)

TOLD = pa.list_(
    pa.struct(
        [
            ("subscription", pa.string()),
            ("score", pa.float64()),
            ("bindings", pa.string()),
            ("graph", pa.string()),
        ]
    )
)
SCHEMA = (
    "position long, entry int, source string, envelope string, id string, time string, refusal string, version string, "
    "matches binary, told array<struct<subscription:string,score:double,bindings:string,graph:string>>"
)
CARRIED = ("position", "entry", "source", "envelope", "id", "time", "refusal")
ARROW_SCHEMA = pa.schema(
    [
        *(canonical.ARROW_SCHEMA.field(name) for name in CARRIED),
        ("version", pa.string()),
        ("matches", pa.binary()),
        ("told", TOLD),
    ]
)


def match_events(
    batches: Iterable[pa.RecordBatch], matcher: Matcher, bindings: bool = False, version: str = ""
) -> Iterator[pa.RecordBatch]:
    """Match canonical events. A row comes out for every row that goes in, in the same order.

    ``matches`` are those with nothing to tell but that they are, as little-endian 32-bit numbers of subscriptions in
    the index that ``version`` names; ``told`` are the others, with scores, and with bindings and graphs as JSON where
    these were asked for. Both are in the order of ids.
    """
    for batch in batches:
        there = batch.column("data").is_valid()
        whole = there.true_count == batch.num_rows
        groups = _groups(batch if whole else batch.filter(there), matcher, bindings)
        if not whole:
            groups = groups.scattered(there)
        columns = [batch.column(name) for name in CARRIED]
        if groups.refused:
            columns[CARRIED.index("refusal")] = _with_refused(batch.column("refusal"), groups.refused)
        columns += [pa.array([version]).take(pa.array(np.zeros(batch.num_rows, np.int32)))]
        yield pa.RecordBatch.from_arrays([*columns, groups.matches, groups.told], schema=ARROW_SCHEMA)


class Groups(NamedTuple):
    """The matches of some events, a group each, and the events that were refused after all."""

    matches: pa.Array
    told: pa.Array
    refused: dict[int, str]

    def scattered(self, there: pa.Array) -> Groups:
        """The groups among more rows: those that are ``there``."""
        flags = there.to_numpy(zero_copy_only=False)
        places = np.flatnonzero(flags)
        taken = pa.array(np.cumsum(flags) - 1, pa.int64(), mask=~flags)
        refused = {int(places[number]): reason for number, reason in self.refused.items()}
        return Groups(self.matches.take(taken), self.told.take(taken), refused)


def _groups(batch: pa.RecordBatch, matcher: Matcher, bindings: bool) -> Groups:
    if isinstance(matcher, Index) and not bindings:
        return _by_index(batch, matcher)
    return _one_by_one(batch, matcher, bindings)


def _by_index(batch: pa.RecordBatch, index: Index) -> Groups:
    """By the engine's own way with many events, which makes no object of a triple."""
    found = index.match_batch(batch)
    numbers = pc.index_in(found.subscriptions, value_set=index.ids).to_numpy(zero_copy_only=False)
    plain = (found.scores == 1.0) & ~np.isnan(numbers)
    matches = _binary(np.concatenate([[0], np.cumsum(plain)])[found.offsets], numbers[plain].astype("<i4"))
    if plain.all():
        return Groups(matches, pa.nulls(batch.num_rows, TOLD), _told_refused(found.refused))
    rest = pa.array(~plain)
    told = [found.subscriptions.filter(rest).cast(pa.string()), pa.array(found.scores[~plain])]
    nothing = pa.nulls(len(told[0]), pa.string())
    rows = pa.StructArray.from_arrays([*told, nothing, nothing], fields=list(TOLD.value_type))
    offsets = np.concatenate([[0], np.cumsum(~plain)])[found.offsets]
    return Groups(matches, _lists(offsets, rows), _told_refused(found.refused))


def _told_refused(refused: dict[int, EventError]) -> dict[int, str]:
    return {number: refusal_of(error) for number, error in refused.items()}


def _one_by_one(batch: pa.RecordBatch, matcher: Matcher, bindings: bool) -> Groups:
    """By any matcher, and by the engine for all that it can tell."""
    told: list[list[dict[str, object]]] = []
    refused: dict[int, str] = {}
    columns = (batch.column(name).to_pylist() for name in ("id", "home", "data"))
    for number, (id_, home, data) in enumerate(zip(*columns, strict=True)):
        try:
            told.append([_row(match) for match in matcher.match(read_event(id_, home, data), bindings)])
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever is wrong with an event, the others go on
            told.append([])
            refused[number] = refusal_of(error)
    return Groups(pa.nulls(batch.num_rows, pa.binary()), pa.array(told, TOLD), refused)


def read_event(id_: str, home: str | None, data: str) -> Event:
    """A canonical event as a value."""
    graph = read_graph(data, "application/n-quads", home)
    return Event("", id_, graph if home else Graph(graph.arcs, None))


def _row(match: Match) -> dict[str, object]:
    return {
        "subscription": match.subscription,
        "score": match.score,
        "bindings": None if match.bindings is None else json.dumps(match.bindings, ensure_ascii=False),
        "graph": None if match.graph is None else json.dumps(match.graph, ensure_ascii=False),
    }


def _binary(offsets: NDArray[np.int64], numbers: NDArray[np.int32]) -> pa.Array:
    buffers = [None, pa.py_buffer((4 * offsets).astype(np.int32)), pa.py_buffer(numbers)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def _lists(offsets: NDArray[np.int64], rows: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rows, type=TOLD)


def _with_refused(refusals: pa.Array, refused: dict[int, str]) -> pa.Array:
    told = refusals.to_pylist()
    for number, reason in refused.items():
        told[number] = reason
    return pa.array(told, pa.string())


def numbers_of(matches: bytes | None) -> Sequence[int]:
    """The numbers in a value of the column ``matches``."""
    found: list[int] = np.frombuffer(matches or b"", "<i4").tolist()
    return found
