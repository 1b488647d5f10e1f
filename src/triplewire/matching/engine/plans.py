"""The plans of many patterns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .encoded import HOME_LABEL, EncodedPatterns, Flags, Ids, Offsets, Relations, offsets_of, read_only
from .kernels.details import drop_unlike
from .kernels.plan import plan
from .kernels.words import Words, no_words, with_room
from .shapes import Shapes, plain, shapes_of

CHUNK = 1 << 16
_MANY = 1 << 24


class Plans(NamedTuple):
    """Where each pattern's steps begin; the steps; what these are; hashes of those before details."""

    starts: Offsets
    steps: Ids
    words: Words
    skeletons: NDArray[np.uint64]


def planned(patterns: EncodedPatterns, relations: Relations | None) -> Plans:
    """The plans of patterns, with details where that is worth it."""
    wanted = np.ones(len(patterns), np.bool_)
    plans, detailed = _plans(patterns, relations, wanted)
    if relations is None:
        return plans
    found = np.flatnonzero(detailed)
    order = found[np.argsort(plans.skeletons[found], kind="stable")]
    wanted = detailed.copy()
    drop_unlike(
        order, plans.starts, plans.steps, plans.words, plans.skeletons, relations.offsets, relations.above, wanted
    )
    return plans if wanted.sum() == len(found) else _plans(patterns, relations, wanted)[0]


def _plans(patterns: EncodedPatterns, relations: Relations | None, wanted: Flags) -> tuple[Plans, Flags]:
    """The plans, and which of the patterns have details; shapes are made for some patterns at a time."""
    lengths, steps = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    detailed = [np.empty(0, np.bool_)]
    words = no_words()
    skeletons = np.empty(len(patterns), np.uint64)
    weights, often = _weights(patterns), _often(patterns, relations, wanted)
    for own, shapes in _shapes(patterns, relations, wanted):
        first, shape = sum(map(len, detailed)), shapes.patterns
        inner = np.append(0, np.cumsum(~shapes.late))[own.vertices]
        starts = offsets_of(np.diff(inner) + shapes.detailed)
        rows = int(starts[-1])
        words = with_room(words, rows, 4 * (rows + len(own.labels) + len(own.arcs)))
        steps.append(np.empty(rows, np.int32))
        plan(
            0, len(own), own.vertices, own.arc_offsets, read_only(shape.label_offsets), read_only(shape.labels),
            read_only(shape.arcs), own.label_offsets, own.labels, own.arcs, shapes.detailed, shapes.late, own.injective,
            weights, often, starts, steps[-1], words, skeletons[first : first + len(own)],
        )  # fmt: skip
        lengths.append(np.diff(starts))
        detailed.append(shapes.detailed)
    found = Plans(offsets_of(np.concatenate(lengths)), np.concatenate(steps), words, skeletons)
    return found, np.concatenate(detailed)


def _shapes(
    patterns: EncodedPatterns, relations: Relations | None, wanted: Flags
) -> Iterator[tuple[EncodedPatterns, Shapes]]:
    """The patterns, some at a time, and their shapes."""
    for first in range(0, len(patterns), CHUNK):
        last = min(first + CHUNK, len(patterns))
        own = _slice(patterns, first, last)
        yield own, plain(own) if relations is None else shapes_of(own, relations, wanted[first:last])


def _slice(patterns: EncodedPatterns, first: int, last: int) -> EncodedPatterns:
    """The patterns ``first … last``."""
    vertices, arcs = patterns.vertices[first : last + 1], patterns.arc_offsets[first : last + 1]
    labels = patterns.label_offsets[vertices[0] : vertices[-1] + 1]
    return EncodedPatterns(
        read_only(vertices - vertices[0]),
        read_only(labels - labels[0]),
        read_only(patterns.labels[labels[0] : labels[-1]]),
        read_only(arcs - arcs[0]),
        read_only(patterns.arcs[arcs[0] : arcs[-1]]),
        read_only(patterns.injective[first:last]),
        patterns.ranges,
    )


def _often(patterns: EncodedPatterns, relations: Relations | None, wanted: Flags) -> NDArray[np.int64]:
    """How many arcs of the patterns' shapes have each property."""
    most = int(patterns.arcs[:, 1].max(initial=-1)) + 1
    often = np.zeros(most if relations is None else max(most, len(relations.general)), np.int64)
    for _, shapes in _shapes(patterns, relations, wanted):
        often += np.bincount(shapes.patterns.arcs[:, 1], minlength=len(often))
    return often


def counted(labels: Ids, size: int) -> NDArray[np.int64]:
    """How often each of ``size`` labels is there."""
    found = np.zeros(size, np.int64)
    for start in range(0, len(labels), _MANY):
        found += np.bincount(labels[start : start + _MANY], minlength=size)  # which makes wider numbers of all
    return found


def _weights(patterns: EncodedPatterns) -> NDArray[np.int64]:
    """How much each label narrows a search: the home vertex, then what few vertices can be, then small ranges.

    What few patterns' vertices are asked to be, few events' vertices are expected to be.
    """
    ranges = patterns.ranges
    often = counted(patterns.labels, ranges.first + len(ranges.low))
    weights = np.where(often * 128 < patterns.vertices[-1], 1 << 20, 1).astype(np.int64)
    widths = ranges.high.astype(np.int64) - ranges.low
    widest = np.int64(widths.max(initial=0))
    narrow = np.clip(np.log2((widest + 1) / (widths + 1)), 0, 7).astype(np.int64)
    weights[ranges.first :] = np.where(widths == 0, 1 << 20, 2 + narrow)
    weights[HOME_LABEL] = 1 << 30
    return weights
