"""Matching events of few vertices: a depth-first walk through the trie, with sets of vertices as 64-bit masks.

A node's mask is the set of vertices that its step may be mapped to, given those of the nodes above it. Where a mask has
several vertices, the nodes below are *in doubt*: they may be reached again under another one. There each node below
which everything has matched is stamped with the event's number, and not entered again.

The parameters that kernels share are told in ``masks``.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel, lowest, part, prefetch
from .layout import TAIL, WIDE
from .masks import DOUBT, NOTHING, ONE, fit
from .wide import enter_wide

RETURN = 2 * DOUBT


@kernel
def walk(
    root, nodes, checks, ranges, wide, runs, having, columns, adjacent, ranks, label_offsets, labels, first, none,
    stride, keep, stamps, epoch, stack, bound, taken, left, fails, out, found, counters,
):  # fmt: skip
    """Write the groups below a root that match to ``out``, from ``found`` on; tell where they end.

    ``none`` is the bit that stands for no vertex, ``keep`` are the vertices that may be used once only. On the stack
    are nodes to enter, with their places in the plan, and their masks. The loop over siblings has no branches that
    depend on what holds: each is written to where it would go, and counted if it does.
    """
    plain = len(having)
    visits = 0
    taken[0] = NOTHING
    stack[0, 0], stack[0, 1] = np.uint64(root), none
    top = 1
    while top > 0:
        top -= 1
        entry, mask = stack[top, 0], stack[top, 1]
        node, place = np.int64(entry & np.uint64(0xFFFFFFFF)), np.int64(entry >> np.uint64(32))
        doubt = place & DOUBT
        inner = doubt
        begin, end = np.int64(nodes[node, 0]), np.int64(nodes[node + 1, 0])
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
            stack[top, 1] = rest
            top += 1
            inner = DOUBT
        else:
            place &= 0xFF
            if nodes[node, 3] & TAIL:
                steps = follow(
                    begin, end, place, mask, nodes, checks, ranges, having, columns, adjacent, ranks, first, stride,
                    keep, bound, taken, left, counters,
                )  # fmt: skip
                if steps:
                    out[found] = end - 1
                    found += 1
                    if doubt:
                        stamps[node] = epoch
                else:
                    fails[place] = True
                continue
            if rest != NOTHING:
                inner = DOUBT
            if inner:
                stack[top, 0] = np.uint64(node) | np.uint64(place | doubt | RETURN) << np.uint64(32)
                stack[top, 1] = rest
                top += 1
        bound[place] = lowest(mask) * stride
        free = ~(taken[place] | (mask ^ rest) & keep)
        place += 1
        taken[place] = ~free
        visits += end - begin
        if nodes[node, 3] & WIDE:
            top, found, holding = enter_wide(
                node, place | inner, free, nodes, checks, ranges, wide, runs, having, columns, adjacent, ranks,
                label_offsets, labels, first, stamps, epoch, stack, bound, top, out, found,
            )  # fmt: skip
            fails[place] = holding < end - begin
            continue
        holding = 0
        above = np.uint64(place | inner) << np.uint64(32)
        for child in range(begin, end):
            mask = fit(child, free, nodes, checks, ranges, plain, having, columns, adjacent, bound, ranks, first)
            holds = np.int64(mask != NOTHING)
            leaf = np.int64(nodes[child, 3] >> 31)
            if inner:
                stamp = stamps[child]
                known = np.int64(stamp == epoch)
                holding += holds | known
                holds &= ~known
                stamps[child] = epoch if holds & leaf else stamp
            out[found] = child
            found += holds & leaf
            stack[top, 0], stack[top, 1] = np.uint64(child) | above, mask
            top += holds & ~leaf
            prefetch(nodes, np.int64(nodes[child, 0]))
        fails[place] = holding < end - begin
    counters[0] += visits
    return found


@part
def follow(
    begin, end, place, mask, nodes, checks, ranges, having, columns, adjacent, ranks, first, stride, keep, bound,
    taken, left, counters,
):  # fmt: skip
    """Whether the steps ``begin … end``, one after the other, can all be mapped, once a place is to one of a mask."""
    plain = len(having)
    start = place
    step = begin
    visits = 0
    while True:
        rest = mask & (mask - ONE)
        left[place] = rest
        bound[place] = lowest(mask) * stride
        free = ~(taken[place] | (mask ^ rest) & keep)
        mask = fit(step, free, nodes, checks, ranges, plain, having, columns, adjacent, bound, ranks, first)
        visits += 1
        if mask != NOTHING:
            step += 1
            if step == end:
                break
            place += 1
            taken[place] = ~free
            continue
        while left[place] == NOTHING and place > start:
            place -= 1
            step -= 1
        mask = left[place]
        if mask == NOTHING:
            break
    counters[0] += visits
    return mask != NOTHING
