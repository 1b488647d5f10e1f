"""Matching events of many vertices: the same walk as with masks, with sorted lists of vertices in their place.

Of the event, ``keys[spans[v] : spans[v + 1]]`` are the keys of a vertex's arcs, ascending, and ``ends[starts[i] :
starts[i + 1]]`` the other ends of those with the key at ``i``, ascending. ``owners[folds[i] : folds[i + 1]]`` are the
vertices that have the label ``names[i]``, as the trie numbers labels. Vertices and ranks are counted from ``first``.

A place's candidates are one of these lists, the shortest that its step allows; each is checked for the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import kernel
from .layout import FALLING, KEY, LEAF, MORE, PLACE_SHIFT, PLAIN, REST, TAIL, WIDE
from .masks import LATE, NOTHING
from .plan import ANYWHERE, BEFORE, END, SOMEWHERE, SPARE
from .reasons import EVERYTHING, only, places_of, without
from .wide import FEW, seek_label, seek_node

EVERY, ARCS, OWNERS = 0, 1, 2
"""Where candidates come from: all vertices, the ends of arcs, the owners of a label."""


class Lists(NamedTuple):
    """A large event, sorted; and what matching it writes to."""

    spans: NDArray[np.int64]
    keys: NDArray[np.uint32]
    starts: NDArray[np.int64]
    ends: NDArray[np.uint32]
    names: NDArray[np.uint32]
    folds: NDArray[np.int64]
    owners: NDArray[np.uint32]
    used: NDArray[np.bool_]
    bound: NDArray[np.int64]
    cursors: NDArray[np.int64]
    """By place: its next child on the stack, and one past its last; whence candidates, the next, one past the last; how
    many must come before the first that counts.
    """
    fails: NDArray[np.uint64]
    blamed: NDArray[np.uint64]


@kernel
def match_large(
    root, nodes, bounds, checks, ranges, wide, runs, plain, label_offsets, labels, ranks, resource, first, lists,
    stamps, epoch, stack, out, found, counters,
):  # fmt: skip
    """Write the groups below a root that match to ``out``, from ``found`` on; tell where they end."""
    spans, keys, starts, ends, names, folds, owners, used, bound, cursors, fails, blamed = lists
    place = 1
    cursors[1, 0] = 0
    cursors[1, 1] = list_children(
        root, 0, nodes, bounds, wide, runs, ranks, first, spans, keys, starts, ends, names, bound, stack, fails
    )
    while place > 0:
        child = np.int64(stack[cursors[place, 0]]) if cursors[place, 0] < cursors[place, 1] else -1
        if child < 0:
            place -= 1
            if place == 0:
                break
            child = np.int64(stack[cursors[place, 0]])
            used[bound[place]] = False
            why = fails[place + 1]
            blamed[place] |= why
            if why & only(place) == NOTHING:
                fails[place] |= why
                if why == NOTHING:
                    stamps[child] = epoch
                cursors[place, 0] += 1
                continue
        else:
            counters[0] += 1
            if stamps[child] == epoch:
                cursors[place, 0] += 1
                continue
            if nodes[4 * child + 2] == END:
                if nodes[4 * child + 3] & MORE and not agrees(
                    root, np.int64(nodes[4 * child + 3] & REST), checks, label_offsets, labels, resource, first, spans,
                    keys, starts, ends, used, bound, cursors,
                ):  # fmt: skip
                    fails[place] = EVERYTHING
                else:
                    out[found] = child
                    found += 1
                    stamps[child] = epoch
                cursors[place, 0] += 1
                continue
            begin_candidates(
                child, place, nodes, checks, plain, spans, keys, starts, names, folds, bound, len(used), cursors
            )
            blamed[place] = NOTHING
        vertex = next_candidate(
            child, place, nodes, bounds, checks, ranges, plain, label_offsets, labels, ranks, first, spans, keys,
            starts, ends, owners, used, bound, cursors, resource,
        )  # fmt: skip
        if vertex < 0:
            fails[place] |= without(blamed[place], place) | reasons(
                root, child, place, nodes, bounds, checks, ranges, plain, label_offsets, labels, ranks, first, spans,
                keys, starts, ends, used, bound,
            )  # fmt: skip
            cursors[place, 0] += 1
        elif nodes[4 * child + 3] & LEAF:
            out[found] = child
            found += 1
            stamps[child] = epoch
            cursors[place, 0] += 1
        else:
            bound[place] = vertex
            used[vertex] = root == 0 and resource[first + vertex]
            top = cursors[place, 1]
            place += 1
            cursors[place, 0] = top
            cursors[place, 1] = list_children(
                child, top, nodes, bounds, wide, runs, ranks, first, spans, keys, starts, ends, names, bound,
                stack, fails[place:],
            )  # fmt: skip
            if fails[place] != NOTHING:
                fails[place] = NOTHING
                row = seek_node(wide, child)
                for run in range(wide[row, 1], wide[row + 1, 1]):
                    fails[place] |= reasons(
                        root, np.int64(runs[run, 0]), place, nodes, bounds, checks, ranges, plain, label_offsets,
                        labels, ranks, first, spans, keys, starts, ends, used, bound,
                    )  # fmt: skip
    return found


@kernel
def list_children(
    node, top, nodes, bounds, wide, runs, ranks, first, spans, keys, starts, ends, names, bound, stack, fails
):
    """Put those children of a node on the stack that may hold; tell where they end, and in ``fails`` if some can't."""
    begin, end = np.int64(nodes[4 * node]), np.int64(nodes[4 * node + 4])
    start = top
    if nodes[4 * node + 3] & TAIL:
        end = begin + 1
    elif begin == end:  # within a tail
        begin, end = node + 1, node + 2
    if nodes[4 * node + 3] & WIDE:
        row = seek_node(wide, node)
        for run in range(wide[row, 1], wide[row + 1, 1]):
            top = list_run(run, top, nodes, bounds, runs, ranks, first, spans, keys, starts, ends, names, bound, stack)
    else:
        for child in range(begin, end):
            stack[top] = child
            top += 1
    fails[0] = EVERYTHING if top - start < end - begin else NOTHING
    return top


@kernel
def list_run(run, top, nodes, bounds, runs, ranks, first, spans, keys, starts, ends, names, bound, stack):
    """Put those children of a run on the stack that may hold; tell where they end."""
    begin, end, kind, arc = np.int64(runs[run, 0]), np.int64(runs[run, 1]), runs[run, 2], runs[run, 4]
    found = -1
    if arc > END and arc >> 24 != SOMEWHERE:
        found = seek_key(spans, keys, bound[arc >> 24], arc & 0xFFFFFF)
        if found < 0:
            return top
    if kind == PLAIN and end - begin > min(FEW, len(names)):
        for name in names:
            child = seek_label(nodes, begin, end, name)
            if child < end and nodes[4 * child + 1] == name:
                stack[top] = child
                top += 1
        return top
    least, most = np.int64(0), np.int64(0x7FFFFFFF)
    if kind > PLAIN and found >= 0:
        least, most = np.int64(0x7FFFFFFF), np.int64(-1)
        for number in range(starts[found], starts[found + 1]):
            rank = np.int64(ranks[runs[run, 3], first + ends[number]])
            if rank >= 0:
                least, most = min(least, rank), max(most, rank)
    for child in range(begin, end):
        if kind > PLAIN and (bounds[2 * child + 1] < least if kind == FALLING else bounds[2 * child] > most):
            break
        stack[top] = child
        top += 1
    return top


@kernel
def begin_candidates(child, place, nodes, checks, plain, spans, keys, starts, names, folds, bound, size, cursors):
    """Choose where the candidates of a child come from."""
    label, arc = nodes[4 * child + 1], nodes[4 * child + 2]
    source, begin, end = EVERY, np.int64(0), np.int64(size)
    if arc > END and arc >> 24 != SOMEWHERE:
        found = seek_key(spans, keys, bound[arc >> 24], arc & 0xFFFFFF)
        source = ARCS
        begin, end = (starts[found], starts[found + 1]) if found >= 0 else (np.int64(0), np.int64(0))
    if 0 < label < plain:
        found = seek(names, 0, len(names), label)
        if found == len(names) or names[found] != label:
            begin = end
        elif folds[found + 1] - folds[found] < end - begin:
            source, begin, end = OWNERS, folds[found], folds[found + 1]
    cursors[place, 2], cursors[place, 3], cursors[place, 4] = source, begin, end
    cursors[place, 5] = spare_of(child, nodes, checks)


@kernel
def spare_of(child, nodes, checks):
    """How many others must be that suit a step as well as what it is mapped to, and come before."""
    tail = nodes[4 * child + 3]
    if nodes[4 * child + 2] == END or not tail & MORE:
        return np.int64(0)
    start = np.int64(tail & REST)
    last = checks[start + np.int64(checks[start] & 0xFFFF)]
    return np.int64(last >> 24) if checks[start] & 0xFFFF and last & 0xFFFFFF == SPARE else np.int64(0)


@kernel
def next_candidate(
    child, place, nodes, bounds, checks, ranges, plain, label_offsets, labels, ranks, first, spans, keys, starts,
    ends, owners, used, bound, cursors, resource,
):  # fmt: skip
    """The next vertex that a child's step may be mapped to, or -1."""
    source = cursors[place, 2]
    for number in range(cursors[place, 3], cursors[place, 4]):
        vertex = number if source == EVERY else np.int64(ends[number] if source == ARCS else owners[number])
        if not used[vertex] and suits(
            child, vertex, source, nodes, bounds, checks, ranges, plain, label_offsets, labels, ranks, first, spans,
            keys, starts, ends, bound,
        ):  # fmt: skip
            if cursors[place, 5] > 0 and resource[first + vertex]:
                cursors[place, 5] -= 1
                continue
            cursors[place, 5] = 0  # a literal is others enough
            cursors[place, 3] = number + 1
            return vertex
    cursors[place, 3] = cursors[place, 4]
    return np.int64(-1)


@kernel
def reasons(
    root, child, place, nodes, bounds, checks, ranges, plain, label_offsets, labels, ranks, first, spans, keys,
    starts, ends, used, bound,
):  # fmt: skip
    """The places on which it depends to which vertices a step, which has a place, can be mapped."""
    found = places_of(np.uint64(child), nodes, checks)
    if root == 1:
        return found
    if nodes[4 * child + 3] & MORE:
        return EVERYTHING
    for other in range(1, place):
        if used[bound[other]] and suits(
            child, bound[other], EVERY, nodes, bounds, checks, ranges, plain, label_offsets, labels, ranks, first,
            spans, keys, starts, ends, bound,
        ):  # fmt: skip
            found |= only(other)
    return found


@kernel
def suits(
    child, vertex, source, nodes, bounds, checks, ranges, plain, label_offsets, labels, ranks, first, spans, keys,
    starts, ends, bound,
):  # fmt: skip
    """Whether a vertex has the arcs and labels that a step asks; not all are looked up if it is from their list."""
    label, arc, tail = nodes[4 * child + 1], nodes[4 * child + 2], nodes[4 * child + 3]
    if source != ARCS and not joined(vertex, arc >> 24, arc & 0xFFFFFF, spans, keys, starts, ends, bound):
        return False
    if label >= plain:
        if not lies(vertex, label - plain, bounds[2 * child], bounds[2 * child + 1], ranks, first):
            return False
    elif source != OWNERS and not has(vertex, label, label_offsets, labels, first):
        return False
    if not tail & MORE:
        return joined(vertex, (tail >> PLACE_SHIFT) & 0xFF, tail & KEY, spans, keys, starts, ends, bound)
    start = np.int64(tail & REST)
    arcs = start + 1 + np.int64(checks[start] & 0xFFFF)
    for number in range(start + 1, arcs):
        if not joined(vertex, checks[number] >> 24, checks[number] & 0xFFFFFF, spans, keys, starts, ends, bound):
            return False
    for number in range(arcs, arcs + np.int64(checks[start] >> 16)):
        label = checks[number]
        if label >= plain:
            row = np.int64(label) - plain
            if not lies(vertex, ranges[row, 0], ranges[row, 1], ranges[row, 2], ranks, first):
                return False
        elif not has(vertex, label, label_offsets, labels, first):
            return False
    return True


@kernel
def agrees(
    root, start, checks, label_offsets, labels, resource, first, spans, keys, starts, ends, used, bound, cursors
):
    """Whether the vertices that places are mapped to have what a detail asks, and late vertices can be mapped too."""
    head = checks[start]
    arcs = start + 1 + np.int64(head & 0xFF)
    late = arcs + 2 * np.int64(head >> 8 & 0xFF)
    end = late + 2 * np.int64(head >> 16)
    for number in range(start + 1, arcs):
        if not has(bound[checks[number] >> 24], checks[number] & 0xFFFFFF, label_offsets, labels, first):
            return False
    for number in range(arcs, late, 2):
        arc = checks[number]
        if not joined(bound[checks[number + 1]], arc >> 24, arc & 0xFFFFFF, spans, keys, starts, ends, bound):
            return False
    place = LATE
    number = late
    fresh = True
    while number < end:
        if fresh:
            arc = checks[number]
            found = seek_key(spans, keys, bound[arc >> 24], arc & 0xFFFFFF)
            cursors[place, 0], cursors[place, 1] = (starts[found], starts[found + 1]) if found >= 0 else (0, 0)
        fresh = False
        while cursors[place, 0] < cursors[place, 1] and not fresh:
            vertex = np.int64(ends[cursors[place, 0]])
            cursors[place, 0] += 1
            fresh = not used[vertex] and has(vertex, checks[number + 1], label_offsets, labels, first)
        if fresh:
            used[vertex] = root == 0 and resource[first + vertex]
            cursors[place, 2] = vertex
            place, number = place + 1, number + 2
        elif place == LATE:
            return False
        else:
            place, number = place - 1, number - 2
            used[cursors[place, 2]] = False
    for other in range(LATE, place):
        used[cursors[other, 2]] = False
    return True


@kernel
def joined(vertex, place, key, spans, keys, starts, ends, bound):
    """Whether an arc leads from what a place is mapped to, to a vertex."""
    if key in (ANYWHERE, SPARE):
        return True
    if key == BEFORE:
        return vertex <= bound[place]
    if place == SOMEWHERE:
        return seek_key(spans, keys, vertex, key ^ 1) >= 0
    found = seek_key(spans, keys, bound[place], key)
    if found < 0:
        return False
    there = seek(ends, starts[found], starts[found + 1], vertex)
    return there < starts[found + 1] and ends[there] == vertex


@kernel
def has(vertex, label, label_offsets, labels, first):
    """Whether a vertex has a plain label."""
    if label == 0:
        return True
    end = label_offsets[first + vertex + 1]
    there = seek(labels, label_offsets[first + vertex], end, np.int64(label) - 1)
    return there < end and labels[there] == np.int64(label) - 1


@kernel
def lies(vertex, domain, low, high, ranks, first):
    """Whether the value of a vertex lies in a range."""
    rank = ranks[domain, first + vertex]
    return rank >= 0 and low <= rank <= high


@kernel
def seek_key(spans, keys, vertex, key):
    """The place of a vertex's key among all, or -1 if it has no such arc."""
    there = seek(keys, spans[vertex], spans[vertex + 1], key)
    return there if there < spans[vertex + 1] and keys[there] == key else np.int64(-1)


@kernel
def seek(words, begin, end, word):
    """The place of the first of some sorted words that is not less."""
    while begin < end:
        middle = (begin + end) >> 1
        if words[middle] < word:
            begin = middle + 1
        else:
            end = middle
    return begin
