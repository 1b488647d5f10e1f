"""Subscriptions compiled some at a time, anywhere, and then put together into one segment, or into several.

A chunk is arrays only: it can be written by one process and mapped into memory by another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.encoded import EncodedPatterns, Flags, Ids, Offsets, offsets_of
from triplewire.matching.engine.merge import Part, merge
from triplewire.matching.engine.records import Kept, Written, joined
from triplewire.matching.engine.roots import roots_of
from triplewire.matching.engine.segment import CHUNK, Segment
from triplewire.matching.engine.tables import Layout, Tables, lay_out, prepare
from triplewire.matching.engine.texts import Texts
from triplewire.subscriptions.pattern import Subscription


@dataclass(frozen=True)
class Chunk:
    """Some subscriptions, no two of the same id, by number.

    The roots of subscription ``i`` are ``roots[root_members[root_offsets[i] : root_offsets[i + 1]]]``.
    """

    layout: Layout
    patterns: EncodedPatterns
    records: Texts
    roots: Texts
    root_offsets: Offsets
    root_members: Ids

    def __len__(self) -> int:
        return len(self.layout.ids)


def compile_chunk(subscriptions: Iterable[Subscription], model: ConceptModel) -> Chunk:
    prepared = {one.id: prepare(one, model) for one in subscriptions}
    layout, patterns, ordered = lay_out(prepared.values())
    numbers: dict[bytes, int] = {}
    members = [[numbers.setdefault(root, len(numbers)) for root in roots_of(prepared[one.id])] for one in ordered]
    return Chunk(
        layout,
        patterns,
        Kept(ordered).texts(),
        Texts.of(numbers),
        offsets_of(map(len, members)),
        np.array([number for row in members for number in row], np.int32),
    )


def compile_chunks(subscriptions: Iterable[Subscription], model: ConceptModel) -> Iterator[Chunk]:
    """Many subscriptions, some at a time."""
    coming = iter(subscriptions)
    while some := list(islice(coming, CHUNK)):
        yield compile_chunk(some, model)


def put_together(chunks: Sequence[Chunk], model: ConceptModel, removed: Sequence[Flags]) -> Segment:
    """The segment of all subscriptions that are not removed, of which no two have the same id."""
    if not chunks:
        return Segment.merged(model)
    parts = [Part(one.layout, one.patterns, gone) for one, gone in zip(chunks, removed, strict=True)]
    layout, patterns, owners = merge(parts)
    records = joined([_records(one.records) for one in chunks], owners)
    return Segment(Tables.of(layout, patterns, model), lambda: patterns, records, model)


def repeated(chunks: Sequence[Chunk]) -> list[Flags]:
    """Which subscriptions of each chunk have the id of one in a chunk before."""
    seen: set[bytes] = set()
    found = []
    for chunk in chunks:
        found.append(np.fromiter((id_ in seen for id_ in chunk.layout.ids), np.bool_, len(chunk)))
        seen.update(chunk.layout.ids)
    return found


def _records(texts: Texts) -> Written:
    return Written(lambda: texts, "the index in memory")
