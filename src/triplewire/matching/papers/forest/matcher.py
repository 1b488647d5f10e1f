"""OncePubSub's matcher: MATCH-FOREST over the covering forest, with predicate states that are found out when asked."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from functools import partial

from pyoxigraph import NamedNode

from triplewire.concepts.closure import ClosedEvent, close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.explanation import Explanation, explain
from triplewire.matching.matcher import Match, in_order, refused
from triplewire.matching.papers.forest.forest import Forest, Node
from triplewire.matching.papers.forest.index import PredicateIndex
from triplewire.matching.papers.forest.predicates import Conjunction, Path, conjunctions
from triplewire.matching.papers.forest.sets import Number, PredicateSet
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import Term
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.pattern import VALUE, Home, Subscription, Variable

TO_MATCH, MATCHED, NOT_MATCHED, FAILED = range(4)

log = logging.getLogger(__name__)


class CoveringForest:
    """Subscriptions to the home vertex's attributes, such as ``filter`` says them.

    Counts primitive subscriptions ``visited`` and ``pruned`` unseen, ``searches`` of predicate sets, and ``tests`` of a
    value by a predicate.
    """

    def __init__(self, model: ConceptModel) -> None:
        self.model = model
        self.work: Counter[str] = Counter()
        self.forest = Forest(PredicateIndex(model.names))
        self._kept: dict[str, list[Node]] = {}
        self._subscriptions: dict[str, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        primitive = _accepted(subscription)
        if subscription.id in self._kept:
            self.remove(subscription.id)
        self._subscriptions[subscription.id] = subscription
        self._kept[subscription.id] = [self.forest.insert(c, subscription.id) for c in primitive]

    def remove(self, id_: str) -> None:
        del self._subscriptions[id_]
        for node in self._kept.pop(id_):
            self.forest.remove(node, id_)

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        closed = close(event.graph, self.model)
        if closed.home is None:
            return []
        states = _States(closed, self.forest.index, self.work)
        matched = {id_ for node in self._match_forest(states) for id_ in node.subscribers}
        told = in_order([{}]) if bindings else None
        return [Match(event.id, id_, bindings=told) for id_ in sorted(matched)]

    def explain(self, id_: str, event: Event) -> Explanation:
        return explain(self._subscriptions[id_], event, self.model)

    def _match_forest(self, states: _States) -> Iterator[Node]:
        """The nodes that hold: each is looked at only if its parent holds, and what its siblings share with it."""
        visited = 0
        queue = [self.forest.top]
        while queue:
            node = queue.pop()
            if node is not self.forest.top:
                yield node
            for key, group in node.groups.items():
                if states.holds(key):
                    visited += len(group)
                    queue.extend(child for child in group if all(map(states.holds, child.predicates)))
        self.work["visited"] += visited
        self.work["pruned"] += len(self.forest) - visited


class _States:
    """What is known of the predicates on one event. A set of predicates is searched once, when one of them is asked."""

    def __init__(self, event: ClosedEvent, index: PredicateIndex, work: Counter[str]) -> None:
        self._event = event
        self._index = index
        self._work = work
        self._state = bytearray(len(index))
        self._searched: set[PredicateSet] = set()
        self._values: dict[Path, frozenset[Term]] = {}
        self._arcs: dict[tuple[Term, NamedNode], set[Term]] = {}
        for subject, property_, object_ in event.closed:
            self._arcs.setdefault((subject, property_), set()).add(object_)

    def holds(self, number: Number) -> bool:
        state = self._state[number]
        if state == TO_MATCH:
            self._find_out(number)
            state = self._state[number]
        return state == MATCHED

    def _find_out(self, number: Number) -> None:
        predicate = self._index.predicates[number]
        values = self._at(predicate.path)
        found = self._index.set_of[number]
        if predicate.denied:
            affirmed = self._index.affirmed[number]
            present = bool(values) or predicate.test is None
            denied = present and not self.holds(affirmed) and self._state[affirmed] != FAILED
            self._state[number] = MATCHED if denied else NOT_MATCHED
        elif found is None:
            self._state[number] = MATCHED if values else NOT_MATCHED
        else:
            if found not in self._searched:
                self._search(found, values)
            if self._state[number] == TO_MATCH:
                self._state[number] = NOT_MATCHED

    def _search(self, found: PredicateSet, values: frozenset[Term]) -> None:
        self._searched.add(found)
        self._work["searches"] += 1
        for term in values:
            for satisfied in found.search(term, partial(self._satisfied, term)):
                self._state[satisfied] = MATCHED

    def _satisfied(self, term: Term, number: Number) -> bool:
        self._work["tests"] += 1
        test = self._index.predicates[number].test

        def lookup(name: Variable | Home | NamedNode) -> Term | None:
            if isinstance(name, NamedNode):
                return self._event.name(name)
            return term if name == VALUE else None

        try:
            return test is not None and holds(test, lookup, self._at)
        except Exception:
            log.exception("the test %s cannot be tried on %s, and is passed over", test, term)
            self._state[number] = FAILED
            return False

    def _at(self, path: Path) -> frozenset[Term]:
        """The values at the end of a path from the home vertex."""
        if path not in self._values:
            ends: set[Term] = set() if self._event.home is None else {self._event.home}
            for step in path:
                ends = {end for start in ends for end in self._arcs.get((start, step), ())}
            self._values[path] = frozenset(ends)
        return self._values[path]


def _accepted(subscription: Subscription) -> list[Conjunction]:
    """The primitive subscriptions of one that says nothing but what the forest can."""
    found: dict[Conjunction, None] = {}
    for alternative in subscription.alternatives:
        pattern = alternative.pattern
        for part, what in (
            (alternative.residual, "residual"),
            (alternative.answer, "selection of what is told"),
            (pattern.arcs, "arc"),
            (pattern.classes, "class constraint"),
            (pattern.is_a, "is-a constraint"),
            (pattern.interests, "interest"),
            (pattern.is_graded, "filter that asks for similarity"),
            (not pattern.filters, "pattern without filters"),
        ):
            if part:
                raise refused("forest", what)
        found |= dict.fromkeys(conjunctions(pattern.filters))
    return list(found)
