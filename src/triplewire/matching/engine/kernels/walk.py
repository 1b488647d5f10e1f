"""Matching events of few vertices: a depth-first walk through the trie, with sets of vertices as 64-bit masks.

A node's mask is the set of vertices that its step may be mapped to, given those of the nodes above it. Where a mask has
several vertices, the nodes below are *in doubt*: they may be reached again under another one. There each node below
which everything has matched is stamped with the event's number, and not entered again.

The parameters that kernels share are told in ``masks``.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel, lowest, part, prefetch
from .layout import LEAF, TAIL, WIDE
from .masks import DOUBT, NOTHING, ONE, THREE, TWO, fit
from .plan import SOMEWHERE
from .wide import enter_wide

RETURN = 2 * DOUBT
FOUR, HALF, NODE = np.uint64(4), np.uint64(32), np.uint64(0xFFFFFFFF)


@kernel
def walk(
    root, nodes, bounds, checks, ranges, wide, runs, doors, having, columns, adjacent, ranks, label_offsets, labels,
    first, none, stride, keep, stamps, epoch, stack, bound, taken, left, fails, out, found, counters,
):  # fmt: skip
    """Write the groups below a root that match to ``out``, from ``found`` on; tell where they end.

    ``none`` is the bit that stands for no vertex, ``keep`` are the vertices that may be used once only. On the stack
    are nodes to enter, with their places in the plan, and their masks.
    """
    plain = len(having)
    visits = 0
    taken[0] = NOTHING
    bound[SOMEWHERE] = lowest(none) * stride
    stack[0], stack[1] = np.uint64(root), none
    top = ONE
    while top > NOTHING:
        top -= ONE
        entry, mask = stack[top << ONE], stack[(top << ONE) + ONE]
        node, place = entry & NODE, np.int64(entry >> HALF)
        row = node << TWO
        doubt = place & DOUBT
        inner = doubt
        begin, end = np.uint64(nodes[row]), np.uint64(nodes[row + FOUR])
        tail = nodes[row + THREE]
        rest = mask & (mask - ONE)
        if place & RETURN:
            place &= 0xFF
            if not fails[place + 1]:
                if doubt:
                    stamps[node] = epoch
                continue
            if mask == NOTHING:
                fails[place] = True
                continue
            stack[(top << ONE) + ONE] = rest
            top += ONE
            inner = DOUBT
        else:
            place &= 0xFF
            if tail & TAIL:
                matches, seen = follow(
                    begin, end, place, mask, nodes, bounds, checks, ranges, plain, having, columns, adjacent, ranks,
                    first, stride, keep, bound, taken, left,
                )  # fmt: skip
                visits += seen
                if matches:
                    out[found] = end - ONE
                    found += 1
                    if doubt:
                        stamps[node] = epoch
                else:
                    fails[place] = True
                continue
            if rest != NOTHING:
                inner = DOUBT
            if inner:
                stack[top << ONE] = node | np.uint64(place | doubt | RETURN) << HALF
                stack[(top << ONE) + ONE] = rest
                top += ONE
        bound[place] = lowest(mask) * stride
        free = ~(taken[place] | (mask ^ rest) & keep)
        place += 1
        taken[place] = ~free
        holding = NOTHING
        if tail & WIDE:
            top, found, holding = enter_wide(
                node, place | inner, free, nodes, bounds, checks, ranges, wide, runs, doors, having, columns, adjacent,
                ranks, label_offsets, labels, first, keep, taken, left, stamps, epoch, stack, bound, top, out, found,
                counters,
            )  # fmt: skip
            fails[place] = holding < end - begin
            continue
        visits += np.int64(end - begin)
        above = np.uint64(place | inner) << HALF
        for child in range(begin, end):
            if inner and stamps[child] == epoch:
                holding += ONE
                continue
            mask = fit(
                child, free, nodes, bounds, checks, ranges, plain, having, columns, adjacent, bound, ranks, first,
                keep, taken, left,
            )  # fmt: skip
            if mask == NOTHING:
                continue
            holding += ONE
            if nodes[(child << TWO) + THREE] & LEAF:
                out[found] = child
                found += 1
                if inner:
                    stamps[child] = epoch
            else:
                stack[top << ONE], stack[(top << ONE) + ONE] = child | above, mask
                top += ONE
                prefetch(nodes, np.uint64(nodes[child << TWO]) << TWO)
        fails[place] = holding < end - begin
    counters[0] += visits
    return found


@part
def follow(
    begin, end, place, mask, nodes, bounds, checks, ranges, plain, having, columns, adjacent, ranks, first, stride,
    keep, bound, taken, left,
):  # fmt: skip
    """Whether the steps ``begin … end``, one after the other, can all be mapped, once a place is to one of a mask.

    Tell also how many were tried.
    """
    start = place
    step = begin
    seen = 0
    while True:
        rest = mask & (mask - ONE)
        left[place] = rest
        bound[place] = lowest(mask) * stride
        free = ~(taken[place] | (mask ^ rest) & keep)
        mask = fit(
            step, free, nodes, bounds, checks, ranges, plain, having, columns, adjacent, bound, ranks, first, keep,
            taken, left,
        )  # fmt: skip
        seen += 1
        if mask != NOTHING:
            step += ONE
            if step == end:
                break
            place += 1
            taken[place] = ~free
            continue
        while left[place] == NOTHING and place > start:
            place -= 1
            step -= ONE
        mask = left[place]
        if mask == NOTHING:
            break
    return mask != NOTHING, seen
