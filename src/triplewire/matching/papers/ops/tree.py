"""The matching tree: an AND-OR tree of partial mappings (circles) and of statement patterns (rectangles).

Nodes know their parents. Their children are the younger ones that name them, so that a tree is gone with its last user.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triplewire.matching.matcher import MOST_MAPPINGS, TooManyMappingsError
from triplewire.matching.papers.eventgraph import EventGraph, Pairs
from triplewire.matching.papers.statements import StatementPattern, SubscriptionGraph

Disjunct = tuple[int, Pairs]
"""A mapping, after the set of the resources in it as a mask of bits."""


class Circle:
    """A partial mapping. It holds if all its children, the statement patterns derived from it, do.

    ``unchecked`` is how many of them have not passed the check by states.
    """

    __slots__ = ("mask", "pairs", "parent", "unchecked")

    def __init__(self, mask: int, pairs: Pairs, parent: Rectangle | None) -> None:
        self.mask = mask
        self.pairs = pairs
        self.parent = parent
        self.unchecked = 0

    @property
    def checked(self) -> bool:
        return not self.unchecked


class Rectangle:
    """A statement pattern under a partial mapping. It holds if one of its children, the ways to match it, does."""

    __slots__ = ("checked", "parent", "statement")

    def __init__(self, statement: StatementPattern, parent: Circle) -> None:
        self.statement = statement
        self.parent = parent
        self.checked = False


class MatchingTree:
    """All that is known of how an event may match a subscription: ``nodes``, parents before children."""

    __slots__ = ("first", "graph", "nodes", "root")

    def __init__(self, graph: SubscriptionGraph, event: EventGraph, home: int) -> None:
        self.graph = graph
        self.root = Circle(event.bits[home], {0: home}, None)
        self.nodes: list[Circle | Rectangle] = [self.root]
        self.first = self._derive(self.root, graph.leaving[0])

    def extend(self, rectangle: Rectangle, object_: int, event: EventGraph) -> Sequence[Rectangle]:
        """Match a statement pattern's object with a vertex of the event; what it gives are the derived patterns.

        An object that is already on the path from the home vertex is not followed any further.
        """
        parent, vertex = rectangle.parent, rectangle.statement.object
        if len(self.nodes) > MOST_MAPPINGS:
            return ()
        if vertex in parent.pairs:
            return self._derive(Circle(parent.mask, parent.pairs, rectangle), ())
        bit = event.bits[object_]
        if bit & parent.mask and self.graph.injective:
            return ()
        circle = Circle(parent.mask | bit, {**parent.pairs, vertex: object_}, rectangle)
        return self._derive(circle, self.graph.leaving[vertex])

    def _derive(self, circle: Circle, statements: Sequence[StatementPattern]) -> Sequence[Rectangle]:
        """Put a circle into the tree with its derived statement patterns; without any it has passed the check."""
        if circle is not self.root:
            self.nodes.append(circle)
        if not statements:
            backtrack(circle)
            return ()
        derived = [Rectangle(statement, circle) for statement in statements]
        circle.unchecked = len(derived)
        self.nodes += derived
        return derived

    def solutions(self, event: EventGraph) -> list[Pairs]:
        """The boolean expression of the root (BEBV) in disjunctive normal form: each disjunct maps all vertices.

        Expressions are computed from the youngest node to the oldest. What the check by states has not passed is false.
        No two disjuncts are equal, since no two circles under a rectangle are.
        """
        if len(self.nodes) > MOST_MAPPINGS:
            raise TooManyMappingsError(f"a matching tree of more than {MOST_MAPPINGS:,} nodes")
        if not self.root.checked:
            return []
        either: dict[Rectangle, list[Disjunct]] = defaultdict(list)
        both: dict[Circle, list[Disjunct]] = {}
        for node in reversed(self.nodes):
            if not node.checked:
                continue
            if isinstance(node, Rectangle):
                rows = either.pop(node)
                circle = node.parent
                both[circle] = self._conjunction(circle, both[circle], rows, event) if circle in both else rows
            elif node.parent is not None:
                either[node.parent] += both.pop(node) if node in both else [(node.mask, node.pairs)]
        return [pairs for _, pairs in both[self.root] if event.accepts(self.graph, pairs)]

    def _conjunction(
        self, circle: Circle, left: list[Disjunct], right: list[Disjunct], event: EventGraph
    ) -> list[Disjunct]:
        """Each disjunct of one expression with each of the other that agrees with it, and uses no resource twice."""
        if not left or not right:
            return []
        injective, bits = self.graph.injective, event.bits
        common = (left[0][1].keys() & right[0][1].keys()) - circle.pairs.keys()
        groups: dict[tuple[int, ...], list[Disjunct]] = defaultdict(list)
        for row in right:
            groups[tuple([row[1][vertex] for vertex in common])].append(row)
        found: list[Disjunct] = []
        for mask, pairs in left:
            images = tuple([pairs[vertex] for vertex in common])
            shared = circle.mask
            for image in images:
                shared |= bits[image]
            found += [
                (mask | other_mask, {**pairs, **other})
                for other_mask, other in groups.get(images, ())
                if mask & other_mask == shared or not injective
            ]
            if len(found) > MOST_MAPPINGS:
                raise TooManyMappingsError(f"more than {MOST_MAPPINGS:,} mappings")
        return found


def backtrack(circle: Circle) -> None:
    """Tell the nodes above that a circle has passed the check by states (SBPV)."""
    while (rectangle := circle.parent) is not None and not rectangle.checked:
        rectangle.checked = True
        circle = rectangle.parent
        circle.unchecked -= 1
        if circle.unchecked:
            return
