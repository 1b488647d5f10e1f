"""Many events at once: N-Quads in Arrow's columns in, ids of subscriptions out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from triplewire.errors import EventError, UsageError
from triplewire.matching.engine import trie as tries
from triplewire.matching.engine.encoded import Flags, Ids, Offsets
from triplewire.matching.engine.kernels.owners import count_members, sort_out
from triplewire.matching.engine.kernels.quads import ODD, Documents
from triplewire.matching.engine.quads import Bytes, QuickEncoder, Reader
from triplewire.matching.engine.segment import SAME, Found, Segment
from triplewire.matching.engine.state import State
from triplewire.matching.matcher import Lapse, Match
from triplewire.rdf.graph import Event, Graph, parse_resource
from triplewire.rdf.syntax import read_graph

Left: TypeAlias = dict[Segment, Found | None]
"""What is left to do for an event: in each segment to finish what its trie found, or None for all of it."""
Finish: TypeAlias = Callable[[Event, Left], dict[str, Match | Lapse]]

COLUMNS = ("id", "home", "data")


@dataclass(frozen=True)
class BatchMatches:
    """The matches of event ``i``: ``subscriptions[offsets[i] : offsets[i + 1]]`` by id, and their scores likewise.

    Events that cannot be read are ``refused``, each by its number with the reason, and have no matches. Where bindings
    were asked for, ``matches`` are the same matches with theirs, row by row; otherwise None. ``numbers`` are those of
    the subscriptions in the snapshot, where the trie alone has told; otherwise -1. ``lapses`` are the subscriptions
    that were given up, each with the number of the event.
    """

    offsets: Offsets
    subscriptions: pa.Array
    numbers: Ids
    scores: NDArray[np.float64]
    refused: dict[int, EventError]
    matches: list[Match] | None = None
    lapses: Sequence[tuple[int, Lapse]] = ()


class BatchMatcher:
    """Matches batches, and remembers what terms mean from batch to batch. For one thread at a time."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._encoders: WeakKeyDictionary[Segment, QuickEncoder] = WeakKeyDictionary()

    def match(
        self, batch: pa.RecordBatch, state: State, work: Counter[str], finish: Finish, bindings: bool
    ) -> BatchMatches:
        """The matches of a batch, without what is new in the state."""
        given = _Given.of(batch)
        rows = _Rows()
        left: dict[int, Left] = {}
        searched: list[_Searched] = []
        documents = self._reader.read(*_bytes(given.texts), *_bytes(given.homes))
        for segment in state.segments:
            unread: Iterable[int] = range(batch.num_rows)
            if (quick := self._quick(segment)) is not None:
                found = _Searched(segment, segment.gone(state.number), quick, documents, work)
                searched.append(found)
                whole = bindings or len(segment.layout.interests.owners) > 0
                if not whole:
                    rows.add(found, segment is state.segments[0])
                for event in found.unsettled(bindings).tolist():
                    left.setdefault(event, {})[segment] = found.of(event, whole)
                unread = np.flatnonzero(documents.status == ODD).tolist()
            for event in unread:
                left.setdefault(event, {})[segment] = None
        if bindings:
            for number, open_here in left.items():
                whole_left = {one.segment: one.of(number, whole=True) for one in searched} | open_here
                left[number] = {segment: whole_left[segment] for segment in state.segments if segment in whole_left}
            ids = [id_ or "" for id_ in given.ids.to_pylist()]
            for found in searched:
                rows.add_silent(found, ids, left)
        refused = given.refused
        for number, open_here in left.items():
            if number in refused:
                continue
            work["events read one by one"] += 1
            try:
                rows.add_told(number, finish(given.event(number), open_here).values())
            except EventError as error:
                refused[number] = error
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # a panic in a library written in Rust is no Exception
                refused[number] = EventError(f"{type(error).__name__}: {error}")
        return rows.in_order(batch.num_rows, refused, bindings)

    def _quick(self, segment: Segment) -> QuickEncoder | None:
        """The encoder for a segment, None if its subscriptions ask for more than single terms tell."""
        encoder = self._encoders.get(segment)
        if encoder is None:
            encoder = self._encoders[segment] = QuickEncoder(segment.encoder, self._reader)
        return encoder if encoder.able else None


class _Given(NamedTuple):
    """A batch's columns, and the events in it that are no texts at all."""

    ids: pa.Array
    homes: pa.Array
    texts: pa.Array
    refused: dict[int, EventError]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> _Given:
        if missing := [name for name in COLUMNS if name not in batch.schema.names]:
            there = ", ".join(batch.schema.names)
            raise UsageError(f"a batch of events has the columns {', '.join(COLUMNS)}: no {missing[0]} among {there}")
        refused: dict[int, EventError] = {}
        ids, homes, texts = (_text(batch.column(name), refused) for name in COLUMNS)
        for number in np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False)).tolist():
            refused.setdefault(number, EventError("the event has no data"))
        return cls(ids, homes, texts, refused)

    def event(self, number: int) -> Event:
        return read_event(self.ids[number].as_py(), self.homes[number].as_py(), self.texts[number].as_py())


def read_event(id_: str | None, home: str | None, text: str) -> Event:
    """An event of a batch as a value."""
    if home and not text:  # as an empty JSON object is lifted
        graph = Graph((), parse_resource(home))
    else:
        graph = read_graph(text, "application/n-quads", home or None)
    return Event("", id_ or "", graph if home else Graph(graph.arcs, None))


class _Searched:
    """What the trie of a segment finds for events, row by row."""

    def __init__(
        self, segment: Segment, gone: Flags, quick: QuickEncoder, documents: Documents, work: Counter[str]
    ) -> None:
        layout, trie, scratch = segment.layout, segment.tables.trie, segment.scratch
        visits, learned = scratch.visits, quick.learned
        offsets, groups = tries.match_batch(trie, quick.encode(documents), scratch)
        work["nodes visited"] += scratch.visits - visits
        work["terms learned"] += quick.learned - learned
        most = count_members(groups, trie.offsets)
        matched, open_ = np.empty(most, np.int32), np.empty(most, np.int32)
        self.match_ends, self.open_ends = np.zeros(len(offsets), np.int64), np.zeros(len(offsets), np.int64)
        sort_out(
            offsets, groups, trie.offsets, trie.members, layout.owners, layout.decided, gone,
            np.zeros(len(segment), np.uint8), matched, self.match_ends[1:], open_, self.open_ends[1:],
        )  # fmt: skip
        self.segment = segment
        self.matched: Ids = matched[: self.match_ends[-1]]
        self.open: Ids = open_[: self.open_ends[-1]]
        self.loose: list[int] = layout.loose[~gone[layout.loose]].tolist()
        self.plain = documents.status != ODD

    def ids(self) -> pa.Array:
        """The ids of what matches."""
        return self.segment.arrow_ids.take(pa.array(self.matched))

    def unsettled(self, bindings: bool) -> NDArray[np.int64]:
        """The events for which more is to be done."""
        if self.loose or len(self.segment.layout.interests.owners):
            return np.flatnonzero(self.plain)
        unsettled = np.diff(self.open_ends)
        if bindings:
            telling = np.concatenate([[0], np.cumsum(self.bindings >= len(SAME))])
            unsettled = unsettled + np.diff(telling[self.match_ends])
        return np.flatnonzero(unsettled)

    @cached_property
    def bindings(self) -> NDArray[np.uint8]:
        """What is told of each match, where that is known beforehand."""
        return self.segment.bindings_of(self.matched)

    def of(self, event: int, whole: bool) -> Found:
        """What was found for an event; without what matches, unless the ``whole`` is wanted."""
        matched = self.matched[self.match_ends[event] : self.match_ends[event + 1]].tolist() if whole else []
        return Found(matched, self.open[self.open_ends[event] : self.open_ends[event + 1]].tolist() + self.loose)


class _Rows:
    """Matches as they come: events, ids, scores; and with their bindings, where they were found one by one."""

    def __init__(self) -> None:
        self._events: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        self._ids: list[pa.Array] = [pa.array([], pa.large_string())]
        self._numbers: list[Ids] = [np.empty(0, np.int32)]
        self._scores: list[NDArray[np.float64]] = [np.empty(0)]
        self._matches: list[Match] = []
        self._lapses: list[tuple[int, Lapse]] = []

    def add(self, found: _Searched, snapshot: bool) -> None:
        """What a trie has found, which is that of the snapshot or not."""
        count = len(found.matched)
        self._events.append(np.repeat(np.arange(len(found.plain)), np.diff(found.match_ends)))
        self._ids.append(found.ids())
        self._numbers.append(found.matched if snapshot else np.full(count, -1, np.int32))
        self._scores.append(np.ones(count))

    def add_silent(self, found: _Searched, ids: Sequence[str], left: Collection[int]) -> None:
        """Matches of which it is known beforehand what they tell, of events for which nothing is left to do."""
        events = np.repeat(np.arange(len(found.plain)), np.diff(found.match_ends))
        settled = ~np.isin(events, list(left))
        events, names = events[settled], found.ids().filter(pa.array(settled))
        self._events.append(events)
        self._ids.append(names)
        self._numbers.append(np.full(len(events), -1, np.int32))
        self._scores.append(np.ones(len(events)))
        told = zip(events.tolist(), names.to_pylist(), found.bindings[settled].tolist(), strict=True)
        self._matches += [Match(ids[event], name, 1.0, SAME[kind]) for event, name, kind in told]

    def add_told(self, event: int, told: Collection[Match | Lapse]) -> None:
        self._lapses += [(event, one) for one in told if isinstance(one, Lapse)]
        matches = [one for one in told if isinstance(one, Match)]
        self._events.append(np.full(len(matches), event))
        self._ids.append(pa.array([match.subscription for match in matches], pa.large_string()))
        self._numbers.append(np.full(len(matches), -1, np.int32))
        self._scores.append(np.array([match.score for match in matches]))
        self._matches += matches

    def in_order(self, count: int, refused: dict[int, EventError], bindings: bool) -> BatchMatches:
        """All matches by event, then by id."""
        events, ids = np.concatenate(self._events), pa.concat_arrays(self._ids)
        numbers, scores = np.concatenate(self._numbers), np.concatenate(self._scores)
        order = np.arange(len(events))
        if len(self._ids) > 2 or self._matches or refused:
            table = pa.table({"event": events, "id": ids, "place": order})
            keys = [("event", "ascending"), ("id", "ascending"), ("place", "descending")]
            order = pc.sort_indices(table, keys).to_numpy()
            rows, names = events[order], ids.take(pa.array(order))
            kept = ~np.isin(rows, list(refused))
            # What is just being replaced is there twice: the newer counts.
            kept[1:] &= (rows[1:] != rows[:-1]) | pc.not_equal(names[1:], names[:-1]).to_numpy(zero_copy_only=False)
            order = order[kept]
            events, ids = events[order], ids.take(pa.array(order))
            numbers, scores = numbers[order], scores[order]
        matches = [self._matches[place] for place in order.tolist()] if bindings else None
        offsets = np.searchsorted(events, np.arange(count + 1))
        lapses = sorted(self._lapses)
        return BatchMatches(offsets, ids, numbers, scores, refused, matches, lapses)


def _text(column: pa.Array, refused: dict[int, EventError]) -> pa.Array:
    """A column of texts, or of bytes that are UTF-8; where they are not, it is null and the event refused."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array(_decoded(column, refused), pa.large_string())


def _decoded(column: pa.Array, refused: dict[int, EventError]) -> Iterator[str | None]:
    for number, value in enumerate(column):
        try:
            yield None if value.as_py() is None else value.as_py().decode()
        except UnicodeDecodeError as error:
            refused[number] = EventError(f"not UTF-8: {error.reason} at offset {error.start}")
            yield None


def _bytes(column: pa.Array) -> tuple[Bytes, Offsets]:
    """A column of texts as bytes and offsets; null is empty."""
    column = pc.fill_null(column, "")
    offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]
    if column.buffers()[2] is None or not len(column):
        return np.empty(0, np.uint8), np.zeros(len(column) + 1, np.int64)
    return np.frombuffer(column.buffers()[2], np.uint8)[offsets[0] : offsets[-1]], offsets - offsets[0]
