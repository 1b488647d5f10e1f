"""The index: how fast it changes and opens, and filters matched by it and by others.

``python -m benchmarks.index [SUBSCRIPTIONS …]`` takes the sizes of the filters' table; 1,000,000 needs minutes to
draw. Times are the process's own, but for opening, where they are the clock's.
"""

from __future__ import annotations

import random
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pyoxigraph
from pyoxigraph import Literal, NamedNode

from benchmarks import forest as filters
from benchmarks.report import report
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.encoded import EncodedEvent
from triplewire.matching.engine.facts import Facts
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.segment import Segment
from triplewire.matching.engine.trie import match
from triplewire.matching.papers.forest import CoveringForest
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    AttributeTest,
    Call,
    ClassConstraint,
    Pattern,
    Scope,
    Subscription,
    Variable,
)

T = TypeVar("T")

MODEL = ConceptModel()
PROPERTIES = [NamedNode(f"http://example.org/p{n}") for n in range(10)]
CLASSES = [NamedNode(f"http://example.org/C{n}") for n in range(100)]
ASKS = 200
"""So many subscriptions are asked one by one as queries; the time for all is reckoned from theirs."""


def ops_sized(rng: random.Random, number: int) -> Subscription:
    """A pattern as in the OPS paper's figure 8: ten vertices, each of a class, and eleven arcs."""
    vertices = [HOME, *(Variable(str(n)) for n in range(1, 10))]
    ends = [(vertices[rng.randrange(n)], vertices[n]) for n in range(1, 10)]
    ends += [tuple(rng.sample(vertices, 2)) for _ in range(2)]  # type: ignore[misc]
    arcs = tuple(Arc(s, rng.choice(PROPERTIES), o, Scope.RELATIONS) for s, o in ends)
    classes = tuple(ClassConstraint(vertex, rng.choice(CLASSES)) for vertex in vertices)
    return Subscription(f"s{number:07}", (Alternative(Pattern(arcs, classes, mapping="injective")),))


def changes(size: int, changed: int = 3000) -> dict[str, object]:
    """A row of the table of changes: an index of a size, in memory and then in a folder."""
    rng = random.Random(1)
    drawn = [ops_sized(rng, number) for number in range(size + 2 * changed)]
    index = Index.build(drawn[:size], MODEL)
    in_memory, _ = _seconds(lambda: [index.add(one) for one in drawn[size : size + changed]])
    with TemporaryDirectory() as folder:
        index.save(Path(folder, "index"))
        in_folder, _ = _seconds(lambda: [index.add(one) for one in drawn[size + changed :]])
        removed, _ = _seconds(lambda: [index.remove(one.id) for one in drawn[size:]])
        index.merge()
        index.close()
        opened = min(_clock(lambda: Index.open(Path(folder, "index"))) for _ in range(5))
        first = _clock(lambda: Index.open(Path(folder, "index")).match(filters.event(rng, 1)))
        size_on_disk = sum(path.stat().st_size for path in Path(folder, "index").rglob("tables.bin")) / 2
    return {
        "subscriptions": f"{size:,}",
        "added a second": f"{changed / in_memory:,.0f}",
        "with a journal": f"{changed / in_folder:,.0f}",
        "removed a second": f"{2 * changed / removed:,.0f}",
        "opened, ms": f"{opened * 1000:.1f}",
        "opened and first match, ms": f"{first * 1000:.0f}",
        "bytes a subscription": f"{size_on_disk / size:.0f}",
    }


class PlainIndex:
    """What one would write by hand: predicates by attribute and operator, and a count of those that hold for each."""

    def __init__(self, subscriptions: list[Subscription]) -> None:
        self.wanted: list[int] = []
        self.equal: dict[tuple[NamedNode, str], list[int]] = {}
        self.starts: dict[tuple[NamedNode, str], list[int]] = {}
        found: dict[tuple[NamedNode, str], list[tuple[int, int]]] = {}
        for number, subscription in enumerate(subscriptions):
            tests = _tests(subscription)
            self.wanted.append(len(tests))
            for attribute, operator, value in tests:
                if operator in ("=", "strstarts"):
                    table = self.equal if operator == "=" else self.starts
                    table.setdefault((attribute, value.value), []).append(number)
                else:
                    found.setdefault((attribute, operator), []).append((int(value.value), number))
        self.ordered = {
            key: ([b for b, _ in sorted(rows)], [n for _, n in sorted(rows)]) for key, rows in found.items()
        }

    def match(self, event: Event) -> list[int]:
        counts = [0] * len(self.wanted)
        for _, attribute, value in event.graph.triples:
            for number in self._holding(attribute, value.value):
                counts[number] += 1
        return [number for number, wanted in enumerate(self.wanted) if counts[number] == wanted]

    def _holding(self, attribute: NamedNode, text: str) -> Iterator[int]:
        if not text.isdigit():
            yield from self.equal.get((attribute, text), ())
            for length in range(len(text) + 1):
                yield from self.starts.get((attribute, text[:length]), ())
            return
        value = int(text)
        for operator in ("<", "<=", ">", ">="):
            bounds, numbers = self.ordered.get((attribute, operator), ([], []))
            if operator[0] == "<":
                place = bisect_right(bounds, value) if operator == "<" else bisect_left(bounds, value)
                yield from numbers[place:]
            else:
                yield from numbers[: bisect_left(bounds, value) if operator == ">" else bisect_right(bounds, value)]


def _tests(subscription: Subscription) -> list[tuple[NamedNode, str, Literal]]:
    (filter_,) = subscription.alternatives[0].pattern.filters
    assert isinstance(filter_, Call)
    found = []
    for test in filter_.arguments:
        assert isinstance(test, AttributeTest)
        assert isinstance(test.test, Call)
        found.append((test.path[0], test.test.name, test.test.arguments[1]))
    return found  # type: ignore[return-value]


def _ask(subscription: Subscription) -> str:
    parts = [
        f"?h {attribute} ?v{n} "
        + (f"FILTER(STRSTARTS(?v{n}, {value}))" if operator == "strstarts" else f"FILTER(?v{n} {operator} {value})")
        for n, (attribute, operator, value) in enumerate(_tests(subscription))
    ]
    return f"ASK {{ {' '.join(parts)} }}"


def filtering(size: int, events: int = 20) -> list[dict[str, object]]:
    """The rows of one size: the same filters matched by four, which must find the same."""
    rng = random.Random(1)
    drawn = [filters.subscription(rng, number) for number in range(size)]
    published = [filters.event(rng, number) for number in range(events)]
    index, plain = Index.build(drawn, MODEL), PlainIndex(drawn)
    index.match(published[0])
    found = [{int(match.subscription) for match in index.match(event)} for event in published]
    assert [set(plain.match(event)) for event in published] == found
    index.work.clear()
    times = {"the engine": _seconds(lambda: [index.match(event) for event in published])[0] / events}
    visits = index.work["nodes visited"] / events
    (segment,) = index._now().segments
    encoded = [segment.encoder.encode(Facts(event, MODEL))[0] for event in published]
    times["the engine, trie alone"] = _seconds(lambda: [_walk(segment, event) for event in encoded])[0] / events
    times["a plain index in Python"] = _seconds(lambda: [plain.match(event) for event in published])[0] / events
    if size <= 100_000:
        forest = CoveringForest(MODEL)
        for one in drawn:
            forest.add(one)
        assert [{int(m.subscription) for m in forest.match(event)} for event in published[:5]] == found[:5]
        times["the covering forest"] = _seconds(lambda: [forest.match(event) for event in published])[0] / events
    asks = [_ask(one) for one in drawn[:ASKS]]
    spent, answers = _seconds(lambda: _asked(asks, published[0]))
    assert answers == {number for number in found[0] if number < ASKS}
    times["Oxigraph, an ASK each"] = spent * size / ASKS
    matched = sum(map(len, found)) / events
    return [
        {
            "subscriptions": f"{size:,}",
            "matched": f"{matched / size:.2%}",
            "by": name,
            "µs an event": f"{seconds * 1e6:,.0f}",
            "times the engine": f"{seconds / times['the engine']:,.2f}",
            "nodes visited": f"{visits:,.0f}" if "engine" in name else "",
        }
        for name, seconds in times.items()
    ]


def _walk(segment: Segment, event: EncodedEvent) -> None:
    match(segment.tables.trie, event, segment.scratch)


def _asked(asks: list[str], event: Event) -> set[int]:
    store = pyoxigraph.Store()
    store.extend(pyoxigraph.Quad(*triple) for triple in event.graph.triples)
    return {number for number, ask in enumerate(asks) if store.query(ask)}


def _seconds(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def _clock(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(sizes: tuple[int, ...] = (10_000, 100_000)) -> None:
    changes(100)  # so that everything is compiled
    told = (
        "Patterns of ten vertices and eleven arcs; 3,000 added in memory, 3,000 in a folder, all of them removed again."
    )
    report("index", told, [changes(size) for size in (1_000, 10_000, 100_000)])
    told = "Filters of 3 to 5 predicates on 20 attributes. Oxigraph's time is reckoned from 200 of them."
    report("filters", told, [row for size in sizes for row in filtering(size)])


if __name__ == "__main__":
    main(*[tuple(map(int, sys.argv[1:]))] if sys.argv[1:] else [])
