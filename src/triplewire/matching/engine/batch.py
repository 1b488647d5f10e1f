"""Many events at once: N-Quads in Arrow's columns in, ids of subscriptions out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from triplewire.errors import EventError
from triplewire.matching.engine import trie as tries
from triplewire.matching.engine.encoded import Flags, Ids, Offsets
from triplewire.matching.engine.kernels.owners import count_members, sort_out
from triplewire.matching.engine.kernels.quads import ODD, Documents
from triplewire.matching.engine.quads import Bytes, QuickEncoder, Reader
from triplewire.matching.engine.segment import Segment
from triplewire.matching.engine.state import State
from triplewire.matching.matcher import Match
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import read_graph

Open: TypeAlias = dict[Segment, list[int] | None]
"""What is left to do for an event: in each segment the subscriptions to verify, or None for the whole segment."""
Verify: TypeAlias = Callable[[Event, Open], Iterable[Match]]


@dataclass(frozen=True)
class BatchMatches:
    """The matches of event ``i``: ``subscriptions[offsets[i] : offsets[i + 1]]`` by id, and their scores likewise.

    Events that cannot be read are ``refused``, each by its number with the reason, and have no matches.
    """

    offsets: Offsets
    subscriptions: pa.Array
    scores: NDArray[np.float64]
    refused: dict[int, EventError]


class BatchMatcher:
    """Matches batches, and remembers what terms mean from batch to batch. For one thread at a time."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._encoders: WeakKeyDictionary[Segment, QuickEncoder] = WeakKeyDictionary()

    def match(self, batch: pa.RecordBatch, state: State, work: Counter[str], verify: Verify) -> BatchMatches:
        """The matches of a batch with the columns ``id``, ``home`` (null for none) and ``data``.

        What is new in the state is left out.
        """
        texts, homes = batch.column("data"), batch.column("home")
        documents = self._reader.read(*_bytes(texts), *_bytes(homes))
        events: list[NDArray[np.int64]] = []
        ids: list[pa.Array] = []
        left: dict[int, Open] = {}
        for segment in state.segments:
            unread = list(range(batch.num_rows))
            if (quick := self._quick(segment)) is not None:
                found, numbers, open_ = _found(segment, segment.gone(state.number), quick, documents, work)
                events.append(found)
                ids.append(segment.arrow_ids.take(pa.array(numbers)))
                for event, number in open_:
                    left.setdefault(event, {}).setdefault(segment, []).append(number)  # type: ignore[union-attr]
                unread = np.flatnonzero(documents.status == ODD).tolist()
            for event in unread:
                left.setdefault(event, {})[segment] = None
        scores = [np.ones(len(found)) for found in events]
        refused: dict[int, EventError] = {}
        for number, open_here in left.items():
            try:
                one = _event(batch.column("id")[number].as_py(), texts[number].as_py(), homes[number].as_py())
            except EventError as error:
                refused[number] = error
                continue
            more = list(verify(one, open_here))
            events.append(np.full(len(more), number))
            ids.append(pa.array([match.subscription for match in more], pa.large_string()))
            scores.append(np.array([match.score for match in more]))
        return _in_order(batch.num_rows, events, ids, scores, refused)

    def _quick(self, segment: Segment) -> QuickEncoder | None:
        """The encoder for a segment, None if its subscriptions ask for more than single terms tell."""
        encoder = self._encoders.get(segment)
        if encoder is None:
            encoder = self._encoders[segment] = QuickEncoder(segment.encoder, self._reader)
        return encoder if encoder.able and not len(segment.layout.interests.owners) else None


def _found(
    segment: Segment, gone: Flags, quick: QuickEncoder, documents: Documents, work: Counter[str]
) -> tuple[NDArray[np.int64], Ids, list[tuple[int, int]]]:
    """Events and the subscriptions that match them, row by row; and events with subscriptions to be verified."""
    layout, trie, scratch = segment.layout, segment.tables.trie, segment.scratch
    before = scratch.visits
    offsets, groups = tries.match_batch(trie, quick.encode(documents), scratch)
    work["nodes visited"] += scratch.visits - before
    most = count_members(groups, trie.offsets)
    matched, open_ = np.empty(most, np.int32), np.empty(most, np.int32)
    match_ends, open_ends = np.zeros(len(offsets), np.int64), np.zeros(len(offsets), np.int64)
    sort_out(
        offsets, groups, trie.offsets, trie.members, layout.owners, layout.decided, gone,
        np.zeros(len(segment), np.uint8), matched, match_ends[1:], open_, open_ends[1:],
    )  # fmt: skip
    every = np.arange(len(offsets) - 1)
    numbers = matched[: match_ends[-1]]
    pairs = list(zip(np.repeat(every, np.diff(open_ends)).tolist(), open_.tolist(), strict=False))
    loose = layout.loose[~gone[layout.loose]].tolist()
    pairs += [(event, number) for event in np.flatnonzero(documents.status != ODD).tolist() for number in loose]
    return np.repeat(every, np.diff(match_ends)), numbers, pairs


def _bytes(column: pa.Array) -> tuple[Bytes, Offsets]:
    """A column of texts as bytes and offsets; null is empty."""
    column = pc.fill_null(column, "").cast(pa.large_string())
    offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]
    data = column.buffers()[2]
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), offsets


def _event(id_: str, text: str, home: str | None) -> Event:
    graph = read_graph(text, "application/n-quads", home)
    return Event("", id_, graph if home else Graph(graph.arcs, None))


def _in_order(
    count: int,
    events: list[NDArray[np.int64]],
    ids: list[pa.Array],
    scores: list[NDArray[np.float64]],
    refused: dict[int, EventError],
) -> BatchMatches:
    """All matches by event, then by id."""
    numbers = np.concatenate(events or [np.empty(0, np.int64)])
    names = pa.concat_arrays(ids) if ids else pa.array([], pa.large_string())
    values = np.concatenate(scores or [np.empty(0)])
    if len(ids) > 1:
        table = pa.table({"event": numbers, "id": names, "place": np.arange(len(numbers))})
        order = pc.sort_indices(table, [("event", "ascending"), ("id", "ascending"), ("place", "descending")])
        numbers, names, values = numbers[order], names.take(order), values[order]
        if len(numbers) > 1:  # what is just being replaced is there twice: the newer counts
            again = (numbers[1:] == numbers[:-1]) & pc.equal(names[1:], names[:-1]).to_numpy(zero_copy_only=False)
            first = np.concatenate([[True], ~again])
            numbers, names, values = numbers[first], names.filter(pa.array(first)), values[first]
    offsets = np.searchsorted(numbers, np.arange(count + 1))
    return BatchMatches(offsets, names, values, refused)
