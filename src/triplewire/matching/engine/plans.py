"""The plans of many patterns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .encoded import HOME_LABEL, EncodedPatterns, Ids, Offsets, Relations, offsets_of, read_only
from .kernels.details import drop_unlike
from .kernels.plan import plan
from .kernels.words import Words, no_words, with_room
from .shapes import Shapes, plain, shapes_of

CHUNK = 1 << 16


class Plans(NamedTuple):
    """Where each pattern's steps begin; the steps; what these are; hashes of those before details."""

    starts: Offsets
    steps: Ids
    words: Words
    skeletons: NDArray[np.uint64]


def planned(patterns: EncodedPatterns, relations: Relations | None) -> Plans:
    """The plans of patterns, with details where that is worth it."""
    if relations is None:
        return _plans(patterns, plain(patterns))
    shapes = shapes_of(patterns, relations, np.ones(len(patterns), np.bool_))
    plans = _plans(patterns, shapes)
    found = np.flatnonzero(shapes.detailed)
    order = found[np.argsort(plans.skeletons[found], kind="stable")]
    wanted = shapes.detailed.copy()
    drop_unlike(
        order, plans.starts, plans.steps, plans.words, plans.skeletons, relations.offsets, relations.above, wanted
    )
    return plans if wanted.sum() == len(found) else _plans(patterns, shapes_of(patterns, relations, wanted))


def _plans(patterns: EncodedPatterns, shapes: Shapes) -> Plans:
    shape = shapes.patterns
    inner = np.append(0, np.cumsum(~shapes.late))[patterns.vertices]
    starts = offsets_of(np.diff(inner) + shapes.detailed)
    steps = np.empty(int(starts[-1]), np.int32)
    words = no_words()
    skeletons = np.empty(len(patterns), np.uint64)
    weights = _weights(patterns)
    often = np.bincount(shape.arcs[:, 1])
    for first in range(0, len(patterns), CHUNK):
        last = min(first + CHUNK, len(patterns))
        rows = int(starts[last] - starts[first])
        labels = patterns.label_offsets[patterns.vertices[last]] - patterns.label_offsets[patterns.vertices[first]]
        arcs = patterns.arc_offsets[last] - patterns.arc_offsets[first]
        words = with_room(words, rows, 3 * (rows + int(labels) + int(arcs)))
        plan(
            first, last, patterns.vertices, patterns.arc_offsets, read_only(shape.label_offsets),
            read_only(shape.labels), read_only(shape.arcs), patterns.label_offsets, patterns.labels, patterns.arcs,
            shapes.detailed, shapes.late, weights, often, starts, steps, words, skeletons,
        )  # fmt: skip
    return Plans(starts, steps, words, skeletons)


def _weights(patterns: EncodedPatterns) -> NDArray[np.int64]:
    """How much each label narrows a search: the home vertex, then what few vertices can be, then small ranges.

    What few patterns' vertices are asked to be, few events' vertices are expected to be.
    """
    ranges = patterns.ranges
    often = np.bincount(patterns.labels, minlength=ranges.first + len(ranges.low))
    weights = np.where(often * 128 < patterns.vertices[-1], 1 << 20, 1).astype(np.int64)
    widths = ranges.high.astype(np.int64) - ranges.low
    widest = np.int64(widths.max(initial=0))
    narrow = np.clip(np.log2((widest + 1) / (widths + 1)), 0, 7).astype(np.int64)
    weights[ranges.first :] = np.where(widths == 0, 1 << 20, 2 + narrow)
    weights[HOME_LABEL] = 1 << 30
    return weights
