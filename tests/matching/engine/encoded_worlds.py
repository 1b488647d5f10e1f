"""Random patterns and events, as numbers; small vocabularies, so that many match."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

import numpy as np

from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvent, EncodedPatterns, Ranges, Relations

Arc = tuple[int, int, int]


@dataclass(frozen=True)
class Vocabulary:
    """How many labels, properties, ranges and domains there are; labels begin with the home vertex's."""

    labels: int = 5
    properties: int = 3
    ranges: int = 6
    domains: int = 2
    bounds: int = 4


def some_ranges(rng: Random, words: Vocabulary) -> Ranges:
    """Equal values, half-open and closed ranges of ranks."""
    top = 2 * words.bounds
    pairs = []
    for _ in range(words.ranges):
        a, b = sorted((rng.randint(0, top), rng.randint(0, top)))
        pairs.append(rng.choice([(a, a), (0, b), (a, top), (a, b)]))
    return Ranges(
        words.labels,
        np.array([rng.randrange(words.domains) for _ in pairs], np.int32),
        np.array([low for low, _ in pairs], np.int32),
        np.array([high for _, high in pairs], np.int32),
    )


def some_patterns(rng: Random, words: Vocabulary, number: int, most: int = 5) -> EncodedPatterns:
    """Connected or not, anchored or not, some of them the same under other names."""
    drawn: list[tuple[list[list[int]], list[Arc], bool]] = []
    while len(drawn) < number:
        if drawn and rng.random() < 0.2:
            drawn.append(_renamed(rng, *rng.choice(drawn)))
            continue
        size = rng.randint(1, most)
        labels = [_some_labels(rng, words.labels + words.ranges) for _ in range(size)]
        for vertex in labels[1:]:
            vertex[:] = [label for label in vertex if label != HOME_LABEL]
        drawn.append((labels, _some_arcs(rng, words, size, rng.randint(0, size + 2)), rng.random() < 0.5))
    return encoded(drawn, some_ranges(rng, words))


def encoded(drawn: list[tuple[list[list[int]], list[Arc], bool]], ranges: Ranges) -> EncodedPatterns:
    """Patterns from the labels of each vertex, the arcs, and whether they are injective."""
    every = [labels for pattern in drawn for labels in pattern[0]]
    return EncodedPatterns(
        _offsets([len(vertices) for vertices, _, _ in drawn]),
        _offsets([len(labels) for labels in every]),
        np.array([label for labels in every for label in labels], np.int32),
        _offsets([len(arcs) for _, arcs, _ in drawn]),
        np.array([arc for _, arcs, _ in drawn for arc in arcs], np.int32).reshape(-1, 3),
        np.array([injective for _, _, injective in drawn], np.bool_),
        ranges,
    )


def some_event(rng: Random, words: Vocabulary, most: int = 8, size: int = 0) -> EncodedEvent:
    """With or without a home vertex; some vertices are literals."""
    size = size or rng.randint(1, most)
    labels = [_some_labels(rng, words.labels) for _ in range(size)]
    home = rng.randrange(size + 1)
    for number, vertex in enumerate(labels):
        vertex[:] = [HOME_LABEL] * (number == home) + [label for label in vertex if label != HOME_LABEL]
    return EncodedEvent(
        _offsets([len(vertex) for vertex in labels]),
        np.array([label for vertex in labels for label in vertex], np.int32),
        np.array(
            [[rng.randint(-1, 2 * words.bounds) for _ in range(size)] for _ in range(words.domains)], np.int32
        ).reshape(words.domains, size),
        np.array(_event_arcs(rng, words, size), np.int32).reshape(-1, 3),
        np.array([rng.random() < 0.7 for _ in range(size)], np.bool_),
    )


def some_relations(rng: Random, words: Vocabulary) -> Relations:
    """Some labels and properties are above others."""
    above = [{label} for label in range(words.labels)]
    for label in range(2, words.labels):
        if rng.random() < 0.7:
            above[label] |= above[rng.randrange(1, label)]
    general = [rng.choice([p, 0]) for p in range(words.properties)]
    return Relations.of(above, general)


def closed(event: EncodedEvent, relations: Relations) -> EncodedEvent:
    """An event with all the labels and arcs that are above its own."""
    offsets, above, general = relations.offsets.tolist(), relations.above.tolist(), relations.general.tolist()
    rows = [
        sorted({up for label in event.labels[a:b].tolist() for up in above[offsets[label] : offsets[label + 1]]})
        for a, b in pairwise(event.label_offsets)
    ]
    arcs = sorted({(s, q, o) for s, p, o in event.arcs.tolist() for q in (p, general[p])})
    return replace(
        event,
        label_offsets=_offsets([len(row) for row in rows]),
        labels=np.array([label for row in rows for label in row], np.int32),
        arcs=np.array(arcs, np.int32).reshape(-1, 3),
    )


def _some_labels(rng: Random, labels: int) -> list[int]:
    return sorted(rng.sample(range(labels), min(labels, rng.choice([0, 0, 1, 1, 1, 2, 3]))))


def _some_arcs(rng: Random, words: Vocabulary, size: int, number: int) -> list[Arc]:
    if size == 1:
        return []
    ends = [rng.sample(range(size), 2) for _ in range(number)]
    return sorted({(s, rng.randrange(words.properties), o) for s, o in ends})


def _event_arcs(rng: Random, words: Vocabulary, size: int) -> list[Arc]:
    loops = {(vertex, rng.randrange(words.properties), vertex) for vertex in range(size) if rng.random() < 0.1}
    return sorted({*_some_arcs(rng, words, size, rng.randint(0, 3 * size)), *loops})


def _renamed(
    rng: Random, labels: list[list[int]], arcs: list[Arc], injective: bool
) -> tuple[list[list[int]], list[Arc], bool]:
    new = rng.sample(range(len(labels)), len(labels))
    there = [labels[new.index(number)] for number in range(len(labels))]
    return there, sorted((new[s], p, new[o]) for s, p, o in arcs), injective


def _offsets(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
