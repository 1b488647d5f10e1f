"""Boolean and is-a constraints, which subscriptions share: each is evaluated once for a node of an event."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.brute import is_a
from triplewire.rdf.terms import Term
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.pattern import VALUE, Call, Expression, IsA, Variable


@dataclass(eq=False)
class Constraint:
    """A demand on one node, which goes by the name ``VALUE`` in it; nothing else in it needs the event to be known."""

    stated: IsA | Expression

    def holds(self, node: Term, event: ClosedEvent) -> bool:
        if isinstance(self.stated, IsA):
            return is_a(node, self.stated, event)
        return holds(self.stated, lambda _: node, lambda _: frozenset())


class Constraints:
    """The distinct constraints of the subscriptions that are kept."""

    def __init__(self) -> None:
        self._kept: WeakValueDictionary[IsA | Expression, Constraint] = WeakValueDictionary()

    def intern(self, stated: IsA | Expression, variable: Variable) -> Constraint:
        """The constraint that this is, whatever its variable is called."""
        key = replace(stated, vertex=VALUE) if isinstance(stated, IsA) else _renamed(stated, variable)
        return self._kept.setdefault(key, Constraint(key))


class Verdicts:
    """Which constraints hold of which nodes of one event."""

    def __init__(self, event: ClosedEvent, terms: list[Term], work: Counter[str]) -> None:
        self._event = event
        self._terms = terms
        self._work = work
        self._known: dict[tuple[Constraint, int], bool] = {}

    def holds(self, constraint: Constraint, node: int) -> bool:
        known = self._known.get((constraint, node))
        if known is None:
            self._work["constraints"] += 1
            known = self._known[constraint, node] = constraint.holds(self._terms[node], self._event)
        return known


def _renamed(expression: Expression, variable: Variable) -> Expression:
    if expression == variable:
        return VALUE
    if isinstance(expression, Call):
        return Call(expression.name, tuple(_renamed(argument, variable) for argument in expression.arguments))
    return expression
