"""The covering forest: a conjunction stands below one that covers it; where that fails, its tree is passed over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from triplewire.matching.papers.forest.index import PredicateIndex
from triplewire.matching.papers.forest.predicates import Conjunction
from triplewire.matching.papers.forest.sets import Number


@dataclass(eq=False)
class Node:
    """A primitive subscription: its predicates' numbers, most selective first, and who subscribed to it.

    The children of a node are grouped by a predicate that they have in common and the node has not, so that where it
    fails the whole group is passed over.
    """

    predicates: tuple[Number, ...]
    parent: Node | None = None
    key: Number = -1
    subscribers: set[str] = field(default_factory=set)
    groups: dict[Number, dict[Node, None]] = field(default_factory=dict)
    having: defaultdict[Number, set[Node]] = field(default_factory=lambda: defaultdict(set))

    @property
    def children(self) -> Iterator[Node]:
        return (child for group in self.groups.values() for child in group)

    def adopt(self, child: Node) -> None:
        child.parent = self
        child.key = next((n for n in child.predicates if n not in self.predicates), child.predicates[0])
        self.groups.setdefault(child.key, {})[child] = None
        for number in child.predicates:
            self.having[number].add(child)

    def release(self, child: Node) -> None:
        del self.groups[child.key][child]
        if not self.groups[child.key]:
            del self.groups[child.key]
        for number in child.predicates:
            self.having[number].discard(child)
            if not self.having[number]:
                del self.having[number]


class Forest:
    """All primitive subscriptions. ``top`` has no predicates: its children are the roots of the forest's trees."""

    def __init__(self, index: PredicateIndex) -> None:
        self.index = index
        self.top = Node(())
        self._nodes: dict[frozenset[Number], Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def insert(self, conjunction: Conjunction, id_: str) -> Node:
        """Subscribe to a conjunction: below the lowest node that covers it, and above those there that it covers."""
        numbers = sorted((self.index.take(predicate) for predicate in conjunction), key=self.index.selectivity)
        key = frozenset(numbers)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = Node(tuple(numbers))
            self._place(node)
        else:
            self._let_go(node)
        node.subscribers.add(id_)
        return node

    def remove(self, node: Node, id_: str) -> None:
        """Unsubscribe. If nobody is left, the children go to the parent, which covers them too."""
        node.subscribers.discard(id_)
        if node.subscribers or node.parent is None:
            return
        node.parent.release(node)
        for child in list(node.children):
            node.parent.adopt(child)
        del self._nodes[frozenset(node.predicates)]
        self._let_go(node)

    def _let_go(self, node: Node) -> None:
        for number in node.predicates:
            self.index.let_go(number)

    def covers(self, general: Node, special: Node) -> bool:
        """Whether a node is known to hold wherever another does: each of its predicates is implied by one there."""
        return self.index.implied(special.predicates).issuperset(general.predicates)

    def _place(self, node: Node) -> None:
        parent = self._lowest_cover(node)
        for child in self._covered(node, parent):
            parent.release(child)
            node.adopt(child)
        parent.adopt(node)

    def _lowest_cover(self, node: Node) -> Node:
        implied = self.index.implied(node.predicates)
        at = self.top
        below: Node | None = at
        while below:
            at = below
            below = next(
                (
                    child
                    for key in at.groups.keys() & implied
                    for child in at.groups[key]
                    if implied.issuperset(child.predicates)
                ),
                None,
            )
        return at

    def _covered(self, node: Node, parent: Node) -> list[Node]:
        """The children of a node's parent that the node covers: they have something that implies whatever it adds."""
        added = [n for n in node.predicates if n not in parent.predicates] or node.predicates
        implying = [parent.having.keys() & self.index.implying(number) for number in added]
        fewest = min(implying, key=lambda numbers: sum(len(parent.having[n]) for n in numbers))
        candidates = {child for number in fewest for child in parent.having[number]}
        return [c for c in candidates if not any(numbers.isdisjoint(c.predicates) for numbers in implying)]
