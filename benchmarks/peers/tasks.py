"""What ours and the others are given, and what each answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.engine import encoded
from benchmarks.workloads.comparisons import Test, tests_of, values_of
from triplewire.matching.engine.encoded import EncodedEvents, EncodedPatterns
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import RDF
from triplewire.subscriptions.pattern import HOME, Subscription

E = TypeVar("E")


class Absent(Exception):
    """A peer that cannot be had here; the reason."""


@dataclass(frozen=True)
class Shape:
    """A graph whose vertices have a class each, as numbers; vertex 0 is home. Arcs are of subject, property, object."""

    classes: list[int]
    arcs: list[tuple[int, int, int]]


@dataclass(frozen=True)
class Graphs:
    """Patterns to be found in graphs, vertices of one never twice at the same vertex of the other."""

    subscriptions: Sequence[Subscription]
    events: Sequence[Event]
    patterns: Sequence[Shape]
    shapes: Sequence[Shape]

    @classmethod
    def of(cls, subscriptions: Sequence[Subscription], events: Sequence[Event]) -> Graphs:
        names = _Numbers()
        return cls(
            subscriptions, events, [names.pattern(one) for one in subscriptions], [names.event(one) for one in events]
        )

    def encoded(self) -> tuple[EncodedPatterns, EncodedEvents]:
        return encoded(*_padded(self.patterns), *_padded(self.shapes), self._distinct()[0], anchored=True)

    def write(self, path: Path) -> None:
        """As the file that native matchers read: a head, then classes and arcs of patterns and of events."""
        parts = [*_padded(self.patterns), *_padded(self.shapes)]
        head = [len(self.patterns), len(self.shapes), *(part.shape[1] for part in parts), *self._distinct(), 1]
        with path.open("wb") as file:
            for part in (np.array(head, np.int32), *parts):
                part.tofile(file)

    def _distinct(self) -> tuple[int, int]:
        """How many classes and properties there are."""
        every = [*self.patterns, *self.shapes]
        return 1 + max(max(one.classes) for one in every), 1 + max(arc[1] for one in every for arc in one.arcs)


@dataclass(frozen=True)
class Filters:
    """Conjunctions of comparisons, and events with a value for each attribute; both as numbers, and in words."""

    patterns: EncodedPatterns
    encoded: EncodedEvents
    tests: Sequence[list[Test]]
    values: Sequence[list[int | str]]

    @classmethod
    def of(cls, patterns: EncodedPatterns, events: EncodedEvents) -> Filters:
        return cls(patterns, events, list(tests_of(patterns)), values_of(events))


@dataclass
class Answer:
    """What was found, for as many events as there was time for, the fastest seconds for each, and to get ready."""

    found: list[set[int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ready: float = 0.0


class Stopped(Exception):
    """There is no more time."""


class Watch:
    """The time that a peer is given. It is looked at between two subscriptions, where they are asked one by one."""

    def __init__(self, seconds: float) -> None:
        self.end = time.perf_counter() + seconds

    def check(self) -> None:
        if time.perf_counter() > self.end:
            raise Stopped


def taken(
    match: Callable[[E], set[int]], events: Sequence[E], watch: Watch, ready: float = 0.0, passes: int = 3
) -> Answer:
    """What a matcher in this process answers: of several passes over the events the fastest counts for each."""
    answer = Answer(ready=ready)
    try:
        for number in range(passes):
            for place, event in enumerate(events):
                watch.check()
                start = time.perf_counter()
                found = match(event)
                spent = time.perf_counter() - start
                if number == 0:
                    answer.found.append(found)
                    answer.seconds.append(spent)
                else:
                    answer.seconds[place] = min(answer.seconds[place], spent)
    except Stopped:
        pass
    return answer


def timed(work: Callable[[], E]) -> tuple[float, E]:
    """The seconds that something took, and what came of it."""
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


class _Numbers:
    """Classes and properties in the order in which they are met."""

    def __init__(self) -> None:
        self.classes: dict[object, int] = {}
        self.properties: dict[object, int] = {}

    def pattern(self, one: Subscription) -> Shape:
        [alternative] = one.alternatives
        pattern = alternative.pattern
        vertices: dict[object, int] = {HOME: 0}
        classes = {constraint.vertex: constraint.cls for constraint in pattern.classes}
        arcs = [
            (self._at(vertices, a.subject), self._property(a.property), self._at(vertices, a.object))
            for a in pattern.arcs
        ]
        return Shape([self._class(classes[vertex]) for vertex in vertices], arcs)

    def event(self, one: Event) -> Shape:
        vertices: dict[object, int] = {one.graph.home: 0}
        classes, arcs = {}, []
        for subject, property_, object_, *_ in one.graph.arcs:
            if property_ == RDF.type:
                classes[subject] = object_
            else:
                arcs.append((self._at(vertices, subject), self._property(property_), self._at(vertices, object_)))
        return Shape([self._class(classes[vertex]) for vertex in vertices], arcs)

    def _at(self, vertices: dict[object, int], vertex: object) -> int:
        return vertices.setdefault(vertex, len(vertices))

    def _class(self, name: object) -> int:
        return self.classes.setdefault(name, len(self.classes))

    def _property(self, name: object) -> int:
        return self.properties.setdefault(name, len(self.properties))


def _padded(shapes: Sequence[Shape]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Classes and arcs as arrays, -1 where there is no arc. All shapes have as many vertices."""
    arcs = np.full((len(shapes), max(len(one.arcs) for one in shapes), 3), -1, np.int32)
    for row, one in zip(arcs, shapes, strict=True):
        row[: len(one.arcs)] = one.arcs
    return np.array([one.classes for one in shapes], np.int32), arcs
