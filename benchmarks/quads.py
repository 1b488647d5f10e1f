"""From N-Quads to matched ids, in batch, as ``Index.match_batch`` goes: what each part of the way costs an event.

Output is what is left of the whole: from groups to the ids of subscriptions, in order. Events of 55 triples, of which
20 are types, among 30 blank nodes; 2,000 subscriptions of two, three or ten vertices. Beside it what pyoxigraph needs
to parse the same bytes, which is only the first step of what a user would do without the batch call.
"""

from __future__ import annotations

import random
import time

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyoxigraph import NamedNode, RdfFormat, parse

from benchmarks.report import report
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine import trie
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.quads import QuickEncoder, Reader
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    ClassConstraint,
    Pattern,
    Scope,
    Subscription,
    Variable,
    Vertex,
)

EX = "http://example.org/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PROPERTIES = [NamedNode(f"{EX}property{i}") for i in range(10)]
CLASSES = [NamedNode(f"{EX}Class{i}") for i in range(10)]


def subscription(rng: random.Random, number: int) -> Subscription:
    vertices: list[Vertex] = [HOME, *(Variable(str(i)) for i in range(rng.choice([1, 2, 9])))]
    arcs = [
        Arc(vertices[rng.randrange(i)], rng.choice(PROPERTIES), vertices[i], Scope.RELATIONS)
        for i in range(1, len(vertices))
    ]
    classes = [ClassConstraint(vertex, rng.choice(CLASSES)) for vertex in vertices]
    return Subscription(str(number), (Alternative(Pattern(tuple(arcs), tuple(classes), mapping="injective")),))


def event(rng: random.Random) -> bytes:
    names = ["_:H", *(f"_:b{i}" for i in range(29))]
    lines = [f"{name} {TYPE} {rng.choice(CLASSES)} ." for name in names[:20]]
    lines += [f"{rng.choice(names)} {rng.choice(PROPERTIES)} {rng.choice(names)} ." for _ in range(35)]
    return ("\n".join(lines) + "\n").encode()


def joined(texts: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)], dtype=np.int64)


def main(events: int = 5_000, rounds: int = 7) -> None:
    rng = random.Random(1)
    index = Index.build([subscription(rng, i) for i in range(2_000)], ConceptModel())
    (segment,) = index._now().segments
    texts = [event(rng) for _ in range(events)]
    batch = pa.record_batch({"id": list(map(str, range(events))), "home": ["_:H"] * events, "data": texts})
    reader = Reader()
    quick = QuickEncoder(segment.encoder, reader)
    given = (*joined(texts), *joined([b"_:H"] * events))
    times = np.full(5, np.inf)
    for _ in range(rounds):
        marks = [time.thread_time()]
        documents = reader.read(*given)
        marks.append(time.thread_time())
        encoded = quick.encode(documents)
        marks.append(time.thread_time())
        trie.match_batch(segment.tables.trie, encoded, segment.scratch)
        marks.append(time.thread_time())
        told = index.match_batch(batch)
        marks.append(time.thread_time())
        for text in texts:
            for _quad in parse(text, RdfFormat.N_QUADS):
                pass
        marks.append(time.thread_time())
        times = np.minimum(times, np.diff(marks) / events * 1e6)
    assert not told.refused
    assert not index.work["events read one by one"]
    read, encode, match, whole, parsing = map(float, times)
    row: dict[str, object] = {
        "bytes an event": round(sum(map(len, texts)) / events),
        "matches an event": round(len(told.subscriptions) / events, 2),
        "reading, µs": round(read, 1),
        "encoding, µs": round(encode, 1),
        "matching, µs": round(match, 1),
        "output, µs": round(whole - read - encode - match, 1),
        "all, µs": round(whole, 1),
        "all but matching": round(whole - match, 1),
        "to stay under": 60,
        "pyoxigraph's parse, µs": round(parsing, 1),
    }
    report("quads", (__doc__ or "").strip(), [row])


if __name__ == "__main__":
    main()
