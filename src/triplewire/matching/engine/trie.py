"""The trie: the plans of many patterns, sharing what they begin with, in flat arrays.

Patterns that are the same but for the names of their vertices are one **group**. What matching finds is groups; their
members are told apart only when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .encoded import (
    EncodedEvent,
    EncodedEvents,
    EncodedPatterns,
    Flags,
    Ids,
    Offsets,
    Ranges,
    Relations,
    offsets_of,
    read_only,
    spans,
)
from .kernels import layout
from .kernels.batch import SMALL, VISITS, Events, Index, Work, match_events, next_epoch
from .kernels.lists import match_large
from .kernels.masks import EVERY, FIRST, NO_VERTEX, UP_TO
from .kernels.plan import ANYWHERE, BEFORE, DETAIL, END, FIRST_KEY
from .kernels.words import Words, no_words, with_room
from .large import sort_event
from .plans import counted, planned

Groups = NDArray[np.uint32]
Words32 = NDArray[np.uint32]

MOST_VERTICES = 254
"""A plan's places are bytes, and place 0 is no vertex."""

WIDE = 16
PATIENCE = 1 << 16
"""After so many nodes more than there are it is asked why a step fails, to go back to where that can change."""


@dataclass(frozen=True)
class Trie:
    """Arrays only, so that it can be saved and mapped into memory as it is. All are made read-only.

    A node is four words: its first child (its last is the one before the next node's first), the number of the label
    that it asks, its arc (see ``kernels.plan``), and where in ``checks`` its further arcs and labels are, with
    flags. Nodes 0 and 1 are the roots of injective and of homomorphic patterns. Label 0 asks nothing, plain labels are
    counted from 1. Then come the domains of ranges in ``nodes``, with ``bounds`` beside, and whole ``ranges`` in
    ``checks``.

    A group's number is its node's; group ``g`` is the patterns ``members[offsets[g] : offsets[g + 1]]``.
    """

    nodes: Words32
    bounds: Ids
    checks: Words32
    ranges: Ids
    wide: Words32
    runs: Words32
    offsets: Words32
    members: Ids
    sizes: Offsets
    """How many plain labels, properties, and places of the stack there are."""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, read_only(getattr(self, field.name)))

    @cached_property
    def index(self) -> Index:
        """What kernels read."""
        return Index(
            self.nodes.ravel(), self.bounds.ravel(), self.checks, self.ranges, self.wide, self.runs, self.sizes
        )


def build_trie(patterns: EncodedPatterns, relations: Relations | None = None) -> Trie:
    """Plan each pattern and lay the plans out."""
    patterns = EncodedPatterns(
        read_only(patterns.vertices),
        read_only(patterns.label_offsets),
        read_only(patterns.labels),
        read_only(patterns.arc_offsets),
        read_only(patterns.arcs),
        read_only(patterns.injective),
        patterns.ranges,
    )
    longest = int(np.diff(patterns.vertices).max(initial=0))
    if longest > MOST_VERTICES:
        raise ValueError(f"a pattern has {longest} vertices; at most {MOST_VERTICES} can be planned")
    ranges, kinds, numbers = _sorted_ranges(patterns.ranges)
    starts, steps, words, _ = planned(patterns, relations)
    arcs, labels, checks, further = _steps(words, numbers, _commonness(patterns))
    heads = np.where(arcs == END, words.text[words.offsets[: len(arcs)]], 0)
    order = np.lexsort((labels, checks, heads, arcs))
    fresh = _fresh(np.stack([arcs, checks, labels])[:, order])
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.cumsum(fresh) - 1
    order = order[fresh]
    first_child, node_steps, tails, offsets, members, stack = _levels(
        patterns.injective, starts, ranks[steps], len(order)
    )
    nodes = np.zeros((len(first_child), 4), np.uint32)
    nodes[:, 0] = first_child
    for column, values, end in ((1, labels, 0), (2, arcs, END), (3, checks, END)):
        nodes[2:-1, column] = np.append(values[order], np.uint32(end))[node_steps]
    nodes[:-1, 3] |= np.where(offsets[1:] > offsets[:-1], np.uint32(layout.LEAF), np.uint32(0))
    nodes[:-1, 3] |= np.where(tails, np.uint32(layout.TAIL), np.uint32(0))
    further = np.append(further, _details(nodes, words, len(further)))
    wide, runs = _runs(nodes, ranges, kinds, patterns.ranges.first + 1)
    nodes[wide[:-1, 0], 3] |= np.uint32(layout.WIDE)
    bounds = _bounds(nodes, ranges, patterns.ranges.first + 1)
    names = patterns.arcs[:, 1] if relations is None else np.append(patterns.arcs[:, 1], relations.general)
    properties = int(names.max(initial=-1)) + 1
    sizes = np.array([patterns.ranges.first, properties, stack], np.int64)
    return Trie(nodes, bounds, further, ranges, wide, runs, offsets, members, sizes)


def _sorted_ranges(ranges: Ranges) -> tuple[Ids, Ids, Words32]:
    """Ranges, each once, so that of one kind those that hold come first; their kinds; all labels' numbers in a trie."""
    top = np.zeros(int(ranges.domain.max(initial=-1)) + 1, np.int32)
    np.maximum.at(top, ranges.domain, ranges.high)
    point, falling, rising = ranges.low == ranges.high, ranges.low <= 0, ranges.high >= top[ranges.domain]
    sizes = np.log2(np.maximum(ranges.high.astype(np.float64) - ranges.low + 1, 1)).astype(np.int64)
    kinds = np.select([point, falling, rising], [layout.POINT, layout.FALLING, layout.RISING], layout.BETWEEN + sizes)
    first_key = np.where(kinds == layout.FALLING, -ranges.high.astype(np.int64), ranges.low)
    order = np.lexsort((ranges.high, first_key, kinds, ranges.domain))
    table = np.stack([ranges.domain, ranges.low, ranges.high, kinds.astype(np.int32)])[:, order]
    fresh = _fresh(table)
    numbers = np.arange(1, ranges.first + len(order) + 1, dtype=np.uint32)
    numbers[ranges.first + order] = ranges.first + np.cumsum(fresh)
    different = table[:, fresh]
    return different[:3].T.copy(), different[3].copy(), numbers


def _fresh(columns: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which columns differ from the one before."""
    fresh = np.ones(columns.shape[1], np.bool_)
    fresh[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return fresh


def _commonness(patterns: EncodedPatterns) -> NDArray[np.int64]:
    """How many vertices have a label; less than none for ranges, so that siblings that differ in one are neighbours."""
    often = counted(patterns.labels, patterns.ranges.first + len(patterns.ranges.low))
    often[patterns.ranges.first :] = -1
    return often


def _steps(words: Words, numbers: Words32, commonness: NDArray[np.int64]) -> tuple[Words32, Words32, Words32, Words32]:
    count = int(words.rows[0])
    arcs, labels, checks = (np.empty(count, np.uint32) for _ in range(3))
    further = with_room(no_words(), count + 1, len(words.text) + 1)
    layout.describe(words, numbers, commonness, arcs, labels, checks, further)
    return arcs, labels, checks, further.text[: further.offsets[further.rows[0]]].copy()


def _details(nodes: Words32, words: Words, base: int) -> Words32:
    """The details in the order of their nodes, which are told where; until then they have the numbers of the steps."""
    asking = np.flatnonzero((nodes[:, 2] == END) & (nodes[:, 3] & layout.MORE > 0))
    steps = nodes[asking, 3] & layout.REST
    starts = words.offsets[steps]
    lengths = words.offsets[steps + 1] - starts
    nodes[asking, 3] += (base + offsets_of(lengths)[:-1] - steps).astype(np.uint32)
    details: Words32 = words.text[spans(starts, lengths)]
    details[offsets_of(lengths)[:-1]] &= np.uint32(~DETAIL & 0xFFFFFFFF)
    return details


def _levels(
    injective: Flags, starts: Offsets, steps: Ids, end: int
) -> tuple[Words32, Words32, NDArray[np.bool_], Words32, Ids, int]:
    """Of all nodes the first children, steps, and whether they are tails; members by offsets; the room of a stack."""
    left = np.stack([np.arange(len(injective)), np.where(injective, 0, 1)]).astype(np.int32)
    children: list[Words32] = [np.full(2, 2, np.uint32)]
    found: list[Words32] = [np.zeros((2, 3), np.uint32)]
    members: list[Ids] = [np.empty(0, np.int32)]
    base, level, stack = 2, 0, 1
    while left.shape[1]:
        keys = np.empty(left.shape[1], np.uint64)
        tails = found[-1][:, 2] > 0
        layout.level_keys(*left, tails, base - len(tails), starts, steps, end, level, keys)
        given = (keys, np.argsort(keys), left[0], starts, steps, level, base, children[-1], tails)
        nothing = np.empty(0, np.int32)
        sizes = layout.split(*given, np.empty((0, 3), np.uint32), nothing, nothing.reshape(2, 0))
        new = np.empty((sizes[0], 3), np.uint32), np.empty(sizes[1], np.int32), np.empty((2, sizes[2]), np.int32)
        layout.split(*given, *new)
        found.append(new[0])
        members.append(new[1])
        left = new[2]
        base += len(new[0])
        level += 1
        stack += 2 + int(np.diff(children[-1].astype(np.int64), append=base).max())
        children.append(np.full(len(new[0]), base, np.uint32))
    first_child = np.append(np.concatenate(children), np.uint32(base))
    nodes = np.concatenate(found)
    offsets = np.append(np.uint32(0), np.cumsum(nodes[:, 1], dtype=np.uint32))
    return first_child, nodes[2:, 0], nodes[:, 2] > 0, offsets, np.concatenate(members), stack


def _bounds(nodes: Words32, ranges: Ids, plain: int) -> Ids:
    """The lowest and highest rank that each node asks, if any asks one; its label becomes the number of the domain."""
    asking = np.flatnonzero(nodes[:, 1] >= plain)
    bounds = np.zeros((len(nodes) if len(asking) else 0, 2), np.int32)
    numbers = nodes[asking, 1] - plain
    bounds[asking] = ranges[numbers, 1:]
    nodes[asking, 1] = plain + ranges[numbers, 0]
    return bounds


def _runs(nodes: Words32, ranges: Ids, kinds: Ids, plain: int) -> tuple[Words32, Words32]:
    """The wide nodes, each with its first run, and one past the last; the runs."""
    given = (nodes, WIDE, kinds, ranges, plain)
    count, total = layout.find_runs(*given, np.zeros((0, 2), np.uint32), np.zeros((0, 6), np.uint32))
    wide, runs = np.zeros((count + 1, 2), np.uint32), np.zeros((total, 6), np.uint32)
    if count:
        layout.find_runs(*given, wide, runs)
    wide[count] = len(nodes), total
    return wide, runs


class Scratch:
    """What matching with one trie writes to; one for each thread, used for event after event."""

    def __init__(self, trie: Trie) -> None:
        labels, properties, places = trie.sizes.tolist()
        having = np.zeros(labels + 1, np.uint64)
        having[0] = 0xFFFFFFFFFFFFFFFF
        columns = np.zeros(FIRST_KEY + 2 * properties, np.uint32)
        columns[ANYWHERE], columns[END], columns[BEFORE] = EVERY, NO_VERTEX, UP_TO
        depth = MOST_VERTICES + 3
        self.work = Work(
            doors=_doors(trie, labels + 1),
            having=having,
            columns=columns,
            keys=np.zeros(2 * properties + FIRST, np.uint32),
            adjacent=np.empty(0, np.uint64),
            stamps=np.zeros(len(trie.nodes), np.uint8),
            stack=np.empty(2 * places, np.uint64),
            bound=np.zeros(depth, np.uint32),
            taken=np.zeros(depth, np.uint64),
            left=np.zeros(depth, np.uint64),
            fails=np.zeros(depth, np.uint64),
            blamed=np.zeros(depth, np.uint64),
            counters=np.array([0, 0, PATIENCE + len(trie.nodes)], np.int64),
        )
        self.small = SMALL
        self.groups = np.empty(max(len(trie.nodes), 1 << 16), np.uint32)

    def make_room(self, events: EncodedEvents) -> None:
        """Have room for the columns of any of these events."""
        longest = int(np.diff(events.arc_offsets).max(initial=0))
        columns = FIRST + min(2 * longest, len(self.work.columns))
        if columns * (SMALL + 1) > len(self.work.adjacent):
            self.work = self.work._replace(adjacent=np.empty(columns * (SMALL + 1), np.uint64))

    @property
    def visits(self) -> int:
        """Nodes looked at so far."""
        return int(self.work.counters[VISITS])


def _doors(trie: Trie, labels: int) -> Words32:
    doors = np.zeros((2, labels), np.uint32)
    for root in range(2):
        children = np.arange(trie.nodes[root, 0], trie.nodes[root + 1, 0])
        _, label, arc, rest = trie.nodes[children].T
        just = (label > 0) & (label < labels) & (arc == ANYWHERE) & (rest & (layout.MORE | layout.REST) == 0)
        doors[root, label[just]] = children[just]
    return doors.ravel()


def match(trie: Trie, event: EncodedEvent, scratch: Scratch) -> Groups:
    """The groups that match, each once, in no particular order.

    Labels and properties that no pattern names may be any other number, and are ignored. The result is valid until
    the next match with the same scratch.
    """
    vertices, arcs = np.array([0, len(event)]), np.array([0, len(event.arcs)])
    events = EncodedEvents(vertices, event.label_offsets, event.labels, event.ranks, arcs, event.arcs, event.resource)
    return match_batch(trie, events, scratch)[1]


def match_batch(trie: Trie, events: EncodedEvents, scratch: Scratch) -> tuple[Offsets, Groups]:
    """The groups of each event ``i``: ``groups[offsets[i] : offsets[i + 1]]``."""
    scratch.make_room(events)
    given = kernel_events(events)
    ends = np.zeros(len(events) + 1, np.int64)
    parts = [scratch.groups[:0]]
    large = np.flatnonzero(np.diff(events.vertices) > scratch.small)
    first = 0
    while first < len(events):
        rest = large[np.searchsorted(large, first) :]
        if len(rest) and rest[0] == first:
            ends[first + 1], done = _match_large(trie, events, given, first, scratch), 1
        else:
            last = int(rest[0]) if len(rest) else len(events)
            done = match_events(trie.index, given, first, last, scratch.work, scratch.groups, ends[first + 1 :])
        parts.append(scratch.groups[: ends[first + done]].copy())
        ends[first + 1 : first + done + 1] += ends[first]
        first += done
    return ends, np.concatenate(parts)


def kernel_events(events: EncodedEvents) -> Events:
    """Events as kernels take them."""
    return Events(*(read_only(getattr(events, name)) for name in Events._fields))


def _match_large(trie: Trie, events: EncodedEvents, given: Events, number: int, scratch: Scratch) -> int:
    """How many groups an event of many vertices has matched; they are in ``scratch.groups``."""
    labels, properties, _ = trie.sizes.tolist()
    lists = sort_event(events, number, labels, properties, MOST_VERTICES + 3)
    work = scratch.work
    epoch = next_epoch(work.stamps, work.counters)
    found = 0
    for root in range(2):
        if trie.nodes[root, 0] < trie.nodes[root + 1, 0]:
            found = match_large(
                root, trie.index.nodes, trie.index.bounds, trie.checks, trie.ranges, trie.wide, trie.runs, labels + 1,
                given.label_offsets, given.labels, given.ranks, given.resource, int(events.vertices[number]),
                lists, work.stamps, epoch, work.stack, scratch.groups, found, work.counters,
            )  # fmt: skip
    return found


def expand(trie: Trie, groups: Groups) -> Ids:
    """The numbers of the patterns in some groups, in no particular order."""
    starts = trie.offsets[groups].astype(np.int64)
    lengths = trie.offsets[groups.astype(np.int64) + 1] - starts
    members: Ids = trie.members[spans(starts, lengths)]
    return members
