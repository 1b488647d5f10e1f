"""Matching event after event."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import kernel
from .masks import EVERY, FIRST, ITSELF, NO_VERTEX, NOTHING, ONE, UP_TO
from .plan import FIRST_KEY
from .walk import walk

SMALL = 63
"""As many vertices have a bit each; the bit after the last stands for no vertex."""

VISITS, EPOCH = 0, 1


class Index(NamedTuple):
    """The arrays of a trie that matching reads; see there."""

    nodes: NDArray[np.uint32]
    bounds: NDArray[np.int32]
    checks: NDArray[np.uint32]
    ranges: NDArray[np.int32]
    wide: NDArray[np.uint32]
    runs: NDArray[np.uint32]
    sizes: NDArray[np.int64]


class Events(NamedTuple):
    """The arrays of encoded events; see there."""

    vertices: NDArray[np.int64]
    label_offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    ranks: NDArray[np.int32]
    arc_offsets: NDArray[np.int64]
    arcs: NDArray[np.int32]
    resource: NDArray[np.bool_]


class Work(NamedTuple):
    """What matching writes to. Between events, ``having`` and ``columns`` are as at first."""

    doors: NDArray[np.uint32]
    """By root and label, the root's child that asks just this label; otherwise 0."""
    having: NDArray[np.uint64]
    """The vertices that have a label, by the label's number in the trie; 0 is all."""
    columns: NDArray[np.uint32]
    """The column of ``adjacent`` for each key of an arc that the event has; otherwise 0, which is always empty."""
    keys: NDArray[np.uint32]
    """The keys of the arcs that the event has, by column."""
    adjacent: NDArray[np.uint64]
    """The vertices at the other end of a vertex's arcs, by vertex and column."""
    stamps: NDArray[np.uint8]
    stack: NDArray[np.uint64]
    bound: NDArray[np.uint32]
    """By place in the plan, where the row of the vertex it is mapped to begins."""
    taken: NDArray[np.uint64]
    """By place, the vertices that places before it use."""
    left: NDArray[np.uint64]
    """By place, the vertices that are still to be tried."""
    fails: NDArray[np.uint64]
    """By place, the places to which it is due that something there does not match; see ``reasons``."""
    blamed: NDArray[np.uint64]
    """By place, the places to which it is due that nothing has come of the vertices tried so far."""
    counters: NDArray[np.int64]
    """Nodes looked at so far, the last stamp used, and after how many nodes of an event reasons are looked for."""


@kernel
def match_events(trie, events, start, stop, work, out, ends):
    """Match the events ``start … stop``, as long as ``out`` surely has room; tell how many were matched.

    The groups of all are in ``out``, one event after the other; ``ends`` tells where those of each end.
    """
    nodes, bounds, checks, ranges, wide, runs, sizes = trie
    vertices, label_offsets, labels, ranks, arc_offsets, arcs, resource = events
    doors, having, columns, keys, adjacent, stamps, stack, bound, taken, left, fails, blamed, counters = work
    found = np.int64(0)
    for event in range(start, stop):
        if event > start and found + len(stamps) > len(out):
            return event - start
        first, size = vertices[event], vertices[event + 1] - vertices[event]
        kept = label(first, size, label_offsets, labels, resource, having)
        begin, end = arc_offsets[event], arc_offsets[event + 1]
        stride = connect(arcs, begin, end, size, sizes[1], columns, keys, adjacent)
        epoch = next_epoch(stamps, counters)
        for root in range(2):
            if nodes[4 * root] < nodes[4 * root + 4]:
                ended = walk(
                    False, root, nodes, bounds, checks, ranges, wide, runs, doors, having, columns, adjacent, ranks,
                    label_offsets, labels, first, ONE << np.uint64(size), stride, kept if root == 0 else NOTHING,
                    stamps, epoch, stack, bound, taken, left, fails, blamed, out, found, counters,
                )  # fmt: skip
                if ended < 0:
                    epoch = next_epoch(stamps, counters)
                    ended = walk(
                        True, root, nodes, bounds, checks, ranges, wide, runs, doors, having, columns, adjacent, ranks,
                        label_offsets, labels, first, ONE << np.uint64(size), stride, kept if root == 0 else NOTHING,
                        stamps, epoch, stack, bound, taken, left, fails, blamed, out, found, counters,
                    )  # fmt: skip
                found = ended
        unlabel(label_offsets[first], label_offsets[first + size], labels, having)
        for column in range(FIRST, stride):
            columns[keys[column]] = 0
        ends[event - start] = found
    return stop - start


@kernel
def label(first, size, label_offsets, labels, resource, having):
    """Enter an event's vertices under their labels; tell which of them are resources."""
    resources = NOTHING
    for vertex in range(size):
        bit = ONE << np.uint64(vertex)
        if resource[first + vertex]:
            resources |= bit
        for number in range(label_offsets[first + vertex], label_offsets[first + vertex + 1]):
            if 0 <= labels[number] < len(having) - 1:
                having[labels[number] + 1] |= bit
    return resources


@kernel
def unlabel(begin, end, labels, having):
    """Undo ``label``."""
    for number in range(begin, end):
        if 0 <= labels[number] < len(having) - 1:
            having[labels[number] + 1] = NOTHING


@kernel
def connect(arcs, begin, end, size, properties, columns, keys, adjacent):
    """Fill ``adjacent``; tell how many columns it has. The first are told in ``masks``; 0 is empty."""
    stride = FIRST
    for number in range(begin, end):
        name = arcs[number, 1]
        first_key = FIRST_KEY + 2 * name
        if 0 <= name < properties and columns[first_key] == 0:
            for key in range(first_key, first_key + 2):
                columns[key] = stride
                keys[stride] = key
                stride += 1
    none = ONE << np.uint64(size)
    adjacent[: (size + 1) * stride] = NOTHING
    for row in range(size + 1):
        adjacent[row * stride + EVERY] = none - ONE
        adjacent[row * stride + NO_VERTEX] = none
        adjacent[row * stride + ITSELF] = ONE << np.uint64(row)
        adjacent[row * stride + UP_TO] = (ONE << np.uint64(row)) | ((ONE << np.uint64(row)) - ONE)
    somewhere = size * stride
    for number in range(begin, end):
        subject, name, target = np.int64(arcs[number, 0]), arcs[number, 1], np.int64(arcs[number, 2])
        if 0 <= name < properties:
            column = np.int64(columns[FIRST_KEY + 2 * name])
            adjacent[subject * stride + column] |= ONE << np.uint64(target)
            adjacent[target * stride + column + 1] |= ONE << np.uint64(subject)
            adjacent[somewhere + column] |= ONE << np.uint64(target)
            adjacent[somewhere + column + 1] |= ONE << np.uint64(subject)
    return stride


@kernel
def next_epoch(stamps, counters):
    """A stamp that no node has. One byte is enough, as all are wiped when none is left."""
    if counters[EPOCH] == 255:
        stamps[:] = 0
        counters[EPOCH] = 0
    counters[EPOCH] += 1
    return np.uint8(counters[EPOCH])
