"""Entering nodes with many children: run by run, and of a run only the children that can hold.

A run is siblings that differ only in the label they ask: its first, the one after its last, their kind of label, the
domain of their ranges, their arc and their further checks. The other parameters are those of ``masks`` and ``walk``.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel, lowest, part, prefetch
from .layout import BETWEEN, FALLING, KEY, LEAF, MORE, NONE, PLACE_SHIFT, PLAIN, POINT, REST, TAIL
from .masks import DOUBT, NOTHING, ONE, THREE, TWO, agrees, check, in_range
from .plan import END

FEW = 8
"""So many siblings are looked at one by one."""


@kernel
def enter_wide(
    node, place, free, nodes, bounds, checks, ranges, wide, runs, doors, having, columns, adjacent, ranks,
    label_offsets, labels, first, keep, taken, left, stamps, epoch, stack, bound, top, out, found, counters,
):  # fmt: skip
    """Put the children that hold on the stack, or out if they end a pattern. Tell also how many hold."""
    held = NOTHING
    row = seek_node(wide, node)
    for run in range(wide[row, 1], wide[row + 1, 1]):
        arc, tail = runs[run, 4], runs[run, 5]
        mask = adjacent[bound[arc >> 24] + columns[arc & 0xFFFFFF]] & free
        if mask == NOTHING:
            continue
        if tail & MORE and arc == END:
            if not agrees(np.int64(tail & REST), free, keep, checks, having, columns, adjacent, bound, taken, left):
                mask = NOTHING
        elif tail & MORE:
            mask = check(
                tail & REST, mask, checks, ranges, len(having), having, columns, adjacent, bound, ranks, first, keep
            )
        else:
            mask &= adjacent[bound[(tail >> PLACE_SHIFT) & 0xFF] + columns[tail & KEY]]
        if mask == NOTHING:
            continue
        kind = runs[run, 2]
        if kind == NONE:
            held += ONE
            counters[0] += 1
            top, found = admit(np.int64(runs[run, 0]), mask, place, nodes, stamps, epoch, stack, top, out, found)
            continue
        if kind == PLAIN:
            top, found, holding = enter_labels(
                node, run, mask, place, nodes, runs, doors, having, label_offsets, labels, first, stamps, epoch, stack,
                top, out, found, counters,
            )  # fmt: skip
        else:
            top, found, holding = enter_ranges(
                run, mask, place, nodes, bounds, runs, len(having), columns, adjacent, ranks, first, stamps, epoch,
                stack, bound, top, out, found, counters,
            )  # fmt: skip
        held += np.uint64(holding)
    return top, found, held


@kernel
def enter_labels(
    node, run, mask, place, nodes, runs, doors, having, label_offsets, labels, first, stamps, epoch, stack, top, out,
    found, counters,
):  # fmt: skip
    """Enter those of a run that ask a label which some vertex of a mask has."""
    begin, end = np.int64(runs[run, 0]), np.int64(runs[run, 1])
    door = np.int64(node) * len(having)
    by_door = node < 2 and runs[run, 4] == 0 and runs[run, 5] == 0
    held = 0
    if end - begin <= FEW:
        counters[0] += end - begin
        for child in range(begin, end):
            both = mask & having[nodes[4 * child + 1]]
            if both != NOTHING:
                held += 1
                top, found = admit(child, both, place, nodes, stamps, epoch, stack, top, out, found)
        return top, found, held
    left = mask
    while left != NOTHING:
        bit = left & (~left + ONE)
        vertex = first + lowest(left)
        left ^= bit
        for number in range(label_offsets[vertex], label_offsets[vertex + 1]):
            label = np.int64(labels[number]) + 1
            if not 0 < label < len(having):
                continue
            both = mask & having[label]
            if both & (bit - ONE) != NOTHING:
                continue  # an earlier vertex has it too
            child = np.int64(doors[door + label]) if by_door else seek_label(nodes, begin, end, label)
            counters[0] += 1
            if child < end and nodes[4 * child + 1] == label:
                held += 1
                top, found = admit(child, both, place, nodes, stamps, epoch, stack, top, out, found)
    return top, found, held


@part
def enter_ranges(
    run, mask, place, nodes, bounds, runs, plain, columns, adjacent, ranks, first, stamps, epoch, stack, bound, top,
    out, found, counters,
):  # fmt: skip
    """Enter those of a run that ask a range in which the value of some vertex of a mask lies."""
    domain = np.int64(runs[run, 3])
    least, most = extremes(mask, ranks, domain, first)
    begin, end = near(bounds, np.int64(runs[run, 0]), np.int64(runs[run, 1]), np.int64(runs[run, 2]), least, most)
    counters[0] += end - begin
    held = 0
    if mask & (mask - ONE) == NOTHING and not place & DOUBT:
        before = np.int64(top) + found
        top, found = scan(
            begin, end, least, mask, place, nodes, bounds, plain, columns, adjacent, ranks, first, bound, stack, top,
            out, found, counters,
        )  # fmt: skip
        held = np.int64(top) + found - before
    else:
        for child in range(begin, end):
            both = in_range(domain, bounds[2 * child], bounds[2 * child + 1], mask, ranks, first)
            if both != NOTHING:
                held += 1
                top, found = admit(child, both, place, nodes, stamps, epoch, stack, top, out, found)
    return top, found, held


@part
def near(bounds, begin, end, kind, least, most):
    """The first and one past the last of a run's siblings whose ranges may hold a rank from ``least`` to ``most``."""
    if most < 0:
        end = begin
    elif kind == FALLING:
        end = seek_high(bounds, begin, end, least)
    else:
        if kind == POINT:
            begin = seek_low(bounds, begin, end, least)
        elif kind >= BETWEEN:
            begin = seek_low(bounds, begin, end, least + 2 - (2 << (kind - BETWEEN)))
        end = seek_low(bounds, begin, end, most + 1)
    return begin, end


@part
def scan(
    begin, end, rank, mask, place, nodes, bounds, plain, columns, adjacent, ranks, first, bound, stack, top, out,
    found, counters,
):  # fmt: skip
    """Put siblings in whose ranges the rank of the only vertex of a mask lies on the stack, or out if they are leaves.

    Of a tail the first step is looked at too if it is a range at the end of an arc from a vertex that is bound: most
    filters fail there. Nothing is branched upon, as what a sibling says does not foretell what the next will say.
    """
    above = np.uint64(place) << np.uint64(32)
    for child in range(np.uint64(begin), np.uint64(end)):
        row = child << TWO
        tail = nodes[row + THREE] & TAIL != 0
        leaf = nodes[row + THREE] & LEAF != 0
        step = np.uint64(nodes[row]) if tail else child
        label, arc = np.int64(nodes[(step << TWO) + ONE]), nodes[(step << TWO) + TWO]
        ahead = tail & (label >= plain) & (np.int64(arc >> 24) < place)
        origin = np.uint64(arc >> 24) if ahead else NOTHING
        domain = np.uint64(label - plain) if ahead else NOTHING
        there = adjacent[bound[origin] + columns[arc & 0xFFFFFF]]
        value = ranks[domain, np.uint64(first + lowest(ONE if there == NOTHING else there))]
        fails = (
            ahead
            & (there & (there - ONE) == NOTHING)
            & ((value < bounds[step << ONE]) | (value > bounds[(step << ONE) + ONE]))
        )
        fits = (bounds[child << ONE] <= rank) & (rank <= bounds[(child << ONE) + ONE])
        counters[0] += fits & fails
        fits = fits & (not fails)
        out[found] = child
        found += np.int64(fits & leaf)
        stack[top << ONE], stack[(top << ONE) + ONE] = child | above, mask
        top += np.uint64(fits & (not leaf))
    return top, found


@part
def admit(child, mask, place, nodes, stamps, epoch, stack, top, out, found):
    """A child holds: tell its group if it ends a pattern, otherwise put it on the stack."""
    if not place & DOUBT or stamps[child] != epoch:
        if nodes[4 * child + 3] & LEAF:
            out[found] = child
            found += 1
            stamps[child] = epoch
        else:
            stack[top << ONE] = np.uint64(child) | np.uint64(place) << np.uint64(32)
            stack[(top << ONE) + ONE] = mask
            top += ONE
            prefetch(nodes, np.uint64(nodes[4 * child]) << TWO)
    return top, found


@part
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
def seek_node(wide, node):
    """The row of a wide node."""
    begin, end = 0, len(wide) - 1
    while begin < end:
        middle = (begin + end) >> 1
        if wide[middle, 0] < node:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def seek_label(nodes, begin, end, label):
    """The first of some siblings, sorted by label, whose label is not less."""
    while begin < end:
        middle = (begin + end) >> 1
        if nodes[4 * middle + 1] < label:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def seek_high(bounds, begin, end, rank):
    """The first of some siblings, sorted by the high ends of their ranges downwards, where that is less."""
    while begin < end:
        middle = (begin + end) >> 1
        if bounds[2 * middle + 1] >= rank:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def seek_low(bounds, begin, end, rank):
    """The first of some siblings, sorted by the low ends of their ranges, where that is not less."""
    while begin < end:
        middle = (begin + end) >> 1
        if bounds[2 * middle] < rank:
            begin = middle + 1
        else:
            end = middle
    return begin
