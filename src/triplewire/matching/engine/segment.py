"""A segment: some of an index's subscriptions, and the search for those that an event may trip."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine import trie as tries
from triplewire.matching.engine.encoded import EncodedPatterns, Flags, Ids
from triplewire.matching.engine.events import Encoder
from triplewire.matching.engine.facts import Facts
from triplewire.matching.engine.interests import Scorer
from triplewire.matching.engine.merge import Part, merge, taken
from triplewire.matching.engine.records import Kept, Records, Written
from triplewire.matching.engine.tables import Prepared, Tables, id_key, lay_out


class Segment:
    """Immutable but for the subscriptions that are ``removed`` from it."""

    def __init__(
        self, tables: Tables, patterns: Callable[[], EncodedPatterns], records: Records, model: ConceptModel
    ) -> None:
        self.tables = tables
        self.patterns = patterns
        self.records = records
        self.model = model
        self.removed = np.zeros(len(tables.ids), np.bool_)
        self.encoder = Encoder(tables.vocabulary, model)
        self._scorer = Scorer(tables.interests, model)
        self._local = threading.local()

    @classmethod
    def of(cls, prepared: Iterable[Prepared], model: ConceptModel) -> Segment:
        tables, patterns, subscriptions = lay_out(prepared)
        return cls(tables, lambda: patterns, Kept(subscriptions), model)

    @classmethod
    def merged(cls, segments: Sequence[Segment], removed: Sequence[Flags]) -> Segment:
        """One segment for several: all that is not removed from them."""
        parts = [Part(one.tables, one.patterns(), gone) for one, gone in zip(segments, removed, strict=True)]
        tables, patterns, origin = merge(parts)
        records: Records
        if all(isinstance(segment.records, Kept) for segment in segments):
            pairs = zip(origin.parts.tolist(), origin.numbers.tolist(), strict=True)
            records = Kept([segments[part].records[number] for part, number in pairs])
        else:
            texts = taken([segment.records.texts() for segment in segments], origin)
            records = Written(lambda: texts, "the index in memory")
        return cls(tables, lambda: patterns, records, segments[0].model)

    def __len__(self) -> int:
        return len(self.tables.ids)

    def find(self, id_: str) -> int:
        """The number of a subscription that has not been removed, or -1."""
        key = id_key(id_)
        number = bisect_left(self.tables.ids, key)
        there = number < len(self) and self.tables.ids[number] == key and not self.removed[number]
        return number if there else -1

    def remove(self, ids: Iterable[str]) -> None:
        """Remove some subscriptions, as far as they are here."""
        for number in map(self.find, ids):
            if number >= 0:
                self.removed[number] = True

    def id_of(self, number: int) -> str:
        return self.tables.ids[number].decode("utf-8", "surrogatepass")

    @cached_property
    def arrow_ids(self) -> pa.Array:
        ids = self.tables.ids
        return pa.Array.from_buffers(
            pa.large_string(), len(ids), [None, pa.py_buffer(ids.offsets), pa.py_buffer(ids.data)]
        )

    def match(self, facts: Facts, work: Counter[str]) -> tuple[Ids, Ids]:
        """The numbers of the subscriptions that match, and of those that must be verified."""
        tables = self.tables
        event, certain = self.encoder.encode(facts)
        scratch = self.scratch
        before = scratch.visits
        patterns = tries.expand(tables.trie, tries.match(tables.trie, event, scratch))
        work["nodes visited"] += scratch.visits - before
        decided = tables.decided[patterns] if certain else np.zeros(len(patterns), np.bool_)
        owners = tables.owners[patterns]
        matched = np.unique(owners[decided])
        interested = self._scorer.candidates(facts.profile) if len(tables.interests.owners) else tables.loose[:0]
        candidates = np.unique(np.concatenate([owners[~decided], tables.loose, interested]))
        candidates = np.setdiff1d(candidates, matched, assume_unique=True)
        return matched[~self.removed[matched]], candidates[~self.removed[candidates]]

    @property
    def scratch(self) -> tries.Scratch:
        """What this thread's searches write to."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = tries.Scratch(self.tables.trie)
        found: tries.Scratch = self._local.scratch
        return found
