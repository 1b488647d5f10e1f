"""From N-Quads to matched groups, in batch: what reading and encoding an event cost, beside matching and the parser.

Events of 55 triples, of which 20 are types, among 30 blank nodes; 2,000 subscriptions of ten vertices. Beside it what
pyoxigraph needs to parse the same bytes, which is only the first step of what a user would do without the batch call.
"""

from __future__ import annotations

import random
import time

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode, RdfFormat, parse

from benchmarks.report import report
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine import trie
from triplewire.matching.engine.quads import QuickEncoder, Reader
from triplewire.matching.engine.segment import Segment
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
    vertices: list[Vertex] = [HOME, *(Variable(str(i)) for i in range(9))]
    arcs = [Arc(vertices[rng.randrange(i)], rng.choice(PROPERTIES), vertices[i], Scope.RELATIONS) for i in range(1, 10)]
    classes = [ClassConstraint(vertex, rng.choice(CLASSES)) for vertex in vertices]
    return Subscription(str(number), (Alternative(Pattern(tuple(arcs), tuple(classes), mapping="injective")),))


def event(rng: random.Random) -> bytes:
    names = ["_:H", *(f"_:b{i}" for i in range(29))]
    lines = [f"{name} {TYPE} {rng.choice(CLASSES)} ." for name in names[:20]]
    lines += [f"{rng.choice(names)} {rng.choice(PROPERTIES)} {rng.choice(names)} ." for _ in range(35)]
    return ("\n".join(lines) + "\n").encode()


def joined(texts: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)], dtype=np.int64)


def main(events: int = 5_000) -> None:
    rng = random.Random(1)
    model = ConceptModel()
    segment = Segment.built([subscription(rng, i) for i in range(2_000)], model)
    texts = [event(rng) for _ in range(events)]
    reader = Reader()
    quick = QuickEncoder(segment.encoder, reader)
    times = np.full(4, np.inf)
    for _ in range(5):
        marks = [time.thread_time()]
        documents = reader.read(*joined(texts), *joined([b"_:H"] * events))
        marks.append(time.thread_time())
        encoded = quick.encode(documents)
        marks.append(time.thread_time())
        trie.match_batch(segment.tables.trie, encoded, segment.scratch)
        marks.append(time.thread_time())
        for text in texts:
            for _quad in parse(text, RdfFormat.N_QUADS):
                pass
        marks.append(time.thread_time())
        times = np.minimum(times, np.diff(marks) / events * 1e6)
    read, encode, match, parsing = (round(float(t), 1) for t in times)
    row: dict[str, object] = {
        "bytes an event": round(sum(map(len, texts)) / events),
        "reading, µs": read,
        "encoding, µs": encode,
        "both, µs": round(read + encode, 1),
        "to stay under": 60,
        "matching, µs": match,
        "pyoxigraph's parse, µs": parsing,
    }
    report("quads", (__doc__ or "").strip(), [row])


if __name__ == "__main__":
    main()
