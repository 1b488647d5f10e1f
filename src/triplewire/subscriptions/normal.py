"""Filters in normal form: written otherwise, true of the same mappings.

A filter has three outcomes, and an error is not false: ``not`` keeps it an error. Every step here keeps all three,
except that conjunctions at the top become several filters, where an error counts as false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import XSD, Term
from triplewire.rdf.values import NoValueError, Number, Rank, number_literal, value
from triplewire.subscriptions.evaluate import evaluate, truth
from triplewire.subscriptions.functions import FilterError
from triplewire.subscriptions.pattern import (
    VALUE,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Home,
    Variable,
    speaks_of_home,
)

Naming = Callable[[Variable], Variable]

TRUE, FALSE = Literal(True), Literal(False)
COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_COMMUTATIVE = frozenset(["and", "or", "=", "!=", "+", "*", "sameterm"])
_DUAL = {"and": "or", "or": "and"}


def normal_filters(
    filters: Iterable[Expression],
    name: Callable[[NamedNode], NamedNode],
    property_: Callable[[NamedNode], NamedNode],
) -> list[Expression]:
    """Filters that are all true where these are: no conjunction among them, none that is always true.

    ``name`` gives the name that stands for a constant, ``property_`` the one for a property on a path.
    """
    rewriting = _Rewriting(name, property_)
    found = [part for each in filters for part in _parts("and", rewriting.condition(each))]
    kept = list(dict.fromkeys(part for part in found if part != TRUE))
    return [FALSE] if FALSE in kept else kept


def _parts(connective: str, expression: Expression) -> tuple[Expression, ...]:
    if isinstance(expression, Call) and expression.name == connective:
        return expression.arguments
    return (expression,)


class _Rewriting:
    def __init__(self, name: Callable[[NamedNode], NamedNode], property_: Callable[[NamedNode], NamedNode]) -> None:
        self.name = name
        self.property = property_

    def condition(self, expression: Expression, negated: bool = False) -> Expression:
        """An expression of which only the truth counts, with negations moved inwards."""
        match expression:
            case Call("not", (inner,)):
                return self.condition(inner, not negated)
            case Call("and" | "or" as name, arguments):
                return _joined(_DUAL[name] if negated else name, [self.condition(a, negated) for a in arguments])
        plain = self.term(expression)
        if isinstance(plain, Literal):
            try:
                return Literal(truth(plain) is not negated)
            except FilterError:
                pass
        return _denied(plain) if negated else plain

    def term(self, expression: Expression) -> Expression:
        """An expression of which the value counts."""
        match expression:
            case NamedNode():
                return self.name(expression)
            case AttributeTest(path, test):
                return AttributeTest(tuple(map(self.property, path)), self.condition(test))
            case AttributeExists(path):
                return AttributeExists(tuple(map(self.property, path)))
            case Call("sparql", (own,)):
                return Call("sparql", (self._renamed(own),))
            case Call("~", (vertex, concept, Literal() as threshold)):
                return Call("~", (vertex, concept, _comparable(threshold)))
            case Call("and" | "or" | "not" as name, arguments):
                return Call(name, tuple(map(self.condition, arguments)))
            case Call(name, arguments):
                return _folded(_call(name, tuple(map(self.term, arguments))))
            case _:
                return expression

    def _renamed(self, expression: Expression) -> Expression:
        """An expression in another reading, in which only names may change."""
        match expression:
            case NamedNode():
                return self.name(expression)
            case Call(name, arguments):
                return Call(name, tuple(map(self._renamed, arguments)))
            case _:
                return expression


def _denied(condition: Expression) -> Expression:
    match condition:
        case Call("=" | "!=" as name, arguments):
            return Call("!=" if name == "=" else "=", arguments)
        case Call("in", (needle, *straws)) if not isinstance(needle, Call):
            return _joined("and", [_folded(_call("!=", (needle, straw))) for straw in straws])
        case _:
            return Call("not", (condition,))


def _joined(connective: str, conditions: list[Expression]) -> Expression:
    """A conjunction or disjunction without nesting, repetition, or parts that decide nothing."""
    neutral, deciding = (TRUE, FALSE) if connective == "and" else (FALSE, TRUE)
    parts = [part for condition in conditions for part in _parts(connective, condition) if part != neutral]
    if deciding in parts and not any(map(speaks_of_home, parts)):  # which an event must have, whatever the outcome
        return deciding
    if connective == "or":
        parts = list(_merged(parts))
    parts = list(dict.fromkeys(parts))
    if not parts:
        return neutral
    return parts[0] if len(parts) == 1 else Call(connective, tuple(parts))


def _merged(parts: list[Expression]) -> Iterator[Expression]:
    """Of a disjunction, the tests of one attribute made one, and the constants that one term may equal listed."""
    tests: dict[tuple[NamedNode, ...], list[Expression]] = {}
    listed: dict[Expression, list[Expression]] = {}
    for part in parts:
        match part:
            case AttributeTest(path, test):
                tests.setdefault(path, []).append(test)
            case Call("=" | "in", (needle, *straws)) if not _is_constant(needle) and all(map(_is_constant, straws)):
                listed.setdefault(needle, []).extend(straws)
            case _:
                yield part
    yield from (AttributeTest(path, _joined("or", conditions)) for path, conditions in tests.items())
    yield from (_call("in", (needle, *straws)) for needle, straws in listed.items())


def _call(name: str, arguments: tuple[Expression, ...]) -> Expression:
    """A call with comparisons turned so that a constant stands on the right, else ``<`` or ``<=`` is used."""
    if name == "in":
        needle, *straws = (_comparable(a) if isinstance(a, Literal) else a for a in arguments)
        distinct = dict.fromkeys(straws)
        return Call("in", (needle, *distinct)) if len(distinct) != 1 else _call("=", (needle, *distinct))
    if name not in COMPARISONS:
        return Call(name, arguments)
    left, right = (_comparable(a) if isinstance(a, Literal) else a for a in arguments)
    constant = _is_constant(left), _is_constant(right)
    turned = constant == (True, False) or (constant == (False, False) and name in (">", ">="))
    return Call(_TURNED[name], (right, left)) if turned else Call(name, (left, right))


def _comparable(literal: Literal) -> Literal:
    """A number or truth in its shortest writing: comparisons look at values alone.

    An integer and a decimal that are equal compare alike with everything; a double compares otherwise.
    """
    try:
        found = value(literal)
    except NoValueError:
        return literal
    if isinstance(found, bool):
        return Literal(found)
    if not isinstance(found, Number):
        return literal
    if isinstance(found.value, Decimal):
        if found.value == found.value.to_integral_value():
            return Literal(str(int(found.value)), datatype=XSD.integer)
        return Literal(f"{found.value:f}".rstrip("0"), datatype=XSD.decimal)
    return number_literal(Number(found.rank, found.value if found.rank is Rank.INTEGER else float(found.value)))


def _folded(expression: Expression) -> Expression:
    """What a call on literals alone comes to, if it comes to a literal."""
    if isinstance(expression, Call) and all(isinstance(a, Literal) for a in expression.arguments):
        try:
            found = evaluate(expression, _nothing, _no_values)
        except FilterError:
            return expression
        return found if isinstance(found, Literal) else expression
    return expression


def _nothing(_: Variable | Home | NamedNode) -> Term | None:
    return None


def _no_values(_: tuple[NamedNode, ...]) -> frozenset[Term]:
    return frozenset()


def _is_constant(expression: Expression) -> bool:
    return isinstance(expression, Literal | NamedNode)


def variables(expression: Expression) -> Iterator[Variable]:
    """The variables of an expression that a mapping binds, those inside attribute tests included."""
    match expression:
        case Variable():
            yield expression
        case Call(_, arguments):
            for argument in arguments:
                yield from variables(argument)
        case AttributeTest(_, test):
            yield from (variable for variable in variables(test) if variable != VALUE)


def ordered(expression: Expression, name: Naming) -> tuple[str, Expression]:
    """An expression under other names of variables, with what may stand in any order sorted; and its text."""
    match expression:
        case Variable():
            named = name(expression)
            return str(named), named
        case AttributeTest(path, test):
            text, inner = ordered(test, lambda variable: VALUE if variable == VALUE else name(variable))
            return f"[{' '.join(map(str, path))} {text}]", AttributeTest(path, inner)
        case AttributeExists(path):
            return f"[{' '.join(map(str, path))}]", expression
        case Call(function, arguments):
            parts = [ordered(argument, name) for argument in arguments]
            if function in _COMMUTATIVE and not (function in COMPARISONS and _is_constant(arguments[1])):
                parts.sort(key=_text)
            elif function == "in":
                parts[1:] = sorted(parts[1:], key=_text)
            text = f"({function} {' '.join([text for text, _ in parts])})"
            return text, Call(function, tuple([part for _, part in parts]))
        case _:
            return str(expression), expression


def _text(part: tuple[str, Expression]) -> str:
    return part[0]
