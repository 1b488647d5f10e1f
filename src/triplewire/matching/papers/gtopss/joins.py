"""Natural joins of binding tables, as a tree: subscriptions whose joins begin alike share the beginning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from triplewire.matching.matcher import MOST_MAPPINGS, TooManyMappingsError
from triplewire.matching.papers.gtopss.merged import Edge, Row, Star

Rows = Sequence[Row]
Places = tuple[int, ...]


@dataclass(eq=False)
class Join:
    """The join of the edges from the root of the tree to here; the root joins nothing, and has one empty row."""

    parent: Join | None = None
    edge: Edge | None = None
    uses: int = 0
    children: dict[Edge, Join] = field(default_factory=dict)

    def __post_init__(self) -> None:
        above: tuple[Star, ...] = self.parent.columns if self.parent else ()
        own: tuple[Star, ...] = self.edge.columns if self.edge else ()
        shared = [star for star in own if star in above]
        self.columns: tuple[Star, ...] = (*above, *(star for star in own if star not in above))
        self._shared_above: Places = tuple(above.index(star) for star in shared)
        self._shared: Places = tuple(own.index(star) for star in shared)
        self._added: Places = tuple(place for place, star in enumerate(own) if star not in above)

    def take(self, edges: Iterable[Edge]) -> Join:
        """The join of this one with some edges, kept until it is let go of."""
        join = self
        for edge in in_join_order(edges):
            if edge not in join.children:
                join.children[edge] = Join(join, edge)
            join = join.children[edge]
        join.uses += 1
        return join

    def let_go(self) -> None:
        self.uses -= 1
        join = self
        while join.parent and join.edge and not join.uses and not join.children:
            del join.parent.children[join.edge]
            join = join.parent

    def rows(self, above: Rows, own: Rows) -> Rows:
        """The rows of the parent joined with those of the edge."""
        if not self._added:
            there = set(_projected(own, self._shared))
            return [row for row, key in zip(above, _projected(above, self._shared_above), strict=True) if key in there]
        matching: defaultdict[Row, list[Row]] = defaultdict(list)
        for key, rest in zip(_projected(own, self._shared), _projected(own, self._added), strict=True):
            matching[key].append(rest)
        keys = _projected(above, self._shared_above)
        joined = (row + rest for row, key in zip(above, keys, strict=True) for rest in matching.get(key, ()))
        rows = list(islice(joined, MOST_MAPPINGS + 1))
        if len(rows) > MOST_MAPPINGS:
            raise TooManyMappingsError(f"more than {MOST_MAPPINGS:,} mappings")
        return rows


def in_join_order(edges: Iterable[Edge]) -> list[Edge]:
    """Edges that have stars, such that each joins on as much as can be; among equals the oldest, which others share."""
    left: dict[frozenset[Star], list[Edge]] = {}
    for edge in sorted(edges, key=lambda edge: edge.number):
        if edge.columns:
            left.setdefault(frozenset(edge.columns), []).append(edge)
    bound: frozenset[Star] = frozenset()
    ordered: list[Edge] = []
    while left:
        columns = min(left, key=lambda c: (len(c - bound), bound.isdisjoint(c), left[c][0].number))
        bound |= columns
        ordered += left.pop(columns)
    return ordered


class EventJoins:
    """The joins over one event's binding tables, each computed once, and only if a subscription asks for it."""

    def __init__(self, tables: Mapping[Edge, Rows], work: Counter[str]) -> None:
        self._tables = tables
        self._work = work
        self._rows: dict[Join, Rows | TooManyMappingsError] = {}

    def rows(self, join: Join) -> Rows:
        wanted = []
        at: Join | None = join
        while at and at not in self._rows:
            wanted.append(at)
            at = at.parent
        for one in reversed(wanted):
            self._rows[one] = self._joined(one)
        found = self._rows[join]
        if isinstance(found, TooManyMappingsError):
            raise found
        return found

    def _joined(self, join: Join) -> Rows | TooManyMappingsError:
        if join.parent is None or join.edge is None:
            return [()]
        above = self._rows[join.parent]
        if not above or isinstance(above, TooManyMappingsError):
            return above
        self._work["joins"] += 1
        try:
            return join.rows(above, self._tables[join.edge])
        except TooManyMappingsError as error:
            return error


def _projected(rows: Rows, places: Places) -> list[Row]:
    return [tuple([row[place] for place in places]) for row in rows]
