"""Primitive subscriptions: conjunctions of predicates, each about one attribute, out of a filter's expression."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.matching.matcher import refused
from triplewire.rdf.terms import RDF, XSD
from triplewire.subscriptions.pattern import VALUE, AttributeExists, AttributeTest, Call, Expression

Path: TypeAlias = tuple[NamedNode, ...]
MOST_CONJUNCTIONS = 64
"""A filter that comes to more primitive subscriptions than this is refused."""


@dataclass(frozen=True)
class Predicate:
    """A test of one attribute's values that holds, or is ``denied``; without a test, the attribute's presence.

    A test holds if some value satisfies it. It is denied if there are values, and none does: a missing attribute
    neither holds nor is denied, unless its presence is what is asked.
    """

    path: Path
    test: Expression | None = None
    denied: bool = False

    @cached_property
    def operator(self) -> str:
        """The operator of a test that compares the value with a constant, else nothing."""
        match self.test:
            case Call("<" | "<=" | ">" | ">=" as name, (first, Literal())) if first == VALUE:
                return name
            case Call("strstarts", (first, Literal() as text)) if first == VALUE and text.datatype in _TEXTS:
                return "strstarts"
            case Call("=" | "in" as name, (first, *operands)) if first == VALUE and all(map(_is_constant, operands)):
                return name
        return ""

    @cached_property
    def operands(self) -> tuple[Literal | NamedNode, ...]:
        """The constants that a test with an operator compares with."""
        if not self.operator or not isinstance(self.test, Call):
            return ()
        return tuple(operand for operand in self.test.arguments[1:] if isinstance(operand, Literal | NamedNode))

    def has_literal(self, operator: str) -> bool:
        """Whether it is a comparison with a literal by this operator."""
        return self.operator == operator and isinstance(self.operands[0], Literal)


Conjunction: TypeAlias = frozenset[Predicate]

_TEXTS = (XSD.string, RDF.langString)


def conjunctions(filters: Iterable[Expression]) -> list[Conjunction]:
    """The primitive subscriptions of which one must hold for all filters to be true."""
    return _both(_true(filter_) for filter_ in filters)


def _true(expression: Expression, denied: bool = False) -> list[Conjunction]:
    """The conjunctions that make an expression true, or false if it is ``denied``.

    SPARQL's three values obey De Morgan's laws, and ``and`` is true iff both sides are, ``or`` iff one side is.
    """
    match expression:
        case AttributeTest(path, test):
            return [frozenset({Predicate(path, test, denied)})]
        case AttributeExists(path):
            return [frozenset({Predicate(path, None, denied)})]
        case Call("not", (operand,)):
            return _true(operand, not denied)
        case Call("and" | "or" as name, arguments):
            parts = (_true(argument, denied) for argument in arguments)
            return _both(parts) if (name == "and") is not denied else _limited(c for part in parts for c in part)
        case Call(name):
            raise refused("forest", f"{name} outside an attribute's test")
        case _:
            raise refused("forest", f"{expression} as a condition")


def _both(parts: Iterable[list[Conjunction]]) -> list[Conjunction]:
    found: list[Conjunction] = [frozenset()]
    for part in parts:
        found = _limited(one | other for one, other in product(found, part))
    return found


def _limited(made: Iterable[Conjunction]) -> list[Conjunction]:
    found = list(dict.fromkeys(made))
    if len(found) > MOST_CONJUNCTIONS:
        raise refused("forest", f"filter that comes to more than {MOST_CONJUNCTIONS} conjunctions")
    return found


def _is_constant(expression: Expression) -> bool:
    return isinstance(expression, Literal | NamedNode)
