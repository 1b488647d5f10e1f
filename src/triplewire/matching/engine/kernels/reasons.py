"""Reasons: to which places of a plan it is due that a step cannot be mapped, as sets of places.

If a step cannot be mapped, it is of no use to map places otherwise that it does not depend on. Where that is known the
walk goes back over these at once. Otherwise three arcs that a vertex has ten of each, and a fourth that it has not,
would be looked for a thousand times. A set may hold more places than it must; then no harm is done but to the time.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel, part
from .layout import MORE, PLACE_SHIFT, REST
from .masks import ITSELF, NOTHING, ONE, THREE, TWO, fit
from .plan import END

EVERYTHING = np.uint64(0xFFFFFFFFFFFFFFFF)
LAST = np.uint64(63)
"""Places from this one on count as one."""


@part
def only(place):
    """The set of a place."""
    return ONE << min(np.uint64(place), LAST)


@part
def without(places, place):
    """A set without a place, unless others may be meant."""
    return places & ~only(place) if np.uint64(place) < LAST else places


@kernel
def places_of(node, nodes, checks):
    """The places that a node's step has arcs to."""
    row = node << TWO
    arc, tail = nodes[row + TWO], nodes[row + THREE]
    if arc == END:
        return EVERYTHING
    found = only(arc >> 24)
    if not tail & MORE:
        return found | only(tail >> PLACE_SHIFT & 0xFF)
    start = np.int64(tail & REST)
    for number in range(start + 1, start + 1 + np.int64(checks[start] & 0xFFFF)):
        found |= only(checks[number] >> 24)
    return found


@kernel
def reasons(
    node, place, nodes, bounds, checks, ranges, plain, having, columns, adjacent, bound, ranks, first, keep, taken, left
):
    """The places on which it depends to which vertices a node's step, which has a place, can be mapped."""
    found = places_of(node, nodes, checks)
    if keep == NOTHING:
        return found
    if nodes[(node << TWO) + THREE] & MORE:
        return EVERYTHING
    suiting = fit(
        node, EVERYTHING, nodes, bounds, checks, ranges, plain, having, columns, adjacent, bound, ranks, first, keep,
        taken, left,
    )  # fmt: skip
    for other in range(1, place):
        if adjacent[bound[other] + ITSELF] & suiting & keep != NOTHING:
            found |= only(other)
    return found
