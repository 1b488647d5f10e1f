"""The OPS workload as numbers, for sizes at which it would take hours to make and to compile as subscriptions.

As in :mod:`benchmarks.workloads.ops`, patterns and events are cut out of a few large graphs whose arcs keep to
meta-statements: each class has two properties, each of those leads to one class. A part is grown from the home vertex,
an arc at a time, drawn from those that lead out of it; more arcs are then drawn from those between its vertices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.engine import encoded
from triplewire.matching.engine.encoded import EncodedEvents, EncodedPatterns

CLASSES = PROPERTIES = 10
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Sizes:
    """Vertices and arcs of what is cut out, and of the large graphs, of which there are ``bases``."""

    pattern: tuple[int, int] = (10, 11)
    event: tuple[int, int] = (50, 55)
    large: tuple[int, int] = (58, 66)
    bases: int = 20


USUAL = Sizes()


def workload(
    subscriptions: int, events: int, sizes: Sizes = USUAL, share: float = 1.0, seed: int = 1
) -> tuple[EncodedPatterns, EncodedEvents]:
    """Patterns, of which a share is cut out of the graphs that events are cut out of, the others out of others."""
    rng = np.random.default_rng(seed)
    schema = np.stack([[rng.choice(PROPERTIES, 2, replace=False), rng.integers(0, CLASSES, 2)] for _ in range(CLASSES)])
    graphs = [_large(rng, number % CLASSES, schema, *sizes.large) for number in range(2 * sizes.bases)]
    classes, arcs = (np.stack([graph[n] for graph in graphs]).astype(np.int32) for n in (0, 1))
    of_events = rng.integers(0, sizes.bases, events)
    of_patterns = rng.integers(0, sizes.bases, subscriptions)
    of_patterns += np.where(rng.random(subscriptions) < share, 0, sizes.bases)
    seed_of_cuts = int(rng.integers(1 << 31))
    return encoded(
        *_cut(classes, arcs, of_patterns, *sizes.pattern, seed_of_cuts),
        *_cut(classes, arcs, of_events, *sizes.event, seed_of_cuts + 1),
        CLASSES,
        anchored=True,
    )


def _large(
    rng: np.random.Generator, home: int, schema: NDArray[np.int64], vertices: int, arcs: int
) -> tuple[Ints, Ints]:
    """A tree, and more arcs among the quarter of its vertices that is nearest to its root."""
    classes = [home]
    found: dict[tuple[int, int, int], None] = {}
    while len(classes) < vertices:
        subject, way = int(rng.integers(len(classes))), int(rng.integers(2))
        property_, object_class = schema[classes[subject], :, way]
        found[subject, int(property_), len(classes)] = None
        classes.append(int(object_class))
    by_class = [[n for n in range(1, len(classes)) if classes[n] == cls] for cls in range(CLASSES)]
    near, tries = max(vertices // 4, 2), 0
    while len(found) < arcs and tries < 200 * arcs:  # a small graph may have no more
        tries += 1
        subject = int(rng.integers(near if tries < 50 * arcs else vertices))
        property_, object_class = schema[classes[subject], :, int(rng.integers(2))]
        ends = [n for n in by_class[object_class] if n < near] or by_class[object_class]
        if ends and (object_ := ends[int(rng.integers(len(ends)))]) != subject:
            found[subject, int(property_), object_] = None
    rows = list(found) + [next(iter(found))] * (arcs - len(found))
    return np.array(classes, np.int32), np.array(rows, np.int32)


@njit(cache=True)
def _put(row, place, arc):  # type: ignore[no-untyped-def]
    row[0], row[1], row[2] = place[arc[0]], arc[1], place[arc[2]]


@njit(cache=True)
def _is_new(rows, last):  # type: ignore[no-untyped-def]
    """Whether a row is none of those before it."""
    for row in range(last):
        if rows[row, 0] == rows[last, 0] and rows[row, 1] == rows[last, 1] and rows[row, 2] == rows[last, 2]:
            return False
    return True


@njit(cache=True)
def _cut(classes, arcs, bases, vertices, wanted, seed):  # type: ignore[no-untyped-def]
    """A part for each base named, with so many vertices and, if there are as many, arcs; -1 where there are not."""
    np.random.seed(seed)
    total = arcs.shape[1]
    labels = np.empty((len(bases), vertices), np.int32)
    chosen = np.full((len(bases), wanted, 3), -1, np.int32)
    place = np.empty(classes.shape[1], np.int32)
    ways = np.empty(total, np.int32)
    for number in range(len(bases)):
        base, size, count = bases[number], 1, 0
        place[:] = -1
        place[0], labels[number, 0] = 0, classes[base, 0]
        while size < vertices:
            found = 0
            for arc in range(total):
                if place[arcs[base, arc, 0]] >= 0 and place[arcs[base, arc, 2]] < 0:
                    ways[found] = arc
                    found += 1
            arc = ways[np.random.randint(found)]
            end = arcs[base, arc, 2]
            place[end], labels[number, size] = size, classes[base, end]
            _put(chosen[number, count], place, arcs[base, arc])
            size, count = size + 1, count + 1
        found = 0
        for arc in range(total):
            if place[arcs[base, arc, 0]] >= 0 and place[arcs[base, arc, 2]] >= 0:
                ways[found] = arc
                found += 1
        while count < wanted and found > 0:
            drawn = np.random.randint(found)
            arc, ways[drawn], found = ways[drawn], ways[found - 1], found - 1
            _put(chosen[number, count], place, arcs[base, arc])
            count += _is_new(chosen[number], count)
        chosen[number, count:] = -1
    return labels, chosen
