"""Events of many vertices, sorted for matching with lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .encoded import EncodedEvents
from .kernels.lists import Lists
from .kernels.plan import FIRST_KEY


def sort_event(events: EncodedEvents, number: int, labels: int, properties: int, depth: int) -> Lists:
    """The lists of one event, as far as its labels and properties are known."""
    first, size = int(events.vertices[number]), int(events.vertices[number + 1] - events.vertices[number])
    arcs = events.arcs[events.arc_offsets[number] : events.arc_offsets[number + 1]]
    arcs = arcs[(arcs[:, 1] >= 0) & (arcs[:, 1] < properties)].astype(np.int64)
    outward = FIRST_KEY + 2 * arcs[:, 1]
    keys = np.concatenate([outward, outward + 1])
    tails, heads = np.concatenate([arcs[:, 0], arcs[:, 2]]), np.concatenate([arcs[:, 2], arcs[:, 0]])
    order = np.lexsort((heads, keys, tails))
    starts, (owners_of_keys, list_keys) = _groups(tails[order], keys[order])
    names, name_folds, owners = _owners(events, first, size, labels)
    return Lists(
        spans=np.searchsorted(owners_of_keys, np.arange(size + 1)),
        keys=list_keys.astype(np.uint32),
        starts=starts,
        ends=heads[order].astype(np.uint32),
        names=names,
        folds=name_folds,
        owners=owners,
        used=np.zeros(size, np.bool_),
        bound=np.zeros(depth, np.int64),
        cursors=np.zeros((depth, 6), np.int64),
        fails=np.zeros(depth, np.uint64),
        blamed=np.zeros(depth, np.uint64),
    )


def _owners(
    events: EncodedEvents, first: int, size: int, labels: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]:
    offsets = events.label_offsets[first : first + size + 1]
    names = events.labels[offsets[0] : offsets[-1]]
    vertices = np.repeat(np.arange(size), np.diff(offsets))
    known = (names >= 0) & (names < labels)
    names, vertices = names[known], vertices[known]
    order = np.lexsort((vertices, names))
    folds, (different,) = _groups(names[order])
    return (different + 1).astype(np.uint32), folds, vertices[order].astype(np.uint32)


def _groups(*columns: NDArray[np.generic]) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Where rows of sorted columns differ from those before, and one past the last; and the rows there."""
    fresh = np.ones(len(columns[0]), np.bool_)
    fresh[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = np.flatnonzero(fresh)
    return np.append(starts, len(fresh)), [column[starts].astype(np.int64) for column in columns]
