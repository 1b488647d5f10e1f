"""Matching events of few vertices: a depth-first walk through the trie, with sets of vertices as 64-bit masks.

A node's mask is the set of vertices that its step may be mapped to, given those of the nodes above it. Where a mask has
several vertices, the nodes below are *in doubt*: they may be reached again under another one. There each node below
which everything has matched is stamped with the event's number, and not entered again.

The parameters that kernels share are told in ``masks``.
"""

from __future__ import annotations

import numpy as np

from .jit import lowest, part, prefetch
from .layout import LEAF, TAIL, WIDE
from .masks import CAREFUL, DOUBT, NOTHING, ONE, THREE, TWO, fit
from .plan import SOMEWHERE
from .reasons import EVERYTHING, only, reasons, without
from .wide import enter_wide, seek_node

RETURN = 2 * DOUBT
FOUR, HALF, NODE = np.uint64(4), np.uint64(32), np.uint64(0xFFFFFFFF)


@part
def walk(
    careful, root, nodes, bounds, checks, ranges, wide, runs, doors, having, columns, adjacent, ranks, label_offsets,
    labels, first, none, stride, keep, stamps, epoch, stack, bound, taken, left, fails, blamed, out, found, counters,
):  # fmt: skip
    """Write the groups below a root that match to ``out``, from ``found`` on; tell where they end.

    ``none`` is the bit that stands for no vertex, ``keep`` are the vertices that may be used once only. On the stack
    are nodes to enter, with their places in the plan, and their masks.

    A walk that is ``careful`` looks for reasons; one that is not tells -1 after too many nodes, and is to be repeated.
    It is compiled once for each, so that most events do not pay for reasons.
    """
    plain = len(having)
    visits = 0
    limit = counters[0] + counters[CAREFUL]
    taken[0] = NOTHING
    bound[SOMEWHERE] = lowest(none) * stride
    stack[0], stack[1] = np.uint64(root), none
    top = ONE
    while top > NOTHING and (careful or visits + counters[0] <= limit):
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
            why = fails[place + 1]
            if why == NOTHING:
                if doubt:
                    stamps[node] = epoch
                continue
            if careful:
                blamed[place] |= why
                if why & only(place) == NOTHING:
                    fails[place] |= why
                    continue
            if mask == NOTHING:
                why = EVERYTHING
                if careful:
                    why = without(blamed[place], place) | reasons(
                        node, place, nodes, bounds, checks, ranges, plain, having, columns, adjacent,
                        bound, ranks, first, keep, taken, left,
                    )  # fmt: skip
                fails[place] |= why
                continue
            stack[(top << ONE) + ONE] = rest
            top += ONE
            inner = DOUBT
        else:
            place &= 0xFF
            if tail & TAIL:
                matches, seen = follow(
                    begin, end, place, mask, nodes, bounds, checks, ranges, plain, having, columns, adjacent, ranks,
                    first, stride, keep, bound, taken, left, blamed, careful, limit - counters[0] - visits,
                )  # fmt: skip
                visits += seen
                if matches:
                    out[found] = end - ONE
                    found += 1
                    if doubt:
                        stamps[node] = epoch
                else:
                    why = blamed[place] if careful else EVERYTHING
                    if careful and why != EVERYTHING and why & only(place) != NOTHING:
                        why = without(why, place) | reasons(
                            node, place, nodes, bounds, checks, ranges, plain, having, columns, adjacent,
                            bound, ranks, first, keep, taken, left,
                        )  # fmt: skip
                    fails[place] |= why
                continue
            if careful:
                blamed[place] = NOTHING
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
        if tail & WIDE:
            top, found, holding = enter_wide(
                node, place | inner, free, nodes, bounds, checks, ranges, wide, runs, doors, having, columns, adjacent,
                ranks, label_offsets, labels, first, keep, taken, left, stamps, epoch, stack, bound, top, out, found,
                counters,
            )  # fmt: skip
            why = NOTHING if holding == end - begin else EVERYTHING
            if careful and why != NOTHING:
                why = NOTHING
                number = seek_node(wide, node)
                for run in range(wide[number, 1], wide[number + 1, 1]):
                    why |= reasons(
                        np.uint64(runs[run, 0]), place, nodes, bounds, checks, ranges, plain, having, columns, adjacent,
                        bound, ranks, first, keep, taken, left,
                    )  # fmt: skip
            fails[place] = why
            continue
        visits += np.int64(end - begin)
        above = np.uint64(place | inner) << HALF
        why = NOTHING
        for child in range(begin, end):
            if inner and stamps[child] == epoch:
                continue
            mask = fit(
                child, free, nodes, bounds, checks, ranges, plain, having, columns, adjacent, bound, ranks, first,
                keep, taken, left,
            )  # fmt: skip
            if mask == NOTHING:
                if careful and inner:
                    why |= reasons(
                        child, place, nodes, bounds, checks, ranges, plain, having, columns, adjacent,
                        bound, ranks, first, keep, taken, left,
                    )  # fmt: skip
                else:
                    why = EVERYTHING
                continue
            if nodes[(child << TWO) + THREE] & LEAF:
                out[found] = child
                found += 1
                if inner:
                    stamps[child] = epoch
            else:
                stack[top << ONE], stack[(top << ONE) + ONE] = child | above, mask
                top += ONE
                prefetch(nodes, np.uint64(nodes[child << TWO]) << TWO)
        fails[place] = why
    counters[0] += visits
    return found if careful or counters[0] <= limit else np.int64(-1)


@part
def follow(
    begin, end, place, mask, nodes, bounds, checks, ranges, plain, having, columns, adjacent, ranks, first, stride,
    keep, bound, taken, left, blamed, careful, limit,
):  # fmt: skip
    """Whether the steps ``begin … end``, one after the other, can all be mapped, once a place is to one of a mask.

    Tell also how many were tried; and in ``blamed``, by the place, to which places it is due if they cannot, if
    this is asked for. If not, it is given up after a ``limit``.
    """
    start = place
    step = begin
    seen = 0
    if careful:
        blamed[place] = NOTHING
    while True:
        rest = mask & (mask - ONE)
        left[place] = rest
        bound[place] = lowest(mask) * stride
        free = ~(taken[place] | (mask ^ rest) & keep)
        mask = fit(
            step, free, nodes, bounds, checks, ranges, plain, having, columns, adjacent,
            bound, ranks, first, keep, taken, left,
        )  # fmt: skip
        seen += 1
        if mask != NOTHING:
            step += ONE
            if step == end:
                break
            place += 1
            taken[place] = ~free
            if careful:
                blamed[place] = NOTHING
            continue
        if not careful:
            if seen > limit:
                break
            while left[place] == NOTHING and place > start:
                place -= 1
                step -= ONE
            mask = left[place]
            if mask == NOTHING:
                break
            continue
        why = reasons(
            step, place + 1, nodes, bounds, checks, ranges, plain, having, columns, adjacent,
            bound, ranks, first, keep, taken, left,
        )  # fmt: skip
        while place > start and (left[place] == NOTHING or why & only(place) == NOTHING):
            step -= ONE
            if why & only(place) != NOTHING:
                why = without(why | blamed[place], place) | reasons(
                    step, place, nodes, bounds, checks, ranges, plain, having, columns, adjacent,
                    bound, ranks, first, keep, taken, left,
                )  # fmt: skip
            place -= 1
        blamed[place] |= why
        mask = left[place]
        if why & only(place) == NOTHING:
            blamed[place] = why
            mask = NOTHING
        if mask == NOTHING:
            break
    return mask != NOTHING, seen
