"""Filters matched by the engine and by others: a plain index in Python, the covering forest, an ASK each in Oxigraph.

``python -m benchmarks.filters [SUBSCRIPTIONS …]``. The filters and events are those of ``engine_filters``; all must
find the same. The forest is stopped if it is not built after ``LIMIT`` seconds, and the table tells how far it came.
Times are the process's own; with encoded events, the clock's, the fastest of 15 for each.
"""

from __future__ import annotations

import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode

from benchmarks.engine import fastest
from benchmarks.engine_filters import NUMBERS, TOP, some_events, some_filters
from benchmarks.report import report
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvents, EncodedPatterns
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.trie import Scratch, build_trie, expand, match_batch
from triplewire.matching.papers.forest import CoveringForest
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import VALUE, Alternative, AttributeTest, Call, Pattern, Subscription

T = TypeVar("T")
Test = tuple[int, str, int | str]
"""An attribute, an operator and an operand."""
Found = list[set[int]]
"""The numbers of the filters that match, for each event."""

MODEL = ConceptModel()
LIMIT = 200
"""So many seconds the forest may take to be built."""
MOST_COMPILED = 100_000
"""More filters than this are matched as numbers only, as compiling takes minutes, and the forest is stopped before."""
EVENTS = 20
ASKED = {10_000: 5, 100_000: 2}
"""About so many events Oxigraph is asked, as all would take hours; else about one."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwx"
PREFIX = TOP // len(LETTERS)
ATTRIBUTES = [NamedNode(f"http://example.org/a{n}") for n in range(20)]


class Stopped(Exception):
    """Building took too long."""


def tests_of(patterns: EncodedPatterns) -> Iterator[list[Test]]:
    """What each filter asks, in words; a closed range is two comparisons."""
    ranges, labels = patterns.ranges, patterns.labels
    lows, highs = ranges.low.tolist(), ranges.high.tolist()
    properties = patterns.arcs[:, 1].tolist()
    asked = (labels[labels != HOME_LABEL] - ranges.first).tolist()
    for start, end in pairwise(patterns.arc_offsets.tolist()):
        yield [
            test
            for attribute, number in zip(properties[start:end], asked[start:end], strict=True)
            for test in _tests(attribute, lows[number], highs[number])
        ]


def _tests(attribute: int, low: int, high: int) -> list[Test]:
    if low == high:
        return [(attribute, "=", value_at(attribute, low))]
    if attribute >= NUMBERS:
        return [(attribute, "strstarts", LETTERS[low // PREFIX])]
    above: list[Test] = [(attribute, ">=", low // 2)] if low > 0 else []
    below: list[Test] = [(attribute, "<=", (high - 1) // 2)] if high < TOP else []
    return above + below


def value_at(attribute: int, rank: int) -> int | str:
    """The value at a rank of an attribute's values, of which there is one at each odd rank."""
    if attribute < NUMBERS:
        return rank // 2
    return f"{LETTERS[rank // PREFIX]}{rank % PREFIX // 2:03}"


def values_of(events: EncodedEvents) -> list[list[int | str]]:
    """The value of each attribute, for each event."""
    ranks = events.ranks.max(axis=0).reshape(len(events), -1)[:, 1:].tolist()
    return [[value_at(attribute, rank) for attribute, rank in enumerate(row)] for row in ranks]


def event_of(values: list[int | str]) -> Event:
    home = BlankNode("H")
    triples = [Triple(home, a, Literal(value)) for a, value in zip(ATTRIBUTES, values, strict=True)]
    return Event("benchmark", "e", Graph(triples, home))


class Subscriptions:
    """Filters as subscriptions, made one by one; equal tests are one value."""

    def __init__(self) -> None:
        self.known: dict[Test, AttributeTest] = {}

    def of(self, filters: Iterable[list[Test]]) -> Iterator[Subscription]:
        for number, tests in enumerate(filters):
            filter_ = Call("and", tuple(map(self._test, tests)))
            yield Subscription(f"{number:07}", (Alternative(Pattern(filters=(filter_,))),))

    def _test(self, test: Test) -> AttributeTest:
        if test not in self.known:
            attribute, operator, operand = test
            self.known[test] = AttributeTest((ATTRIBUTES[attribute],), Call(operator, (VALUE, Literal(operand))))
        return self.known[test]


class PlainIndex:
    """What one would write by hand: tests by attribute and operator, and a count of those that hold for each filter."""

    def __init__(self, filters: Iterable[list[Test]]) -> None:
        self.wanted: list[int] = []
        self.equal: dict[Test, list[int]] = {}
        found: dict[tuple[int, str], list[tuple[int | str, int]]] = {}
        for number, tests in enumerate(filters):
            self.wanted.append(len(tests))
            for attribute, operator, value in tests:
                if operator in ("=", "strstarts"):
                    self.equal.setdefault((attribute, operator, value), []).append(number)
                else:
                    found.setdefault((attribute, operator), []).append((value, number))
        self.ordered = {
            key: ([b for b, _ in sorted(rows)], [n for _, n in sorted(rows)]) for key, rows in found.items()
        }

    def match(self, values: list[int | str]) -> set[int]:
        counts = [0] * len(self.wanted)
        for attribute, value in enumerate(values):
            for number in self._holding(attribute, value):
                counts[number] += 1
        return {number for number, wanted in enumerate(self.wanted) if counts[number] == wanted}

    def _holding(self, attribute: int, value: int | str) -> Iterator[int]:
        yield from self.equal.get((attribute, "=", value), ())
        if isinstance(value, str):
            for length in range(len(value) + 1):
                yield from self.equal.get((attribute, "strstarts", value[:length]), ())
            return
        bounds, numbers = self.ordered.get((attribute, "<="), ([], []))
        yield from numbers[bisect_left(bounds, value) :]
        bounds, numbers = self.ordered.get((attribute, ">="), ([], []))
        yield from numbers[: bisect_right(bounds, value)]


def _ask(tests: list[Test]) -> str:
    parts = []
    for number, (attribute, operator, operand) in enumerate(tests):
        name, value = f"?v{number}", Literal(operand)
        condition = f"STRSTARTS({name}, {value})" if operator == "strstarts" else f"{name} {operator} {value}"
        parts.append(f"?h {ATTRIBUTES[attribute]} {name} FILTER({condition})")
    return f"ASK {{ {' '.join(parts)} }}"


def _asking(filters: Iterable[list[Test]]) -> Callable[[Event], set[int]]:
    asks = list(map(_ask, filters))

    def match(event: Event) -> set[int]:
        store = pyoxigraph.Store()
        store.extend(pyoxigraph.Quad(*triple) for triple in event.graph.triples)
        return {number for number, ask in enumerate(asks) if store.query(ask)}

    return match


def rows_of(size: int) -> Iterator[dict[str, object]]:
    """The rows of one size."""
    rng = np.random.default_rng(1)
    patterns, encoded = some_filters(rng, size), some_events(rng, EVENTS)
    values = values_of(encoded)
    events = list(map(event_of, values))
    spent, found, visits = _trie(patterns, encoded)
    of_engine = spent
    share = f"{sum(map(len, found)) / EVENTS / size:.3%}"

    def row(by: str, seconds: float | None, built: float | None, told: str = "") -> dict[str, object]:
        return {
            "filters": f"{size:,}",
            "matched": share,
            "by": by,
            "µs an event": told if seconds is None else f"{seconds * 1e6:,.0f}",
            "times the engine": "" if seconds is None else f"{seconds / of_engine:,.1f}",
            "nodes visited": f"{visits:,.0f}" if by.startswith("the engine") else "",
            "built, s": "" if built is None else f"{built:.0f}",
        }

    yield row("the engine, encoded events", spent, None)
    built, plain = _seconds(lambda: PlainIndex(tests_of(patterns)))
    yield row("a plain index in Python", _checked(plain.match, values, found), built)
    few = events[: ASKED.get(size, 1)]
    yield row("Oxigraph, an ASK each", _checked(_asking(tests_of(patterns)), few, found), None)
    if size <= MOST_COMPILED:
        built, index = _seconds(lambda: Index.build(Subscriptions().of(tests_of(patterns)), MODEL))
        index.match(events[0])  # opens and compiles what has not been
        yield row("the engine, events as RDF", _checked(_telling(index), events, found), built)
        forest = CoveringForest(MODEL)
        try:
            built, _ = _seconds(lambda: _add(forest, Subscriptions().of(tests_of(patterns))))
        except Stopped as stopped:
            yield row("the covering forest", None, LIMIT, f"stopped at {stopped}")
        else:
            yield row("the covering forest", _checked(_telling(forest), events, found), built)


def _telling(matcher: Index | CoveringForest) -> Callable[[Event], set[int]]:
    return lambda event: {int(one.subscription) for one in matcher.match(event)}


def _trie(patterns: EncodedPatterns, events: EncodedEvents) -> tuple[float, Found, float]:
    """Seconds an event, the fastest of 15 for each; what was found; how many nodes were looked at for it."""
    trie = build_trie(patterns)
    scratch = Scratch(trie)
    offsets, groups = match_batch(trie, events, scratch)
    found = [set(expand(trie, groups[start:end]).tolist()) for start, end in pairwise(offsets)]
    visits = scratch.visits / len(events)
    return float(fastest(trie, events, scratch, 15).mean()) / 1e6, found, visits


def _add(forest: CoveringForest, subscriptions: Iterable[Subscription]) -> None:
    start = time.process_time()
    for number, one in enumerate(subscriptions):
        forest.add(one)
        if time.process_time() - start > LIMIT:
            raise Stopped(f"{number + 1:,}")


def _checked(match: Callable[[T], set[int]], events: list[T], found: Found) -> float:
    """Seconds an event of a peer that must find what was found."""
    spent, answers = _seconds(lambda: [match(event) for event in events])
    assert answers == found[: len(events)]
    return spent / len(events)


def _seconds(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main(sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)) -> None:
    told = (
        f"Filters of 3 to 5 predicates on 20 attributes; all found the same. {EVENTS} events, Oxigraph fewer. "
        f"The forest is stopped if it is not built after {LIMIT} s."
    )
    rows = []
    for size in sizes:
        for row in rows_of(size):
            print(row, flush=True)
            rows.append(row)
    report("filters", told, rows)


if __name__ == "__main__":
    main(*[tuple(map(int, sys.argv[1:]))] if sys.argv[1:] else [])
