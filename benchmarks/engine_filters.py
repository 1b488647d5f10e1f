"""The trie on filters: many conjunctions of comparisons of the home vertex's attributes, as numbers.

A filter has three to five comparisons of twenty attributes, ten numbers and ten texts: equality, half-open and closed
ranges, prefixes (a range of texts). An event has a value for each attribute. About one filter in a thousand matches.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from benchmarks.engine import fastest, few
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvents, EncodedPatterns, Ranges
from triplewire.matching.engine.trie import Scratch, build_trie, match_batch

ATTRIBUTES, NUMBERS = 20, 10
VALUES = 10_000
TOP = 2 * VALUES


def some_filters(rng: np.random.Generator, number: int) -> EncodedPatterns:
    """The first vertex of a filter is home, each other the value that a comparison speaks of."""
    sizes = rng.integers(3, 6, number)
    total = int(sizes.sum())
    owner = np.repeat(np.arange(number), sizes)
    nth = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    attribute = (rng.integers(0, ATTRIBUTES, number)[owner] + nth * rng.integers(1, 4, number)[owner]) % ATTRIBUTES
    low, high = _bounds(rng, attribute)
    distinct, label = np.unique(np.stack([attribute >= NUMBERS, low, high], axis=1), axis=0, return_inverse=True)
    ranges = Ranges(1, *(np.ascontiguousarray(column).astype(np.int32) for column in distinct.T))
    starts = np.concatenate([[0], np.cumsum(sizes + 1)])
    labels = np.empty(starts[-1], np.int32)
    home = np.zeros(starts[-1], np.bool_)
    home[starts[:-1]] = True
    labels[home], labels[~home] = HOME_LABEL, 1 + label.ravel()
    arcs = np.stack([np.zeros(total), attribute, 1 + nth], axis=1).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return EncodedPatterns(
        starts, np.arange(len(labels) + 1), labels, offsets, arcs, np.zeros(number, np.bool_), ranges
    )


def _bounds(rng: np.random.Generator, attribute: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of three comparisons one is an equality with one of 400 values; others hold for a twentieth or more."""
    value = rng.integers(0, VALUES, len(attribute))
    width = rng.integers(VALUES // 20, VALUES * 3 // 5, len(attribute))
    kind = np.where(attribute < NUMBERS, rng.integers(0, 4, len(attribute)), rng.integers(0, 2, len(attribute)) * 4)
    equal = 2 * (rng.integers(0, 400, len(attribute)) * (VALUES // 400)) + 1
    prefix = rng.integers(0, 50, len(attribute)) * (TOP // 50)
    low = np.select([kind == 0, kind == 1, kind == 2, kind == 3], [equal, 0, TOP - 2 * width, 2 * value], prefix)
    high = np.select(
        [kind == 0, kind == 1, kind == 2, kind == 3],
        [equal, 2 * width, TOP, np.minimum(2 * value + width, TOP - 1)],
        prefix + TOP // 50 - 1,
    )
    text_equal = (attribute >= NUMBERS) & (kind == 0)
    return np.where(text_equal, equal, low), np.where(text_equal, equal, high)


def some_events(rng: np.random.Generator, number: int) -> EncodedEvents:
    """Home, and a literal for each attribute; half of the values are ones that equalities name."""
    size = ATTRIBUTES + 1
    value = rng.integers(0, VALUES, (number, ATTRIBUTES))
    named = rng.integers(0, 400, (number, ATTRIBUTES)) * (VALUES // 400)
    rank = 2 * np.where(rng.random((number, ATTRIBUTES)) < 0.5, named, value) + 1
    ranks = np.full((2, number, size), -1, np.int32)
    ranks[0, :, 1 : 1 + NUMBERS] = rank[:, :NUMBERS]
    ranks[1, :, 1 + NUMBERS :] = rank[:, NUMBERS:]
    arcs = np.stack([np.zeros(ATTRIBUTES), np.arange(ATTRIBUTES), np.arange(1, size)], axis=1).astype(np.int32)
    offsets = np.zeros(number * size + 1, np.int64)
    offsets[1:] = np.arange(number * size) // size + 1
    resource = np.zeros((number, size), np.bool_)
    resource[:, 0] = True
    return EncodedEvents(
        np.arange(number + 1) * size,
        offsets,
        np.full(number, HOME_LABEL, np.int32),
        ranks.reshape(2, -1),
        np.arange(number + 1) * ATTRIBUTES,
        np.tile(arcs, (number, 1)),
        resource.ravel(),
    )


def measure(number: int, events: int = 100) -> dict[str, object]:
    rng = np.random.default_rng(1)
    patterns, given = some_filters(rng, number), some_events(rng, events)
    build_trie(few(patterns, 100))
    start = time.perf_counter()
    trie = build_trie(patterns)
    build = time.perf_counter() - start
    scratch = Scratch(trie)
    _, groups = match_batch(trie, given, scratch)
    visits = scratch.visits / events
    least = fastest(trie, given, scratch, 15)
    matches = int(np.diff(trie.offsets.astype(np.int64))[groups].sum()) / events
    return {
        "filters": number,
        "us_per_event": round(float(least.mean()), 1),
        "p95": round(float(np.sort(least)[events * 95 // 100]), 1),
        "matches": matches,
        "matching": f"{matches / number:.3%}",
        "visits": visits,
        "build_s": round(build, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filters", type=int, default=1_000_000)
    print(json.dumps(measure(parser.parse_args().filters)))


if __name__ == "__main__":
    main()
