"""GM: the arcs of all subscriptions merged into one graph, which an event's arcs look up in two hashes.

Constants are vertices of GM under their own labels. Variables become *stars*, numbered from 1, and subscriptions share
them: ``?x`` of one and ``?y`` of another may both be star 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from pyoxigraph import Literal, NamedNode

from triplewire.subscriptions.pattern import Home, Variable

T = TypeVar("T")

Star: TypeAlias = int
Label: TypeAlias = NamedNode | Literal | Home | Star
Labels: TypeAlias = tuple[Label, Label, Label]
"""The labels of an edge: its subject, property and object."""
OpenLabels: TypeAlias = tuple[Label | Variable, Label | Variable, Label | Variable]
"""The same before stars are given to the variables."""
Side: TypeAlias = tuple[Star, Label | Variable, int]
"""A star, the property of an edge that it is part of, and its place there."""
Row: TypeAlias = tuple[int, ...]
"""What stars are bound to, by the event's numbers for its terms."""


@dataclass(eq=False)
class Edge:
    """An edge of GM, the ``number``-th that was made. Its binding table has a column for each star.

    ``shapes`` are those that it is part of.
    """

    labels: Labels
    number: int
    shapes: set[Shape] = field(default_factory=set)

    def __post_init__(self) -> None:
        stars = [(label, place) for place, label in enumerate(self.labels) if isinstance(label, Star)]
        first: dict[Star, int] = {}
        self._repeated = [(first[star], place) for star, place in stars if first.setdefault(star, place) != place]
        self.sides: list[Side] = [(star, self.labels[1], place) for star, place in stars]
        self.columns: tuple[Star, ...] = tuple(first)
        self._places = tuple(first.values())

    def row(self, arc: tuple[int, int, int]) -> Row | None:
        """The row that an arc of the event adds to the binding table; none if it would bind a star twice."""
        if any(arc[one] != arc[other] for one, other in self._repeated):
            return None
        return tuple([arc[place] for place in self._places])


Shape: TypeAlias = frozenset[Edge]
"""The edges of a subscription. Subscriptions that differ in their constraints alone have one shape."""


class MergedGraph:
    """The merged graph as two levels of hashes: a pair of vertices to the properties between them, to the edge."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[Label, Label], dict[Label, Edge]] = {}
        self._uses: Counter[Star] = Counter()
        self._sides: Counter[Side] = Counter()
        self._inserted = 0

    @property
    def stars(self) -> range:
        """The stars in use: as many as the subscription with the most variables has."""
        return range(1, max(self._uses, default=0) + 1)

    def __iter__(self) -> Iterator[Edge]:
        return (edge for between in self._pairs.values() for edge in between.values())

    def insert(self, labels: Labels) -> Edge:
        """The edge with these labels, made if there was none."""
        subject, property_, object_ = labels
        between = self._pairs.setdefault((subject, object_), {})
        if property_ not in between:
            self._inserted += 1
            between[property_] = edge = Edge(labels, self._inserted)
            self._uses.update(edge.columns)
            self._sides.update(edge.sides)
        return between[property_]

    def discard(self, edge: Edge) -> None:
        subject, property_, object_ = edge.labels
        between = self._pairs[subject, object_]
        del between[property_]
        if not between:
            del self._pairs[subject, object_]
        _count_down(self._uses, edge.columns)
        _count_down(self._sides, edge.sides)

    def hits(self, subjects: list[Label], properties: list[Label], objects: list[Label]) -> Iterator[Edge]:
        """The edges that an arc hits which goes by these labels, in its own direction."""
        for subject in subjects:
            for object_ in objects:
                if between := self._pairs.get((subject, object_)):
                    yield from (between[label] for label in properties if label in between)

    def assign_stars(self, arcs: Iterable[OpenLabels]) -> dict[Variable, Star]:
        """A star for each variable, such that few edges are new to GM.

        The variable with most arcs whose other parts have labels comes first, and gets the star under which most of
        them are in GM already; where that leaves a choice, arcs decide whose other end is still open.
        """
        arcs_of: dict[Variable, list[OpenLabels]] = {}
        for arc in arcs:
            for variable in dict.fromkeys(part for part in arc if isinstance(part, Variable)):
                arcs_of.setdefault(variable, []).append(arc)
        free = list(range(1, max(len(arcs_of), len(self.stars)) + 1))
        stars: dict[Variable, Star] = {}
        while len(stars) < len(arcs_of):
            variable = max(
                (v for v in arcs_of if v not in stars),
                key=lambda v: (sum(_open(a, stars) <= {v} for a in arcs_of[v]), len(arcs_of[v])),
            )
            star = max(free, key=lambda s: self._overlap(arcs_of[variable], variable, stars | {variable: s}))
            stars[variable] = star
            free.remove(star)
        return stars

    def _overlap(self, arcs: list[OpenLabels], variable: Variable, stars: Mapping[Variable, Star]) -> tuple[int, int]:
        """How many arcs of a variable are in GM if these stars are used, and how many more may come to be."""
        certain = possible = 0
        for arc in arcs:
            if _open(arc, stars):
                possible += all((stars[variable], arc[1], n) in self._sides for n, v in enumerate(arc) if v == variable)
            else:
                subject, property_, object_ = starred(arc, stars)
                certain += property_ in self._pairs.get((subject, object_), ())
        return certain, possible


def _count_down(counter: Counter[T], gone: Iterable[T]) -> None:
    for one in gone:
        counter[one] -= 1
        if not counter[one]:
            del counter[one]


def _open(arc: OpenLabels, stars: Mapping[Variable, Star]) -> set[Variable]:
    """The variables of an arc that have no star yet."""
    return {part for part in arc if isinstance(part, Variable) and part not in stars}


def starred(arc: OpenLabels, stars: Mapping[Variable, Star]) -> Labels:
    """The labels of an arc with stars for its variables."""
    subject, property_, object_ = (stars[part] if isinstance(part, Variable) else part for part in arc)
    return subject, property_, object_
