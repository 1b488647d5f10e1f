"""Matching events of few vertices: a depth-first walk through the trie, with sets of vertices as 64-bit masks.

A node's mask is the set of vertices that its step may be mapped to, given those of the nodes above it. Where a mask has
several vertices, the nodes below are *in doubt*: they may be reached again under another one. There each node below
which everything has matched is stamped with the event's number, and not entered again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, lowest
from .layout import FALLING, LEAF, NONE, PLACE, PLAIN, POINT, WIDE

MOST = 63
"""As many vertices have a bit each; the bit after the last stands for no vertex."""

RETURN = 256
NOTHING = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Index(NamedTuple):
    """The arrays of a trie that a walk reads; see there."""

    nodes: NDArray[np.uint32]
    checks: NDArray[np.uint32]
    domains: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    wide: NDArray[np.uint32]
    run_offsets: NDArray[np.uint32]
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
    """What a walk writes to. Between events, ``having`` and ``columns`` are as at first."""

    having: NDArray[np.uint64]
    """The vertices that have a label, by the label's number in the trie; 0 is all."""
    columns: NDArray[np.uint32]
    """The column of ``adjacent`` for each key of an arc that the event has; otherwise 0, which is always empty."""
    keys: NDArray[np.uint32]
    """The keys of the arcs that the event has, by column."""
    adjacent: NDArray[np.uint64]
    """The vertices at the other end of a vertex's arcs, by vertex and column."""
    stamps: NDArray[np.uint32]
    nodes: NDArray[np.uint32]
    masks: NDArray[np.uint64]
    places: NDArray[np.uint32]
    """The stack: nodes to enter, with their masks and their places in the plan."""
    bound: NDArray[np.uint32]
    """By place, where the row of the vertex it is mapped to begins."""
    taken: NDArray[np.uint64]
    doubt: NDArray[np.bool_]
    fails: NDArray[np.bool_]
    visits: NDArray[np.int64]


@kernel
def match_small(trie, events, event, work, epoch, out, found):
    """Write the groups that match an event of few vertices to ``out``, from ``found`` on; tell where they end."""
    first = events.vertices[event]
    size = events.vertices[event + 1] - first
    labels = events.labels
    plain = trie.sizes[0]
    nothing_but = ONE << np.uint64(size)
    resources = NOTHING
    for vertex in range(size):
        bit = ONE << np.uint64(vertex)
        if events.resource[first + vertex]:
            resources |= bit
        for number in range(events.label_offsets[first + vertex], events.label_offsets[first + vertex + 1]):
            if 0 <= labels[number] < plain:
                work.having[labels[number] + 1] |= bit
    arcs = events.arcs[events.arc_offsets[event] : events.arc_offsets[event + 1]]
    stride = connect(arcs, size, trie.sizes[1], work)
    for root in range(2):
        if trie.nodes[root, 0] < trie.nodes[root + 1, 0]:
            keep = resources if root == 0 else NOTHING
            found = walk(root, trie, events, first, nothing_but, stride, keep, work, epoch, out, found)
    for number in range(events.label_offsets[first], events.label_offsets[first + size]):
        if 0 <= labels[number] < plain:
            work.having[labels[number] + 1] = NOTHING
    for column in range(3, stride):
        work.columns[work.keys[column]] = 0
    return found


@kernel
def connect(arcs, size, properties, work):
    """Fill ``adjacent``; tell how many columns it has. The first three are empty, all vertices, and no vertex."""
    stride = 3
    for number in range(len(arcs)):
        name = arcs[number, 1]
        if 0 <= name < properties and work.columns[2 + 2 * name] == 0:
            for key in range(2 + 2 * name, 4 + 2 * name):
                work.columns[key] = stride
                work.keys[stride] = key
                stride += 1
    nothing_but = ONE << np.uint64(size)
    work.adjacent[: (size + 1) * stride] = NOTHING
    for row in range(size + 1):
        work.adjacent[row * stride + 1] = nothing_but - ONE
        work.adjacent[row * stride + 2] = nothing_but
    for number in range(len(arcs)):
        subject, name, target = np.int64(arcs[number, 0]), arcs[number, 1], np.int64(arcs[number, 2])
        if 0 <= name < properties:
            column = np.int64(work.columns[2 + 2 * name])
            work.adjacent[subject * stride + column] |= ONE << np.uint64(target)
            work.adjacent[target * stride + column + 1] |= ONE << np.uint64(subject)
    return stride


@kernel
def walk(root, trie, events, first, nothing_but, stride, keep, work, epoch, out, found):
    """Walk from one root. ``keep`` are the vertices that may be used once only; ``nothing_but`` is the bit of none."""
    nodes, having, columns, adjacent = trie.nodes, work.having, work.columns, work.adjacent
    bound, taken, doubts, fails, stamps = work.bound, work.taken, work.doubt, work.fails, work.stamps
    stack_nodes, stack_masks, stack_places = work.nodes, work.masks, work.places
    ranges = trie.sizes[0] + 1
    visits = 0
    taken[0] = NOTHING
    doubts[0] = False
    stack_nodes[0], stack_masks[0], stack_places[0] = root, nothing_but, 0
    top = 1
    while top > 0:
        top -= 1
        node, mask, place = np.int64(stack_nodes[top]), stack_masks[top], np.int64(stack_places[top])
        again = place >= RETURN
        if again:
            place -= RETURN
            if not fails[place + 1]:
                if doubts[place]:
                    stamps[node] = epoch
                continue
            if mask == NOTHING:
                fails[place] = True
                continue
        vertex = lowest(mask)
        rest = mask & (mask - ONE)
        doubt = again or doubts[place] or rest != NOTHING
        bound[place] = vertex * stride
        free = ~(taken[place] | (mask ^ rest) & keep)
        taken[place + 1] = ~free
        doubts[place + 1] = doubt
        if doubt:
            stack_masks[top] = rest
            stack_places[top] = place + RETURN
            top += 1
            fails[place + 1] = False
        place += 1
        if nodes[node, 3] & WIDE:
            top, found, seen = enter_wide(
                node, place, free, trie, events, first, stride, work, doubt, epoch, top, out, found
            )
            visits += seen
            continue
        visits += np.int64(nodes[node + 1, 0]) - np.int64(nodes[node, 0])
        for child in range(nodes[node, 0], nodes[node + 1, 0]):
            if doubt and stamps[child] == epoch:
                continue
            label, arc, tail = nodes[child, 1], nodes[child, 2], nodes[child, 3]
            mask = adjacent[bound[arc >> 24] + columns[arc & 0xFFFFFF]] & free
            if label < ranges:
                mask &= having[label]
            else:
                mask = in_range(label - ranges, mask, trie, events.ranks, first)
            if tail & PLACE:
                mask = check(tail & PLACE, mask, trie, events.ranks, first, work)
            if mask == NOTHING:
                fails[place] = True
            elif tail & LEAF:
                out[found] = child
                found += 1
                if doubt:
                    stamps[child] = epoch
            else:
                stack_nodes[top], stack_masks[top], stack_places[top] = child, mask, place
                top += 1
    work.visits[0] += visits
    return found


@kernel
def check(start, mask, trie, ranks, first, work):
    """Those vertices of a mask that have all the arcs and labels of a row of checks."""
    checks = trie.checks
    arcs = start + 1 + np.int64(checks[start] & 0xFFFF)
    labels = arcs + np.int64(checks[start] >> 16)
    for number in range(start + 1, arcs):
        arc = checks[number]
        mask &= work.adjacent[work.bound[arc >> 24] + work.columns[arc & 0xFFFFFF]]
    for number in range(arcs, labels):
        label = np.int64(checks[number])
        if label <= trie.sizes[0]:
            mask &= work.having[label]
        else:
            mask = in_range(label - trie.sizes[0] - 1, mask, trie, ranks, first)
    return mask


@kernel
def in_range(number, mask, trie, ranks, first):
    """Those vertices of a mask whose value lies in a range."""
    domain, low, high = trie.domains[number], trie.low[number], trie.high[number]
    left = mask
    while left != NOTHING:
        rank = ranks[domain, first + lowest(left)]
        if rank < 0 or rank < low or rank > high:
            mask ^= left & (~left + ONE)
        left &= left - ONE
    return mask


@kernel
def enter_wide(node, place, free, trie, events, first, stride, work, doubt, epoch, top, out, found):
    """Do for a wide node what ``walk`` does for others: run by run, and in a run only the children that can hold."""
    row = np.searchsorted(trie.wide, np.uint32(node))
    begin, end = np.int64(trie.run_offsets[row]), np.int64(trie.run_offsets[row + 1])
    seen = end - begin
    held = 0
    for run in range(begin, end):
        arc = trie.runs[run, 4]
        mask = work.adjacent[work.bound[arc >> 24] + work.columns[arc & 0xFFFFFF]] & free
        if mask != NOTHING and trie.runs[run, 5] > 0:
            mask = check(np.int64(trie.runs[run, 5]), mask, trie, events.ranks, first, work)
        if mask != NOTHING:
            top, found, tried, holding = enter_run(
                run, mask, place, trie, events, first, work, doubt, epoch, top, out, found
            )
            seen += tried
            held += holding
    if held < np.int64(trie.nodes[node + 1, 0]) - np.int64(trie.nodes[node, 0]):
        work.fails[place] = True
    return top, found, seen


@kernel
def enter_run(run, mask, place, trie, events, first, work, doubt, epoch, top, out, found):
    """Enter those children of a run that hold for some vertex of a mask. Tell also how many were tried, and held."""
    begin, end, kind = np.int64(trie.runs[run, 0]), np.int64(trie.runs[run, 1]), trie.runs[run, 2]
    domain = np.int64(trie.runs[run, 3])
    plain = trie.sizes[0]
    tried, held = 0, 0
    if kind == NONE:
        top, found = admit(begin, mask, place, trie, work, doubt, epoch, top, out, found)
        return top, found, 1, 1
    if kind == PLAIN:
        left = mask
        while left != NOTHING:
            bit = left & (~left + ONE)
            vertex = first + lowest(left)
            left ^= bit
            for number in range(events.label_offsets[vertex], events.label_offsets[vertex + 1]):
                label = np.int64(events.labels[number])
                if not 0 <= label < plain:
                    continue
                both = mask & work.having[label + 1]
                if both & (bit - ONE) != NOTHING:
                    continue
                child = seek(trie.nodes, begin, end, label + 1)
                tried += 1
                if child < end and trie.nodes[child, 1] == label + 1:
                    held += 1
                    top, found = admit(child, both, place, trie, work, doubt, epoch, top, out, found)
        return top, found, tried, held
    if kind == POINT:
        left = mask
        while left != NOTHING:
            bit = left & (~left + ONE)
            rank = events.ranks[domain, first + lowest(left)]
            left ^= bit
            if rank < 0:
                continue
            child = seek_rank(trie.nodes, trie.low, plain + 1, begin, end, rank)
            tried += 1
            if child < end:
                number = np.int64(trie.nodes[child, 1]) - plain - 1
                both = in_range(number, mask, trie, events.ranks, first)
                if trie.low[number] == rank and both & (bit - ONE) == NOTHING:
                    held += 1
                    top, found = admit(child, both, place, trie, work, doubt, epoch, top, out, found)
        return top, found, tried, held
    least, most = extremes(mask, events.ranks, domain, first)
    if most < 0:
        return top, found, 1, 0
    for child in range(begin, end):
        number = np.int64(trie.nodes[child, 1]) - plain - 1
        if kind == FALLING:
            if trie.high[number] < least:
                break
        elif trie.low[number] > most:
            break
        tried += 1
        both = in_range(number, mask, trie, events.ranks, first)
        if both != NOTHING:
            held += 1
            top, found = admit(child, both, place, trie, work, doubt, epoch, top, out, found)
    return top, found, tried, held


@kernel
def admit(child, mask, place, trie, work, doubt, epoch, top, out, found):
    """A child holds: tell its group if it ends a pattern, otherwise put it on the stack."""
    if doubt and work.stamps[child] == epoch:
        return top, found
    if trie.nodes[child, 3] & LEAF:
        out[found] = child
        if doubt:
            work.stamps[child] = epoch
        return top, found + 1
    work.nodes[top], work.masks[top], work.places[top] = child, mask, place
    return top + 1, found


@kernel
def extremes(mask, ranks, domain, first):
    """The least and the greatest rank of some vertices; both -1 if none has one."""
    least, most = np.int64(-1), np.int64(-1)
    while mask != NOTHING:
        rank = np.int64(ranks[domain, first + lowest(mask)])
        mask &= mask - ONE
        if rank >= 0:
            least = rank if least < 0 else min(least, rank)
            most = max(most, rank)
    return least, most


@kernel
def seek(nodes, begin, end, label):
    """The first of some siblings, sorted by label, whose label is not less."""
    while begin < end:
        middle = (begin + end) >> 1
        if nodes[middle, 1] < label:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def seek_rank(nodes, low, ranges, begin, end, rank):
    """The first of some siblings, sorted by the low ends of their ranges, where that is not less."""
    while begin < end:
        middle = (begin + end) >> 1
        if low[np.int64(nodes[middle, 1]) - ranges] < rank:
            begin = middle + 1
        else:
            end = middle
    return begin
