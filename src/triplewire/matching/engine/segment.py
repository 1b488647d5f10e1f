"""A segment: some of an index's subscriptions, and the search for those that an event may trip."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplewire.concepts.model import ConceptModel
from triplewire.errors import IndexFolderError
from triplewire.matching.engine import trie as tries
from triplewire.matching.engine.encoded import EncodedPatterns, Flags, Ids
from triplewire.matching.engine.events import Encoder
from triplewire.matching.engine.facts import Facts
from triplewire.matching.engine.merge import Part, merge
from triplewire.matching.engine.records import Kept, Records, joined, written
from triplewire.matching.engine.scorer import Scorer
from triplewire.matching.engine.tables import Prepared, Tables, id_key, lay_out, prepare
from triplewire.matching.matcher import Binding
from triplewire.subscriptions.pattern import Subscription

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 20_000
"""So many subscriptions are held in memory as values while a segment is built."""

SAME: tuple[tuple[Binding, ...], ...] = ((), ({},))
"""The bindings that matches with subscriptions have which tell nothing of them."""
UNKNOWN = 255


class Found(NamedTuple):
    """The subscriptions, by number, that an event trips for sure, and those to verify."""

    matched: list[int]
    candidates: list[int]


class Segment:
    """Immutable but for what is removed from it.

    ``removed`` tells for each subscription the state's number from which on it is gone, 0 if it is not. Whoever still
    looks at a state from before sees it.
    """

    def __init__(
        self, tables: Tables, patterns: Callable[[], EncodedPatterns], records: Records, model: ConceptModel
    ) -> None:
        self.tables = tables
        self.layout = tables.layout
        self.patterns = patterns
        self.records = records
        self.model = model
        self.removed = np.zeros(len(tables.layout.ids), np.int64)
        self.encoder = Encoder(tables.layout.vocabulary, model)
        self._scorer = Scorer(tables.layout.interests, tables.postings, model)
        self._local = threading.local()
        self._bindings = np.full(len(tables.layout.ids), UNKNOWN, np.uint8)

    @classmethod
    def built(cls, subscriptions: Iterable[Subscription], model: ConceptModel) -> Segment:
        """One segment of many subscriptions, compiled some at a time; of several with one id the last counts."""
        parts: list[Part] = []
        records: list[Records] = []
        places: dict[str, tuple[int, int]] = {}
        coming = iter(subscriptions)
        while some := {one.id: one for one in islice(coming, CHUNK)}:
            layout, patterns, ordered = lay_out(prepare(one, model) for one in some.values())
            for number, one in enumerate(ordered):
                if (place := places.get(one.id)) is not None:
                    parts[place[0]].removed[place[1]] = True
                places[one.id] = len(parts), number
            parts.append(Part(layout, patterns, np.zeros(len(ordered), np.bool_)))
            records.append(Kept(ordered) if len(some) < CHUNK else written(ordered))
        if not parts:
            return cls.merged(model)
        layout, patterns, owners = merge(parts)
        return cls(Tables.of(layout, patterns, model), lambda: patterns, joined(records, owners), model)

    @classmethod
    def merged(
        cls,
        model: ConceptModel,
        segments: Sequence[Segment] = (),
        new: Iterable[Prepared] = (),
        removed: Sequence[Flags] | None = None,
    ) -> Segment:
        """One segment of several and of what is new: all that is not removed, by now or as told."""
        gone = [one.removed > 0 for one in segments] if removed is None else removed
        parts = [Part(one.layout, one.patterns(), flags) for one, flags in zip(segments, gone, strict=True)]
        layout, patterns, subscriptions = lay_out(new)
        records: Records = Kept(subscriptions)
        if segments:
            parts.append(Part(layout, patterns, np.zeros(len(subscriptions), np.bool_)))
            layout, patterns, owners = merge(parts)
            records = joined([*(segment.records for segment in segments), records], owners)
        return cls(Tables.of(layout, patterns, model), lambda: patterns, records, model)

    def __len__(self) -> int:
        return len(self.layout.ids)

    def find(self, id_: str) -> int:
        """The number of a subscription that has not been removed, or -1."""
        key = id_key(id_)
        number = bisect_left(self.layout.ids, key)
        there = number < len(self) and self.layout.ids[number] == key and not self.removed[number]
        return number if there else -1

    def remove(self, ids: Iterable[str], since: int) -> None:
        """Remove some subscriptions, as far as they are here, for states from a number on."""
        for number in map(self.find, ids):
            if number >= 0:
                self.removed[number] = since

    def gone(self, state: int) -> Flags:
        """Which subscriptions are gone in a state."""
        return (self.removed > 0) & (self.removed <= state)

    def living(self, numbers: Ids, state: int) -> Ids:
        """Those of some subscriptions that are not gone in a state."""
        since = self.removed[numbers]
        found: Ids = numbers[(since == 0) | (since > state)]
        return found

    def ids_of(self, numbers: Sequence[int]) -> Iterator[str]:
        """The ids of subscriptions."""
        return (id_.decode("utf-8", "surrogatepass") for id_ in self.layout.ids.some(numbers))

    @cached_property
    def arrow_ids(self) -> pa.Array:
        import pyarrow as pa  # which only batches need

        ids = self.layout.ids
        return pa.Array.from_buffers(
            pa.large_string(), len(ids), [None, pa.py_buffer(ids.offsets), pa.py_buffer(ids.data)]
        )

    def bindings_of(self, numbers: Ids) -> NDArray[np.uint8]:
        """The bindings of sure matches with some subscriptions, as places in ``SAME``; beyond it they are to be found.

        Each subscription is read once for this, and a byte is remembered.
        """
        for number in np.unique(numbers[self._bindings[numbers] == UNKNOWN]).tolist():
            with suppress(IndexFolderError):  # whoever needs the record is told
                known = self.records[number]
                self._bindings[number] = SAME.index(known.only_bindings) if known.tells_nothing else len(SAME)
        found: NDArray[np.uint8] = self._bindings[numbers]
        return found

    def match(self, facts: Facts, work: Counter[str], state: int) -> Found:
        """What the trie finds for an event in a state."""
        layout, trie = self.layout, self.tables.trie
        event, certain = self.encoder.encode(facts)
        scratch = self.scratch
        before = scratch.visits
        patterns = tries.expand(trie, tries.match(trie, event, scratch))
        work["nodes visited"] += scratch.visits - before
        decided = layout.decided[patterns] if certain else np.zeros(len(patterns), np.bool_)
        owners = layout.owners[patterns]
        matched = np.unique(owners[decided])
        candidates = np.unique(np.concatenate([owners[~decided], layout.loose]))
        candidates = np.setdiff1d(candidates, matched, assume_unique=True)
        return Found(self.living(matched, state).tolist(), self.living(candidates, state).tolist())

    def interested(self, facts: Facts, state: int) -> dict[int, float]:
        """The subscriptions with an interest that an event is above the threshold of, and the best of their scores."""
        if not len(self.layout.interests.owners):
            return {}
        found, scores = self._scorer.match(facts.profile, facts.event.graph)
        owners = self.layout.interests.owners[found]
        order = np.argsort(scores, kind="stable")  # so that the best comes last, and stays
        best = dict(zip(owners[order].tolist(), scores[order].tolist(), strict=True))
        return {owner: best[owner] for owner in self.living(np.unique(owners), state).tolist()}

    @property
    def scratch(self) -> tries.Scratch:
        """What this thread's searches write to."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = tries.Scratch(self.tables.trie)
        found: tries.Scratch = self._local.scratch
        return found
