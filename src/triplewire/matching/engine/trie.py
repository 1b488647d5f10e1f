"""The trie: the plans of many patterns, sharing what they begin with, in flat arrays.

Patterns that are the same but for the names of their vertices are one **group**. What matching finds is groups; their
members are told apart only when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoded import HOME_LABEL, EncodedEvent, EncodedEvents, EncodedPatterns, Ids, Offsets, Ranges, join
from .kernels import layout, walk
from .kernels.batch import match_events
from .kernels.plan import plan
from .kernels.words import Words, no_words, with_room

Groups = NDArray[np.uint32]
Words32 = NDArray[np.uint32]

MOST_VERTICES = 254
"""A plan's places are bytes, and place 0 is no vertex."""

CHUNK = 1 << 16
WIDE = 16
ANYWHERE, END = 0, 1
"""Arcs that are none: of a vertex found by its labels alone, and of a pattern's end where another goes on."""


@dataclass(frozen=True)
class Trie:
    """Arrays only, so that it can be saved and mapped into memory as it is. All are made read-only.

    A node is four words: its first child (its last is the one before the next node's first), the number of the label
    that it asks, its arc (see ``kernels.plan``), and where in ``checks`` its further arcs and labels are, with two
    flags. Nodes 0 and 1 are the roots of injective and of homomorphic patterns. Label 0 asks nothing, plain labels are
    counted from 1, ranges follow.

    A group's number is its node's; group ``g`` is the patterns ``members[offsets[g] : offsets[g + 1]]``.
    """

    nodes: Words32
    checks: Words32
    domains: Ids
    low: Ids
    high: Ids
    wide: Words32
    run_offsets: Words32
    runs: Words32
    offsets: Words32
    members: Ids
    sizes: Offsets
    """How many plain labels, properties, and places of the stack there are."""

    def __post_init__(self) -> None:
        for field in fields(self):
            # Read-only arrays are a type of their own to the compiler: one for those in memory and those in files.
            array = np.asarray(getattr(self, field.name)).view(np.ndarray)
            array.flags.writeable = False
            object.__setattr__(self, field.name, array)

    @cached_property
    def index(self) -> walk.Index:
        """What kernels read."""
        return walk.Index(*(getattr(self, name) for name in walk.Index._fields))


def build_trie(patterns: EncodedPatterns) -> Trie:
    """Plan each pattern and lay the plans out."""
    longest = int(np.diff(patterns.vertices).max(initial=0))
    if longest > MOST_VERTICES:
        raise ValueError(f"a pattern has {longest} vertices; at most {MOST_VERTICES} can be planned")
    ranges, kinds, numbers = _sorted_ranges(patterns.ranges)
    steps, words = _plans(patterns)
    arcs, labels, checks, further = _steps(words, numbers, _commonness(patterns))
    order = np.lexsort((labels, checks, arcs))
    fresh = _fresh(np.stack([arcs, checks, labels])[:, order])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(fresh) - 1
    order = order[fresh]
    first_child, node_ranks, offsets, members, widest = _levels(patterns, steps, ranks, len(order))
    nodes = np.zeros((len(first_child), 4), np.uint32)
    nodes[:, 0] = first_child
    used = slice(2, len(first_child) - 1)
    for column, values, end in ((1, labels, 0), (2, arcs, END), (3, checks, 0)):
        nodes[used, column] = np.append(values[order], np.uint32(end))[node_ranks]
    nodes[:-1, 3] |= np.where(offsets[1:] > offsets[:-1], np.uint32(layout.LEAF), np.uint32(0))
    wide, run_offsets, runs = _runs(nodes, ranges, kinds)
    nodes[wide, 3] |= np.uint32(layout.WIDE)
    properties = int(patterns.arcs[:, 1].max(initial=-1)) + 1
    sizes = np.array([ranges.first, properties, widest], np.int64)
    tables = (ranges.domain, ranges.low, ranges.high, wide, run_offsets, runs, offsets, members)
    return Trie(nodes, further, *tables, sizes)


def _sorted_ranges(ranges: Ranges) -> tuple[Ranges, Ids, Words32]:
    """Ranges, each once, so that of one kind those that hold come first; their kinds; all labels' numbers in a trie."""
    top = np.zeros(int(ranges.domain.max(initial=-1)) + 1, np.int32)
    np.maximum.at(top, ranges.domain, ranges.high)
    point, falling, rising = ranges.low == ranges.high, ranges.low <= 0, ranges.high >= top[ranges.domain]
    kinds = np.select([point, falling, rising], [layout.POINT, layout.FALLING, layout.RISING], layout.BETWEEN)
    first_key = np.where(kinds == layout.FALLING, -ranges.high.astype(np.int64), ranges.low)
    order = np.lexsort((ranges.high, first_key, kinds, ranges.domain))
    table = np.stack([ranges.domain, ranges.low, ranges.high, kinds.astype(np.int32)])[:, order]
    fresh = _fresh(table)
    numbers = np.arange(1, ranges.first + len(order) + 1, dtype=np.uint32)
    numbers[ranges.first + order] = ranges.first + np.cumsum(fresh)
    domain, low, high, kind = np.ascontiguousarray(table[:, fresh])
    return Ranges(ranges.first, domain, low, high), kind, numbers


def _fresh(columns: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which columns differ from the one before."""
    fresh = np.ones(columns.shape[1], np.bool_)
    fresh[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return fresh


def _plans(patterns: EncodedPatterns) -> tuple[Ids, Words]:
    """The steps of all plans, one for each vertex, and what they are."""
    steps = np.empty(int(patterns.vertices[-1]), np.int32)
    words = no_words()
    weights = _weights(patterns)
    for first in range(0, len(patterns), CHUNK):
        last = min(first + CHUNK, len(patterns))
        rows = int(patterns.vertices[last] - patterns.vertices[first])
        labels = patterns.label_offsets[patterns.vertices[last]] - patterns.label_offsets[patterns.vertices[first]]
        arcs = patterns.arc_offsets[last] - patterns.arc_offsets[first]
        words = with_room(words, rows, rows + int(labels) + int(arcs))
        plan(
            first, last, patterns.vertices, patterns.label_offsets, patterns.labels, patterns.arc_offsets,
            patterns.arcs, weights, steps, words,
        )  # fmt: skip
    return steps, words


def _weights(patterns: EncodedPatterns) -> NDArray[np.int64]:
    """How much each label narrows a search: the home vertex, then what few vertices can be, then small ranges.

    What few patterns' vertices are asked to be, few events' vertices are expected to be.
    """
    ranges = patterns.ranges
    often = np.bincount(patterns.labels, minlength=ranges.first + len(ranges.low))
    weights = np.where(often * 128 < patterns.vertices[-1], 1 << 20, 1).astype(np.int64)
    widths = ranges.high.astype(np.int64) - ranges.low
    widest = np.int64(widths.max(initial=0))
    narrow = np.clip(np.log2((widest + 1) / (widths + 1)), 0, 7).astype(np.int64)
    weights[ranges.first :] = np.where(widths == 0, 1 << 20, 2 + narrow)
    weights[HOME_LABEL] = 1 << 30
    return weights


def _commonness(patterns: EncodedPatterns) -> NDArray[np.int64]:
    """How many vertices have a label; less than none for ranges, so that siblings that differ in one are neighbours."""
    often = np.bincount(patterns.labels, minlength=patterns.ranges.first + len(patterns.ranges.low)).astype(np.int64)
    often[patterns.ranges.first :] = -1
    return often


def _steps(words: Words, numbers: Words32, commonness: NDArray[np.int64]) -> tuple[Words32, Words32, Words32, Words32]:
    count = int(words.rows[0])
    arcs, labels, checks = (np.empty(count, np.uint32) for _ in range(3))
    further = with_room(no_words(), count + 1, len(words.text) + 1)
    layout.describe(words, numbers, commonness, arcs, labels, checks, further)
    return arcs, labels, checks, further.text[: further.offsets[further.rows[0]]].copy()


def _levels(
    patterns: EncodedPatterns, steps: Ids, ranks: NDArray[np.int64], end: int
) -> tuple[Words32, Words32, Words32, Ids, int]:
    """Of all nodes the first children, the steps, the offsets of members; the members; the room a stack needs."""
    active: Ids = np.arange(len(patterns), dtype=np.int32)
    nodes: Ids = np.where(patterns.injective, 0, 1).astype(np.int32)
    children: list[Words32] = [np.empty(2, np.uint32)]
    node_ranks: list[Words32] = [np.empty(0, np.uint32)]
    sizes: list[Words32] = [np.zeros(2, np.uint32)]
    members: list[Ids] = [np.empty(0, np.int32)]
    base, level, widest = 2, 0, 1
    while len(active):
        keys = np.empty(len(active), np.uint64)
        layout.level_keys(active, nodes, patterns.vertices, steps, ranks, end, level, keys)
        order = np.argsort(keys)
        new: list[NDArray[Any]] = [
            np.empty(len(active), kind) for kind in (np.uint32, np.uint32, np.int32, np.int32, np.int32)
        ]
        found, told, left = layout.split(keys, order, active, patterns.vertices, level, base, children[-1], *new)
        node_ranks.append(new[0][:found].copy())
        sizes.append(new[1][:found].copy())
        members.append(new[2][:told].copy())
        active, nodes = new[3][:left], new[4][:left]
        widest += 2 + int(np.diff(children[-1].astype(np.int64), append=base + found).max())
        base += found
        level += 1
        children.append(np.full(found, base, np.uint32))
    first_child = np.append(np.concatenate(children), np.uint32(base))
    if level == 0:
        first_child[:] = base
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes), dtype=np.uint32)]).astype(np.uint32)
    return first_child, np.concatenate(node_ranks), offsets, np.concatenate(members), widest


def _runs(nodes: Words32, ranges: Ranges, kinds: Ids) -> tuple[Words32, Words32, Words32]:
    """The wide nodes, where their runs begin, and the runs."""
    nothing = np.zeros(0, np.uint32)
    given = (nodes, WIDE, kinds, ranges.domain, ranges.first + 1)
    count, total = layout.find_runs(*given, nothing, nothing, np.zeros((0, 6), np.uint32))
    wide, offsets, runs = np.zeros(count, np.uint32), np.zeros(count + 1, np.uint32), np.zeros((total, 6), np.uint32)
    if count:
        layout.find_runs(*given, wide, offsets, runs)
    return wide, offsets, runs


class Scratch:
    """What matching with one trie writes to; one for each thread, used for event after event."""

    def __init__(self, trie: Trie) -> None:
        labels, properties, places = trie.sizes.tolist()
        having = np.zeros(labels + 1, np.uint64)
        having[0] = walk.ALL
        columns = np.zeros(2 + 2 * properties, np.uint32)
        columns[ANYWHERE], columns[END] = 1, 2
        depth = MOST_VERTICES + 3
        self.work = walk.Work(
            having=having,
            columns=columns,
            keys=np.zeros(2 * properties + 3, np.uint32),
            adjacent=np.empty(0, np.uint64),
            stamps=np.zeros(len(trie.nodes), np.uint32),
            nodes=np.empty(places, np.uint32),
            masks=np.empty(places, np.uint64),
            places=np.empty(places, np.uint32),
            bound=np.zeros(depth, np.uint32),
            taken=np.zeros(depth, np.uint64),
            doubt=np.zeros(depth, np.bool_),
            fails=np.zeros(depth, np.bool_),
            visits=np.zeros(1, np.int64),
        )
        self.epoch = 0
        self.groups = np.empty(max(len(trie.nodes), 1 << 16), np.uint32)

    def make_room(self, events: EncodedEvents) -> None:
        """Have room for the columns of any of these events."""
        longest = int(np.diff(events.arc_offsets).max(initial=0))
        columns = 3 + min(2 * longest, len(self.work.columns))
        if columns * (walk.MOST + 1) > len(self.work.adjacent):
            self.work = self.work._replace(adjacent=np.empty(columns * (walk.MOST + 1), np.uint64))

    def next_epoch(self, events: int) -> int:
        """The first of so many numbers that no event has been stamped with."""
        if self.epoch + events > 0xFFFFFFFF:
            self.work.stamps[:] = 0
            self.epoch = 0
        first = self.epoch + 1
        self.epoch += events
        return first

    @property
    def visits(self) -> int:
        """Nodes looked at so far."""
        return int(self.work.visits[0])


def match(trie: Trie, event: EncodedEvent, scratch: Scratch) -> Groups:
    """The groups that match, each once, in no particular order.

    Labels and properties that no pattern names may be any other number, and are ignored. The result is valid until
    the next match with the same scratch.
    """
    events = join([event])
    return match_batch(trie, events, scratch)[1]


def match_batch(trie: Trie, events: EncodedEvents, scratch: Scratch) -> tuple[Offsets, Groups]:
    """The groups of each event ``i``: ``groups[offsets[i] : offsets[i + 1]]``."""
    scratch.make_room(events)
    given = walk.Events(*(getattr(events, name) for name in walk.Events._fields))
    ends = np.empty(len(events), np.int64)
    parts = []
    first, before = 0, 0
    while first < len(events):
        done = match_events(
            trie.index, given, first, len(events), scratch.work, scratch.next_epoch(len(events)), scratch.groups,
            ends[first:],
        )  # fmt: skip
        parts.append(scratch.groups[: ends[first + done - 1]].copy())
        ends[first : first + done] += before
        first, before = first + done, int(ends[first + done - 1])
    return np.concatenate([[0], ends]), np.concatenate(parts or [scratch.groups[:0]])


def expand(trie: Trie, groups: Groups) -> Ids:
    """The numbers of the patterns in some groups, in no particular order."""
    starts, lengths = trie.offsets[groups].astype(np.int64), np.diff(trie.offsets)[groups].astype(np.int64)
    places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    members: Ids = trie.members[places]
    return members
