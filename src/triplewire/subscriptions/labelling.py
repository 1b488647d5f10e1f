"""Canonical labelling: an order of a structure's elements that is the same however they were given.

The elements are told apart by their keys, then by what they see of each other (colour refinement). Where that leaves
equals, one after the other is singled out, and the order with the least certificate is kept; an automorphism found on
the way spares the branches that it maps to one already seen. Structures exist on which this takes exponentially long
(strongly regular graphs, and those of Cai, Fürer and Immerman). So the work is bounded: when it is used up, the best
order so far is taken. It is then a fair order still, but another presentation of the structure may have got another.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, TypeAlias

Views: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""For each element those that see it, ``(label, element)``."""
Cells: TypeAlias = dict[int, list[int]]
"""The elements that are alike, by the first position that they may take."""
Certificate: TypeAlias = Callable[[list[int]], Any]

MOST_WORK = 300_000
"""How often one element may be looked at from another, and a cell split, before the search is given up."""
MOST_ELEMENTS = 128
"""With more elements that are alike than this only the first order found is taken."""


def canonical_positions(keys: Sequence[Any], views: Views, certificate: Certificate) -> list[int]:
    """A position for each element; isomorphic structures get the same certificate under theirs.

    ``certificate`` tells the structure with the elements called by their positions.
    """
    cells = _cells_by_key(keys)
    colours = [0] * len(keys)
    for start, members in cells.items():
        for element in members:
            colours[element] = start
    if len(cells) < len(keys):
        search = _Search(views, certificate)
        search.refine(colours, cells, list(cells))
        if len(cells) < len(keys):
            return search.run(colours, cells)
    return colours


def _cells_by_key(keys: Sequence[Any]) -> Cells:
    alike: dict[Any, list[int]] = defaultdict(list)
    for element, key in enumerate(keys):
        alike[key].append(element)
    cells: Cells = {}
    start = 0
    for key in sorted(alike):
        cells[start] = alike[key]
        start += len(alike[key])
    return cells


class _Exhausted(Exception):
    pass


class _Search:
    def __init__(self, views: Views, certificate: Certificate) -> None:
        self.views = views
        self.certificate = certificate
        self.work = 0
        self.traces: list[tuple[int, ...]] = []
        self.best: tuple[Any, list[int]] | None = None
        self.latest: list[int] = []
        self.leaves: dict[Any, tuple[list[int], list[int]]] = {}
        self.automorphisms: list[dict[int, int]] = []  # where each takes the elements that it moves
        self.root: list[int] = []

    def run(self, colours: list[int], cells: Cells) -> list[int]:
        if len(colours) > MOST_ELEMENTS:
            return self._first(colours, cells)
        self.root = colours
        with suppress(_Exhausted):
            self._explore(colours, cells, [])
        return self.best[1] if self.best else self.latest

    def _first(self, colours: list[int], cells: Cells) -> list[int]:
        while len(cells) < len(colours):
            start = _target(cells)
            colours, cells = self._singled_out(cells[start][0], start, colours, cells)
        return colours

    def refine(self, colours: list[int], cells: Cells, starts: list[int]) -> None:
        """Split cells, in place, until all members of each see the same number of each cell's members by each label."""
        queue = deque(starts)
        while queue and len(cells) < len(colours):
            seen: dict[int, list[int]] = defaultdict(list)
            for element in cells[queue.popleft()]:
                for label, viewer in self.views[element]:
                    seen[viewer].append(label)
            self.work += len(seen)
            for start in sorted({colours[viewer] for viewer in seen}):
                if len(cells[start]) > 1:
                    queue.extend(self._split(start, seen, colours, cells))

    def _split(self, start: int, seen: dict[int, list[int]], colours: list[int], cells: Cells) -> list[int]:
        members = cells[start]
        self.work += len(members)
        parts: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for element in members:
            parts[tuple(sorted(seen[element])) if element in seen else ()].append(element)
        if len(parts) == 1:
            return []
        starts = []
        for sight in sorted(parts):
            cells[start] = parts[sight]
            starts.append(start)
            for element in parts[sight]:
                colours[element] = start
            start += len(parts[sight])
        return starts

    def _singled_out(self, element: int, start: int, colours: list[int], cells: Cells) -> tuple[list[int], Cells]:
        """A copy in which an element comes before those it was alike with, refined."""
        colours, cells = list(colours), dict(cells)
        others = [other for other in cells[start] if other != element]
        cells[start], cells[start + 1] = [element], others
        for other in others:
            colours[other] = start + 1
        self.work += len(colours)
        self.refine(colours, cells, [start])
        return colours, cells

    def _explore(self, colours: list[int], cells: Cells, path: list[int]) -> int:
        """Try every order below a node of the search; the level to go back to."""
        level = len(path)
        if len(cells) == len(colours):
            return self._leaf(colours, path)
        start = _target(cells)
        tried: list[int] = []
        known, orbits = -1, self.root
        for element in cells[start]:
            if tried and known < len(self.automorphisms):
                known, orbits = len(self.automorphisms), self._orbits(path)
            if tried and orbits[element] in {orbits[other] for other in tried}:
                continue
            if self.work > MOST_WORK and self.latest:
                raise _Exhausted
            tried.append(element)
            finer = self._singled_out(element, start, colours, cells)
            if self._is_promising(level, tuple(sorted(finer[1]))):
                back = self._explore(*finer, [*path, element])
                if back < level:
                    return back
        return level

    def _is_promising(self, level: int, trace: tuple[int, ...]) -> bool:
        """Whether the least order may lie below a node; it has the least sequence of cells on the way to it."""
        if level < len(self.traces):
            if trace > self.traces[level]:
                return False
            if trace < self.traces[level]:
                self.traces[level:] = [trace]
                self.best = None
        else:
            self.traces.append(trace)
        return True

    def _leaf(self, colours: list[int], path: list[int]) -> int:
        self.latest = colours
        self.work += len(colours)
        certificate = self.certificate(colours)
        if certificate in self.leaves:
            earlier, earlier_path = self.leaves[certificate]
            at = {position: element for element, position in enumerate(colours)}
            image = [at[position] for position in earlier]
            self.automorphisms.append({one: other for one, other in enumerate(image) if one != other})
            return next(level for level, (a, b) in enumerate(zip(path, earlier_path, strict=False)) if a != b)
        if not self.leaves:
            self._find_twins(colours, certificate)
        self.leaves[certificate] = colours, path
        if self.best is None or certificate < self.best[0]:
            self.best = certificate, colours
        return len(path)

    def _find_twins(self, colours: list[int], certificate: Any) -> None:
        """Neighbours in the order that may change places: of many that are all alike, this spares trying each."""
        for one, other in pairwise(sorted(range(len(colours)), key=colours.__getitem__)):
            if self.root[one] == self.root[other]:
                changed = list(colours)
                changed[one], changed[other] = colours[other], colours[one]
                self.work += len(colours)
                if self.certificate(changed) == certificate:
                    self.automorphisms.append({one: other, other: one})

    def _orbits(self, path: list[int]) -> list[int]:
        """For each element, the one that stands for all that automorphisms which leave the path alone take it to."""
        above = list(range(len(self.root)))

        def top(element: int) -> int:
            while above[element] != element:
                above[element] = element = above[above[element]]
            return element

        for moved in self.automorphisms:
            if moved.keys().isdisjoint(path):
                self.work += len(moved)
                for one, other in moved.items():
                    above[top(one)] = top(other)
        return [top(element) for element in range(len(above))]


def _target(cells: Cells) -> int:
    """The first of the smallest cells with more than one member."""
    return min((len(members), start) for start, members in cells.items() if len(members) > 1)[1]
