"""Hierarchies: who is above whom, with several parents, answered from arrays.

Terms have numbers; ``ancestors[offsets[n]:offsets[n + 1]]`` are the numbers of all that is above term ``n``, itself
included, in ascending order. Terms on a cycle are equivalent: each is above the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Node = TypeVar("Node", bound=Hashable)
Numbers = NDArray[np.int32]


class Hierarchy(Generic[Node]):
    """The reflexive and transitive closure of ``child → parents``."""

    def __init__(self, parents: Mapping[Node, Iterable[Node]]) -> None:
        self.parents: dict[Node, frozenset[Node]] = {child: frozenset(above) for child, above in parents.items()}
        for above in [*self.parents.values()]:
            for parent in above:
                self.parents.setdefault(parent, frozenset())
        self.terms: list[Node] = list(self.parents)
        self.numbers: dict[Node, int] = {term: number for number, term in enumerate(self.terms)}
        self._above: dict[Node, frozenset[Node]] = {}

    @cached_property
    def components(self) -> list[list[Node]]:
        """The terms grouped with their equivalents, parents before children."""
        return list(components(self.parents))

    @cached_property
    def cycles(self) -> list[list[Node]]:
        """The groups of several terms that are each above the others."""
        return [sorted(members, key=str) for members in self.components if len(members) > 1]

    @cached_property
    def ancestors(self) -> list[Numbers]:
        """For each term's number, the numbers of all that is above it."""
        above: list[Numbers] = [np.empty(0, np.int32)] * len(self.terms)
        marked = np.zeros(len(self.terms), np.bool_)
        for members in self.components:
            own = [self.numbers[term] for term in members]
            marked[own] = True
            for parent in {self.numbers[p] for term in members for p in self.parents[term]}.difference(own):
                marked[above[parent]] = True
            reached = np.flatnonzero(marked).astype(np.int32)
            marked[reached] = False
            for number in own:
                above[number] = reached
        return above

    @cached_property
    def closure(self) -> tuple[Numbers, Numbers]:
        """``(offsets, ancestors)`` in two arrays, as the head of this module tells."""
        offsets = np.zeros(len(self.terms) + 1, np.int32)
        np.cumsum([len(each) for each in self.ancestors], out=offsets[1:])
        return offsets, np.concatenate([np.empty(0, np.int32), *self.ancestors])

    @cached_property
    def _turned(self) -> tuple[Numbers, Numbers]:
        """The closure turned round: what is below each term."""
        offsets, ancestors = self.closure
        children = np.repeat(np.arange(len(self.terms), dtype=np.int32), np.diff(offsets))
        order = np.argsort(ancestors, kind="stable")
        starts = np.searchsorted(ancestors[order], np.arange(len(self.terms) + 1)).astype(np.int32)
        return starts, children[order]

    def above(self, term: Node) -> frozenset[Node]:
        """All that is above a term, itself included."""
        found = self._above.get(term)
        if found is None:
            number = self.numbers.get(term)
            others = [] if number is None else self.ancestors[number].tolist()
            found = self._above[term] = frozenset([term, *(self.terms[other] for other in others)])
        return found

    def below(self, term: Node) -> frozenset[Node]:
        """All that is below a term, itself included."""
        number = self.numbers.get(term)
        if number is None:
            return frozenset([term])
        offsets, descendants = self._turned
        return frozenset(self.terms[n] for n in descendants[offsets[number] : offsets[number + 1]].tolist())

    def is_below(self, lower: Node, upper: Node) -> bool:
        """Whether ``lower ⊑ upper``; reflexive."""
        return upper in self.above(lower)

    def nearest_common(self, a: Node, b: Node) -> frozenset[Node]:
        """The common ancestors of two terms that have no other common ancestor below them."""
        common = self.above(a) & self.above(b)
        higher = {up for one in common for up in self.above(one) if not self.is_below(up, one)}
        return common - higher

    def depth(self) -> int:
        """The number of steps on the longest way up; a cycle counts as one term."""
        heights: dict[Node, int] = {}
        for members in self.components:
            group = set(members)
            outside = [heights[p] + 1 for term in members for p in self.parents[term] if p not in group]
            heights |= dict.fromkeys(members, max(outside, default=0))
        return max(heights.values(), default=0)


def components(parents: Mapping[Node, Iterable[Node]]) -> Iterator[list[Node]]:
    """The strongly connected components of ``child → parents``, what is above first (Tarjan, without recursion)."""
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    waiting: set[Node] = set()
    for root in parents:
        if root in order:
            continue
        work = [(root, iter(parents[root]))]
        while work:
            node, above = work[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
                waiting.add(node)
            for parent in above:
                if parent not in order:
                    work.append((parent, iter(parents.get(parent, ()))))
                    break
                if parent in waiting:
                    low[node] = min(low[node], order[parent])
            else:
                work.pop()
                if work:
                    child = work[-1][0]
                    low[child] = min(low[child], low[node])
                if low[node] == order[node]:
                    yield _popped(stack, waiting, node)


def _popped(stack: list[Node], waiting: set[Node], root: Node) -> list[Node]:
    """A finished component: everything on the stack from its root on."""
    members = [stack.pop()]
    while members[-1] != root:
        members.append(stack.pop())
    waiting.difference_update(members)
    return members
