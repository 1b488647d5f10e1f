"""What a hierarchy costs: a workload on schema.org's classes and properties, asked for exactly and at all levels.

The workload's ten classes and ten properties become ten of schema.org's, drawn at random, or the deepest. Without a
hierarchy, each subscription names just those, and events carry nothing else. At all levels, each name in a subscription
is drawn from those above it or itself, and events are closed: each vertex has all its classes, each arc is there under
all its properties. So both are as many subscriptions of the same size and shape, on the same events, and nearly as many
match; but without a hierarchy many are the same, and more begin in the same way, and with one hardly any two are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.engine import fastest, read
from triplewire import load_model
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.encoded import EncodedEvents, EncodedPatterns, Relations
from triplewire.matching.engine.trie import Scratch, build_trie, expand, match_batch

Above = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Names:
    """Some names and all above them: numbered, the chosen first; for each the numbers of those above, and its own."""

    numbers: dict[str, int]
    above: Above

    @classmethod
    def drawn(cls, above: dict[str, list[str]], number: int, deepest: bool) -> Names:
        names = sorted(above, key=lambda name: (-len(above[name]), name)) if deepest else sorted(above)
        chosen = names[:number] if deepest else Random(1).sample(names, number)
        others = sorted({name for low in chosen for name in above[low]} - {*chosen})
        numbers = {name: place for place, name in enumerate([*chosen, *others])}
        return cls(numbers, [sorted({n, *(numbers[up] for up in above.get(name, ()))}) for name, n in numbers.items()])

    @property
    def general(self) -> list[int]:
        """For each the one above it that is above most."""
        below = [sum(number in row for row in self.above) for number in range(len(self.above))]
        return [max(row, key=lambda number: (below[number], -number)) for row in self.above]


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


def measure(patterns: EncodedPatterns, events: EncodedEvents, relations: Relations | None) -> dict[str, float]:
    trie = build_trie(patterns, relations)
    scratch = Scratch(trie)
    offsets, groups = match_batch(trie, events, scratch)
    visits = scratch.visits / len(events)
    matches = sum(len(expand(trie, groups[a:b])) for a, b in pairwise(offsets)) / len(events)
    time = float(fastest(trie, events, scratch, 15).mean())
    distinct = int((np.diff(trie.offsets) > 0).sum())
    size = sum(getattr(trie, field.name).nbytes for field in fields(trie)) + scratch.work.stamps.nbytes
    return {
        "us_per_event": round(time, 1),
        "visits": visits,
        "matches": matches,
        "distinct": distinct,
        "bytes_per_subscription": round(size / distinct, 1),
    }


def compare(workload: Path, model: ConceptModel, names: int, deepest: bool) -> dict[str, object]:
    """A workload with so many labels, exactly and at all levels of so many names of an ontology."""
    tables = (
        {c.value: [d.value for d in model.superclasses(c)] for c in model.classes},
        {p.value: [q.value for q in model.superproperties(p)] for p in model.properties},
    )
    classes, properties = (Names.drawn(above, names, deepest) for above in tables)
    relations = Relations.of([[0], *([1 + up for up in row] for row in classes.above)], properties.general)
    patterns, events = read(workload)
    rng = np.random.default_rng(1)
    labels = patterns.labels.copy()
    labels[labels > 0] = 1 + raised(rng, labels[labels > 0] - 1, classes.above)
    arcs = patterns.arcs.copy()
    arcs[:, 1] = raised(rng, arcs[:, 1], properties.above)
    ranges = replace(patterns.ranges, first=1 + len(classes.numbers))
    exact = measure(replace(patterns, ranges=ranges), events, None)
    above = measure(
        replace(patterns, labels=labels, arcs=arcs, ranges=ranges),
        closed(events, classes.above, properties.above),
        relations,
    )
    return {
        "workload": workload.name,
        "classes": len(classes.numbers),
        "properties": len(properties.numbers),
        "exact": exact,
        "all levels": above,
        "ratio": round(above["us_per_event"] / exact["us_per_event"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", type=Path, required=True, help="an anchored workload with ten labels")
    parser.add_argument("--ontology", type=Path, required=True)
    parser.add_argument("--deepest", action="store_true", help="the names with most above them, instead of any")
    given = parser.parse_args()
    print(json.dumps(compare(given.workload, load_model([given.ontology]), 10, given.deepest)))


if __name__ == "__main__":
    main()
