"""Sets of an event's vertices as masks: which vertices a step may be mapped to.

Kernels over masks take plain arrays, as many as they are: taking one out of a tuple in a loop can cost more than the
loop. ``nodes`` and ``bounds`` (in one row), ``checks`` and
``ranges`` are the trie's. Of the event, ``having[label]`` is the vertices
that have a label, ``adjacent[bound[place] + columns[key]]`` those to which arcs lead from the vertex that a place is
mapped to, ``ranks[domain, first + vertex]`` is a value's rank. ``free`` are the vertices that are not yet used.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel, lowest, part
from .layout import KEY, MORE, PLACE_SHIFT, REST
from .plan import END, SPARE

NOTHING = np.uint64(0)
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
EVERY, NO_VERTEX, ITSELF, UP_TO, FIRST = np.uint32(1), np.uint32(2), np.uint32(3), np.uint32(4), 5
"""Columns of all vertices, of the bit that stands for none, of the vertex itself, of all that do not come after it; and
that of the first key.
"""
NOWHERE = np.uint32(0xFFFFFFFF)
LATE = 128
"""From this place on late vertices are tried; patterns that have some are not as long."""
CAREFUL = 2
"""The counter of nodes after which, in one event, reasons are looked for."""
DOUBT = 256
"""Added to a place in the plan that may be reached again."""


@part
def fit(
    node, free, nodes, bounds, checks, ranges, plain, having, columns, adjacent, bound, ranks, first, keep, taken, left
):
    """The free vertices that a node's step may be mapped to."""
    row = node << TWO
    label, arc, tail = np.int64(nodes[row + ONE]), nodes[row + TWO], nodes[row + THREE]
    mask = free & adjacent[bound[arc >> 24] + columns[arc & 0xFFFFFF]]
    if tail & MORE:
        if arc == END:
            if not agrees(np.int64(tail & REST), free, keep, checks, having, columns, adjacent, bound, taken, left):
                mask = NOTHING
        else:
            mask = check(tail & REST, mask, checks, ranges, plain, having, columns, adjacent, bound, ranks, first, keep)
    else:
        mask &= adjacent[bound[(tail >> PLACE_SHIFT) & 0xFF] + columns[tail & KEY]]
    if label < plain:
        mask &= having[label]
    else:
        place = node << ONE
        mask = in_range(label - plain, bounds[place], bounds[place + ONE], mask, ranks, first)
    return mask


@part
def agrees(start, free, keep, checks, having, columns, adjacent, bound, taken, left):
    """Whether the vertices that places are mapped to have what a detail asks, and late vertices can be mapped too."""
    head = checks[start]
    arcs = start + 1 + np.int64(head & 0xFF)
    late = arcs + 2 * np.int64(head >> 8 & 0xFF)
    end = late + 2 * np.int64(head >> 16)
    for number in range(start + 1, arcs):
        word = checks[number]
        if having[word & 0xFFFFFF] & adjacent[bound[word >> 24] + ITSELF] == NOTHING:
            head = NOWHERE
            break
    for number in range(arcs, late, 2):
        arc = checks[number]
        both = adjacent[bound[arc >> 24] + columns[arc & 0xFFFFFF]] & adjacent[bound[checks[number + 1]] + ITSELF]
        if both == NOTHING or head == NOWHERE:
            head = NOWHERE
            break
    used = NOTHING
    for number in range(late, end, 2):
        arc = checks[number]
        mask = free & having[checks[number + 1]] & adjacent[bound[arc >> 24] + columns[arc & 0xFFFFFF]]
        others = mask & ~used
        if others == NOTHING or head == NOWHERE:
            if (
                mask == NOTHING
                or head == NOWHERE
                or not settle(late, end, free, keep, checks, having, columns, adjacent, bound, taken, left)
            ):
                head = NOWHERE
            break
        used |= others & (~others + ONE) & keep
    return head != NOWHERE


@kernel
def settle(late, end, free, keep, checks, having, columns, adjacent, bound, taken, left):
    """Whether late vertices can be mapped, where several want the same."""
    place = LATE
    number = late
    taken[place] = NOTHING
    mask = NOTHING
    while True:
        arc = checks[number]
        left[place] = (
            free & ~taken[place] & having[checks[number + 1]] & adjacent[bound[arc >> 24] + columns[arc & 0xFFFFFF]]
        )
        while left[place] == NOTHING:
            if place == LATE:
                return False
            place -= 1
            number -= 2
        mask = left[place]
        left[place] = mask & (mask - ONE)
        taken[place + 1] = taken[place] | (mask ^ left[place]) & keep
        place += 1
        number += 2
        if number == end:
            return True


@kernel
def check(start, mask, checks, ranges, plain, having, columns, adjacent, bound, ranks, first, keep):
    """Those vertices of a mask that have all the arcs and labels of a row of checks, and the others that it wants."""
    spare = np.uint32(0)
    arcs = start + 1 + np.int64(checks[start] & 0xFFFF)
    labels = arcs + np.int64(checks[start] >> 16)
    for number in range(start + 1, arcs):
        arc = checks[number]
        if arc & 0xFFFFFF == SPARE:
            spare = arc >> 24
        else:
            mask &= adjacent[bound[arc >> 24] + columns[arc & 0xFFFFFF]]
    for number in range(arcs, labels):
        label = np.int64(checks[number])
        if label < plain:
            mask &= having[label]
        else:
            domain, low, high = ranges[label - plain, 0], ranges[label - plain, 1], ranges[label - plain, 2]
            mask = in_range(domain, low, high, mask, ranks, first)
    for _ in range(spare):
        if mask & (~mask + ONE) & keep == NOTHING:
            break  # a literal, which is others enough
        mask &= mask - ONE
    return mask


@part
def in_range(domain, low, high, mask, ranks, first):
    """Those vertices of a mask whose value lies in a range."""
    left = mask
    while left != NOTHING:
        rank = ranks[domain, first + lowest(left)]
        if rank < low or rank > high:
            mask ^= left & (~left + ONE)
        left &= left - ONE
    return mask
