"""What one would write by hand in Python: an index from what a subscription needs to the subscriptions that need it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.peers.tasks import Answer, Filters, Graphs, Shape, Watch, taken, timed
from benchmarks.workloads.comparisons import Test

Kind = tuple[int, int, int]
"""The class of an arc's subject, its property, the class of its object."""


def plain(task: Graphs | Filters, limit: float) -> Answer:
    if isinstance(task, Filters):
        ready, comparisons = timed(lambda: Comparisons(task.tests))
        return taken(comparisons.match, task.values, Watch(limit), ready)
    ready, patterns = timed(lambda: Patterns(task.patterns))
    return taken(patterns.match, task.shapes, Watch(limit), ready)


class Patterns:
    """Patterns by the kinds of their arcs; those of which all kinds occur are looked for vertex by vertex."""

    def __init__(self, patterns: Sequence[Shape]) -> None:
        self.patterns = patterns
        self.wanted = []
        self.needing: dict[Kind, list[int]] = {}
        for number, pattern in enumerate(patterns):
            kinds = {(pattern.classes[s], p, pattern.classes[o]) for s, p, o in pattern.arcs}
            self.wanted.append(len(kinds))
            for kind in kinds:
                self.needing.setdefault(kind, []).append(number)

    def match(self, event: Shape) -> set[int]:
        counts: dict[int, int] = {}
        for kind in {(event.classes[s], p, event.classes[o]) for s, p, o in event.arcs}:
            for number in self.needing.get(kind, ()):
                counts[number] = counts.get(number, 0) + 1
        ends: dict[tuple[int, int, int], list[int]] = {}
        for s, p, o in event.arcs:
            ends.setdefault((s, p, event.classes[o]), []).append(o)
        arcs = set(event.arcs)
        return {
            number
            for number, count in counts.items()
            if count == self.wanted[number]
            and self.patterns[number].classes[0] == event.classes[0]
            and _holds(self.patterns[number], 0, {0: 0}, ends, arcs)
        }


def _holds(
    pattern: Shape, at: int, places: dict[int, int], ends: dict[tuple[int, int, int], list[int]], arcs: set[Kind]
) -> bool:
    """Whether the arcs from one on can be found, given where the vertices before are. Each begins at one of those."""
    if at == len(pattern.arcs):
        return True
    s, p, o = pattern.arcs[at]
    if o in places:
        return (places[s], p, places[o]) in arcs and _holds(pattern, at + 1, places, ends, arcs)
    for end in ends.get((places[s], p, pattern.classes[o]), ()):
        if end not in places.values() and _holds(pattern, at + 1, {**places, o: end}, ends, arcs):
            return True
    return False


class Comparisons:
    """Tests by attribute and operator, and a count of those that hold for each filter."""

    def __init__(self, filters: Iterable[Sequence[Test]]) -> None:
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

    def match(self, values: Sequence[int | str]) -> set[int]:
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
