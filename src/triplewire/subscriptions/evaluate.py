"""Evaluating filters as SPARQL 1.1 does: numeric promotion, effective boolean values, errors that are not true.

A term goes in for each variable and a term comes out, or ``FilterError`` is raised. Inside the call ``sparql``
operators are read as Oxigraph reads them; how that differs is told in docs/decisions/003-filters.md.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal, DivisionByZero, InvalidOperation, localcontext
from functools import partial
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import XSD, Term
from triplewire.rdf.values import (
    ZONES_APART,
    Moment,
    NoValueError,
    Number,
    Rank,
    Text,
    Value,
    is_numeric_type,
    number_literal,
    value,
)
from triplewire.subscriptions import oxigraph
from triplewire.subscriptions.functions import FUNCTIONS, FilterError, boolean
from triplewire.subscriptions.pattern import (
    VALUE,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Home,
    Variable,
)

Lookup = Callable[[Variable | Home | NamedNode], Term | None]
Values = Callable[[tuple[NamedNode, ...]], frozenset[Term]]
Nearness = Callable[[Term, NamedNode], float]

"""In seconds, how far apart two moments must be to be in order if one has a time zone and the other has none."""

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def no_nearness(vertex: Term, concept: NamedNode) -> float:
    """How similar a term is to a concept where there is no event to tell."""
    raise FilterError(f"nothing is known of the similarity of {vertex} and {concept}")


def holds(expression: Expression, lookup: Lookup, values: Values, nearness: Nearness = no_nearness) -> bool:
    """Whether a filter is true; an error is not."""
    try:
        return truth(evaluate(expression, lookup, values, nearness))
    except FilterError:
        return False


def evaluate(expression: Expression, lookup: Lookup, values: Values, nearness: Nearness = no_nearness) -> Term:
    """The term that an expression comes to.

    ``lookup`` gives the term that a variable or name stands for in the event, ``values`` the terms at the end of a path
    from the home vertex, and ``nearness`` how similar a vertex is to a concept.
    """
    match expression:
        case Variable() | Home() | NamedNode():
            term = lookup(expression)
            if term is None:
                raise FilterError(f"{expression} is not bound")
            return term
        case Call("~", (vertex, NamedNode() as concept, Literal() as threshold)):
            return boolean(nearness(evaluate(vertex, lookup, values), concept) > float(threshold.value))
        case Call(name, arguments):
            if name == "sparql":
                return _as_oxigraph(arguments[0], lookup)
            if name in _LAZY:
                return _LAZY[name](lambda e: evaluate(e, lookup, values, nearness), truth, arguments)
            return _apply(name, [evaluate(argument, lookup, values, nearness) for argument in arguments])
        case AttributeExists(path):
            return boolean(bool(values(path)))
        case AttributeTest(path, test):
            return boolean(_some(values(path), test, lookup, values, nearness))
        case _:
            return expression


def _as_oxigraph(expression: Expression, lookup: Lookup) -> Term:
    """The term that an expression comes to in Oxigraph."""
    match expression:
        case Call(name, arguments) if name in _LAZY:
            return _LAZY[name](lambda e: _as_oxigraph(e, lookup), oxigraph.truth, arguments)
        case Call(name, arguments):
            terms = [_as_oxigraph(argument, lookup) for argument in arguments]
            if name in _ORDER:
                return boolean(oxigraph.compare(name, *terms))
            if name in _ARITHMETIC:
                return oxigraph.arithmetic(name, *terms)
            if name in _AS_OXIGRAPH:
                return _AS_OXIGRAPH[name](*terms)
            return oxigraph.OWN[name].apply(*terms)
        case _:
            return evaluate(expression, lookup, lambda path: frozenset())


_AS_OXIGRAPH: dict[str, Callable[..., Term]] = {
    "=": lambda a, b: boolean(oxigraph.equal(a, b)),
    "!=": lambda a, b: boolean(not oxigraph.equal(a, b)),
    "not": lambda a: boolean(not oxigraph.truth(a)),
    "negate": oxigraph.negated,
}


def truth(term: Term) -> bool:
    """The effective boolean value. A boolean or number that is ill-formed is false."""
    if not isinstance(term, Literal):
        raise FilterError(f"{term} is neither true nor false")
    try:
        match value(term):
            case bool(known):
                return known
            case Text(text, None):
                return text != ""
            case Number(_, number):
                return number != 0 and number == number
    except NoValueError:
        if term.datatype == XSD.boolean or is_numeric_type(term.datatype):
            return False
    raise FilterError(f"{term} is neither true nor false")


def equal(left: Term, right: Term) -> bool:
    """SPARQL's ``=``: by value where both have values of one kind, else an error unless they are the same term."""
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return left == right
    a, b = _value(left), _value(right)
    match a, b:
        case Number(), Number():
            rank = max(a.rank, b.rank)
            return a.promoted(rank) == b.promoted(rank)
        case Moment(), Moment() if a.datatype == b.datatype:
            return left == right or _order_of_moments(a, b) == 0
        case (Text(), Text()) if (a.language is None) == (b.language is None):
            return a == b
        case bool(), bool():
            return a == b
    if left == right:
        return True
    raise FilterError(f"{left} and {right} are of unlike types")


def compare(name: str, left: Term, right: Term) -> bool:
    """``<``, ``<=``, ``>`` or ``>=`` between two values of one kind."""
    if isinstance(left, Literal) and isinstance(right, Literal):
        a, b = _value(left), _value(right)
        match a, b:
            case Number(), Number():
                rank = max(a.rank, b.rank)
                return _ORDER[name](a.promoted(rank), b.promoted(rank))
            case (Text(), Text()) if a.language == b.language:
                return _ORDER[name](a.value, b.value)
            case bool(), bool():
                return _ORDER[name](a, b)
            case Moment(), Moment() if a.datatype == b.datatype:
                return _ORDER[name](_order_of_moments(a, b), 0)
    raise FilterError(f"{left} and {right} cannot be ordered")


def _order_of_moments(a: Moment, b: Moment) -> int:
    """-1, 0 or 1; an error where a missing time zone leaves it open."""
    difference = a.seconds - b.seconds
    if a.zoned != b.zoned and abs(difference) <= ZONES_APART:
        raise FilterError("one time has a zone and the other has none, and they are too close to tell")
    return (difference > 0) - (difference < 0)


def _apply(name: str, arguments: list[Term]) -> Term:
    if name in _ORDER:
        return boolean(compare(name, *arguments))
    if name in _ARITHMETIC:
        return _arithmetic(name, *arguments)
    if name == "=":
        return boolean(equal(*arguments))
    if name == "!=":
        return boolean(not equal(*arguments))
    if name == "not":
        return boolean(not truth(arguments[0]))
    if name == "negate":
        return _arithmetic("-", Literal(0), arguments[0])
    return FUNCTIONS[name].apply(*arguments)


def _arithmetic(name: str, left: Term, right: Term) -> Term:
    a, b = _number(left), _number(right)
    rank = max(a.rank, b.rank, Rank.DECIMAL if name == "/" else Rank.INTEGER)
    x, y = a.promoted(rank), b.promoted(rank)
    if rank >= Rank.FLOAT and name == "/" and y == 0:
        return number_literal(Number(rank, _divided_by_zero(float(x), float(y))))
    try:
        with localcontext(prec=60):
            return number_literal(Number(rank, Number(rank, _ARITHMETIC[name](x, y)).promoted(rank)))
    except (DivisionByZero, InvalidOperation, OverflowError, ValueError) as error:
        raise FilterError(f"{left} {name} {right}: {error}") from None


def _divided_by_zero(x: float, y: float) -> float:
    if x == 0 or x != x:
        return float("nan")
    return float("inf") if (x > 0) == (str(y)[0] != "-") else float("-inf")


_ARITHMETIC: dict[str, Callable[..., int | Decimal | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _number(term: Term) -> Number:
    found = _value(term) if isinstance(term, Literal) else None
    if not isinstance(found, Number):
        raise FilterError(f"{term} is not a number")
    return found


def _value(literal: Literal) -> Value | None:
    try:
        return value(literal)
    except NoValueError:
        return None


Evaluate = Callable[[Expression], Term]
Truth = Callable[[Term], bool]


def _and(evaluate_: Evaluate, truth_: Truth, arguments: tuple[Expression, ...]) -> Term:
    return boolean(not _any(evaluate_, truth_, arguments, wanted=False))


def _or(evaluate_: Evaluate, truth_: Truth, arguments: tuple[Expression, ...]) -> Term:
    return boolean(_any(evaluate_, truth_, arguments, wanted=True))


def _any(evaluate_: Evaluate, truth_: Truth, arguments: tuple[Expression, ...], wanted: bool) -> bool:
    """Whether some argument comes to ``wanted``; an error counts only if none does."""
    failure: FilterError | None = None
    for argument in arguments:
        try:
            if truth_(evaluate_(argument)) is wanted:
                return True
        except FilterError as error:
            failure = error
    if failure:
        raise failure
    return False


def _in(evaluate_: Evaluate, truth_: Truth, arguments: tuple[Expression, ...]) -> Term:
    needle, *hay = arguments
    return _or(evaluate_, truth_, tuple(Call("=", (needle, straw)) for straw in hay))


def _if(evaluate_: Evaluate, truth_: Truth, arguments: tuple[Expression, ...]) -> Term:
    condition, then, otherwise = arguments
    return evaluate_(then if truth_(evaluate_(condition)) else otherwise)


def _coalesce(evaluate_: Evaluate, truth_: Truth, arguments: tuple[Expression, ...]) -> Term:
    for argument in arguments:
        try:
            return evaluate_(argument)
        except FilterError:
            continue
    raise FilterError("coalesce: every argument is an error")


def _bound(evaluate_: Evaluate, truth_: Truth, arguments: tuple[Expression, ...]) -> Term:
    try:
        evaluate_(arguments[0])
    except FilterError:
        return boolean(False)
    return boolean(True)


_LAZY: dict[str, Callable[[Evaluate, Truth, tuple[Expression, ...]], Term]] = {
    "and": _and,
    "or": _or,
    "in": _in,
    "if": _if,
    "coalesce": _coalesce,
    "bound": _bound,
}


def _some(found: frozenset[Term], test: Expression, lookup: Lookup, values: Values, nearness: Nearness) -> bool:
    """Whether one of an attribute's values satisfies a test; an error if it has none."""
    if not found:
        raise FilterError("the attribute is missing")
    return any(holds(test, partial(value_or, term, lookup), values, nearness) for term in found)


def value_or(term: Term, lookup: Lookup, operand: Variable | Home | NamedNode) -> Term | None:
    """What an operand of an attribute's test stands for: the value, or what it stands for outside."""
    return term if operand == VALUE else lookup(operand)
