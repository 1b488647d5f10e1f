"""Filters and events of :mod:`benchmarks.engine_filters` in words: tests of attributes, subscriptions, RDF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from pyoxigraph import BlankNode, Literal, NamedNode

from benchmarks.engine_filters import NUMBERS, TOP
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvents, EncodedPatterns
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import VALUE, Alternative, AttributeTest, Call, Pattern, Subscription

Test = tuple[int, str, int | str]
"""An attribute, an operator and an operand."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwx"
PREFIX = TOP // len(LETTERS)
ATTRIBUTES = [NamedNode(f"http://example.org/a{n}") for n in range(20)]


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
