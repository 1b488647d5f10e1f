"""What a hierarchy costs: a workload on schema.org's classes and properties, asked for exactly and at all levels.

The workload's ten classes and ten properties become ten of schema.org's, drawn at random. Exactly, each
subscription names those, and events carry nothing else. At all levels, each name in a subscription is drawn from those
above it or itself, and events are closed: each vertex has all its classes, each arc is there under all its properties.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.engine import fastest, read
from triplewire import load_model
from triplewire.matching.engine.encoded import EncodedEvents, EncodedPatterns
from triplewire.matching.engine.trie import Scratch, build_trie, expand, match_batch

Above = Sequence[Sequence[int]]


def drawn(rng: Random, above: dict[str, list[str]], number: int) -> tuple[dict[str, int], Above]:
    """So many names, numbered first; and for each the numbers of those above it, and itself."""
    chosen = rng.sample(sorted(above), number)
    others = sorted({name for low in chosen for name in above[low]} - {*chosen})
    numbers = {name: place for place, name in enumerate([*chosen, *others])}
    return numbers, [sorted({numbers[name] for name in (low, *above[low])}) for low in chosen]


def raised(rng: np.random.Generator, names: NDArray[np.int32], above: Above) -> NDArray[np.int32]:
    """Each name replaced by one drawn from those above it."""
    lengths = np.array([len(row) for row in above])
    table = np.array([np.resize(row, lengths.max()) for row in above], np.int32)
    return table[names, rng.integers(0, lengths[names])]


def closed(events: EncodedEvents, classes: Above, properties: Above) -> EncodedEvents:
    """Events with all classes and arcs; label 0 is the home vertex's."""
    rows = [[0] if label == 0 else [1 + name for name in classes[label - 1]] for label in events.labels]
    vertices = np.repeat(np.arange(len(events.resource)), np.diff(events.label_offsets))
    lengths = np.bincount(vertices, [len(row) for row in rows], len(events.resource))
    arcs = [[(s, name, o) for name in properties[p]] for s, p, o in events.arcs.tolist()]
    owners = np.repeat(np.arange(len(events)), np.diff(events.arc_offsets))
    counts = np.bincount(owners, [len(row) for row in arcs], len(events))
    return replace(
        events,
        label_offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        labels=np.array([label for row in rows for label in row], np.int32),
        arc_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        arcs=np.array([arc for row in arcs for arc in row], np.int32),
    )


def measure(patterns: EncodedPatterns, events: EncodedEvents) -> dict[str, float]:
    trie = build_trie(patterns)
    scratch = Scratch(trie)
    offsets, groups = match_batch(trie, events, scratch)
    visits = scratch.visits / len(events)
    matches = sum(len(expand(trie, groups[a:b])) for a, b in pairwise(offsets)) / len(events)
    time = float(fastest(trie, events, scratch, 15).mean())
    return {"us_per_event": round(time, 1), "visits": visits, "matches": matches, "nodes": len(trie.nodes)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", type=Path, required=True, help="an anchored workload with ten labels")
    parser.add_argument("--ontology", type=Path, required=True)
    given = parser.parse_args()
    model = load_model([given.ontology])
    numbers, classes = drawn(Random(1), {c.value: [d.value for d in model.superclasses(c)] for c in model.classes}, 10)
    names, properties = drawn(
        Random(1), {p.value: [q.value for q in model.superproperties(p)] for p in model.properties}, 10
    )
    patterns, events = read(given.workload)
    rng = np.random.default_rng(1)
    labels = patterns.labels.copy()
    labels[labels > 0] = 1 + raised(rng, labels[labels > 0] - 1, classes)
    arcs = patterns.arcs.copy()
    arcs[:, 1] = raised(rng, arcs[:, 1], properties)
    ranges = replace(patterns.ranges, first=1 + len(numbers))
    exact = measure(replace(patterns, ranges=ranges), events)
    above = measure(replace(patterns, labels=labels, arcs=arcs, ranges=ranges), closed(events, classes, properties))
    ratio = round(above["us_per_event"] / exact["us_per_event"], 2)
    print(
        json.dumps(
            {
                "workload": given.workload.name,
                "classes": len(numbers),
                "properties": len(names),
                "exact": exact,
                "all levels": above,
                "ratio": ratio,
            }
        )
    )


if __name__ == "__main__":
    main()
