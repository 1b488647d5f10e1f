"""Shapes: patterns as far as they do not depend on how general the classes and properties are that they name.

Subscriptions that ask for the same thing at different levels of a hierarchy have few labels in common, but the same
shape. Their plans begin with that, and so are shared: the *inner* vertices, without the labels that have others above
or below, and with the most general property for each arc. What is left out is the last step, the *detail*: these
labels and properties, and the *late* vertices, which hang by one arc and have nothing but such a label.

A detail is checked by itself, one after the other. So where most of many patterns of one shape could never match
together, they are planned as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoded import EncodedPatterns, Flags, Relations, offsets_of

MOST_PLACES, MOST_ASKED, MOST_LABELS = 64, 256, 1 << 24
"""Patterns of as many vertices, arcs or labels, and all with so many different labels, are planned as they are."""


@dataclass(frozen=True)
class Shapes:
    """The shapes of patterns: patterns again, of as many vertices and arcs, with less to ask.

    Where ``detailed`` is false, a pattern is its own shape. ``late`` tells for all patterns' vertices which are.
    """

    patterns: EncodedPatterns
    detailed: Flags
    late: Flags


def plain(patterns: EncodedPatterns) -> Shapes:
    """Patterns as their own shapes."""
    return Shapes(patterns, np.zeros(len(patterns), np.bool_), np.zeros(int(patterns.vertices[-1]), np.bool_))


def shapes_of(patterns: EncodedPatterns, relations: Relations, wanted: Flags) -> Shapes:
    """The shapes of those patterns of which they are wanted, and which have something to leave out."""
    count, size = len(patterns), int(patterns.vertices[-1])
    pattern_of = np.repeat(np.arange(count), np.diff(patterns.vertices))
    owners = np.repeat(np.arange(size), np.diff(patterns.label_offsets))
    hidden = _related(patterns, relations)[patterns.labels]
    pattern_of_arc = np.repeat(np.arange(count), np.diff(patterns.arc_offsets))
    ends = patterns.arcs[:, [0, 2]] + patterns.vertices[pattern_of_arc][:, None]
    late = _late(ends, (np.diff(patterns.label_offsets) == 1) & _among(owners[hidden], size))
    general = relations.general[patterns.arcs[:, 1]]
    between = ~late[ends].any(axis=1) & (general != patterns.arcs[:, 1])
    detailed = _among(pattern_of[owners[hidden & ~late[owners]]], count) | _among(pattern_of_arc[between], count)
    labels = np.diff(patterns.label_offsets[patterns.vertices])
    detailed &= wanted & (labels < MOST_ASKED) & (np.diff(patterns.arc_offsets) < MOST_ASKED)
    detailed &= np.diff(patterns.vertices) < MOST_PLACES
    kept = ~(hidden & detailed[pattern_of[owners]])
    arcs = patterns.arcs.copy()
    arcs[:, 1] = np.where(detailed[pattern_of_arc], general, arcs[:, 1])
    shapes = replace(
        patterns,
        labels=patterns.labels[kept],
        label_offsets=offsets_of(np.bincount(owners[kept], minlength=size)),
        arcs=arcs,
    )
    return Shapes(shapes, detailed, late & detailed[pattern_of])


def _related(patterns: EncodedPatterns, relations: Relations) -> Flags:
    """Which labels have others above or below them."""
    lengths = np.diff(relations.offsets)
    lower = np.repeat(np.arange(len(lengths)), lengths)
    others = relations.above[relations.above != lower]
    found = _among(others, patterns.ranges.first + len(patterns.ranges.low))
    found[: len(lengths)] |= lengths > 1
    return found & (patterns.ranges.first < MOST_LABELS)


def _among(places: NDArray[Any], size: int) -> Flags:
    found = np.zeros(size, np.bool_)
    found[places] = True
    return found


def _late(ends: NDArray[np.int64], general: Flags) -> Flags:
    """Which of some vertices hang by one arc, at the other end of which is not another one that does."""
    late: Flags = general & (np.bincount(ends.ravel(), minlength=len(general)) == 1)
    late[ends[late[ends].all(axis=1)]] = False
    return late
