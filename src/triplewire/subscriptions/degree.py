"""How well a filter is satisfied that asks for similarity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from pyoxigraph import NamedNode

from triplewire.rdf.terms import Term
from triplewire.subscriptions.evaluate import Lookup, Nearness, Values, evaluate, holds, truth, value_or
from triplewire.subscriptions.functions import FilterError
from triplewire.subscriptions.pattern import AttributeTest, Call, Expression, asks_similarity

Degree: TypeAlias = tuple[float, tuple[tuple[Term, NamedNode], ...]]
EXACT: Degree = (1.0, ())


@dataclass(frozen=True)
class Degrees:
    """Degrees of truth under one mapping, which is told as ``evaluate`` is told it.

    A filter that is true is so to a degree: a similarity's is the similarity, that of *and* the least of its parts',
    that of *or* the greatest of those that are true, and anything else's, a similarity denied included, is 1. With it
    goes what was compared to find it: the vertices, each with a concept.
    """

    lookup: Lookup
    values: Values
    nearness: Nearness

    def of_all(self, expressions: Iterable[Expression], wanted: bool = True) -> Degree:
        """The degree to which all of some expressions are true, or false if that is wanted."""
        found = [self.of(expression, wanted) for expression in expressions]
        return min((degree for degree, _ in found), default=1.0), tuple(
            one for _, compared in found for one in compared
        )

    def of(self, expression: Expression, wanted: bool = True) -> Degree:
        """The degree to which an expression is true, or false if that is wanted, as it must be."""
        if not asks_similarity(expression):
            return EXACT
        match expression:
            case Call("not", (argument,)):
                return self.of(argument, not wanted)
            case Call("and" | "or" as name, arguments) if (name == "and") == wanted:
                return self.of_all(arguments, wanted)
            case Call("and" | "or", arguments):
                return best(self.of(argument, wanted) for argument in arguments if self._is(argument, wanted))
            case AttributeTest(path, test) if wanted:
                with_values = (replace(self, lookup=partial(value_or, v, self.lookup)) for v in self.values(path))
                return best(one.of(test) for one in with_values if one._is(test, True))
            case Call("~", (operand, NamedNode() as concept, _)) if wanted:
                vertex = evaluate(operand, self.lookup, self.values)
                return self.nearness(vertex, concept), ((vertex, concept),)
            case _:
                return EXACT

    def _is(self, expression: Expression, wanted: bool) -> bool:
        if wanted:
            return holds(expression, self.lookup, self.values, self.nearness)
        try:
            return not truth(evaluate(expression, self.lookup, self.values, self.nearness))
        except FilterError:
            return False


def best(degrees: Iterable[Degree]) -> Degree:
    """The greatest degree; of several, one that does not depend on their order."""
    return min(degrees, key=lambda found: (-found[0], str(found[1])))
