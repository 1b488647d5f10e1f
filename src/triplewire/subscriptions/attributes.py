"""Expressions over the home vertex's attributes, in plain English."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triplewire.subscriptions.pattern import VALUE, AttributeExists, AttributeTest, Call, Expression, Home
from triplewire.subscriptions.wording import Wording, listed, with_article


def conjuncts(filters: Iterable[Expression]) -> Iterator[Expression]:
    """The parts of filters that must each be true."""
    for expression in filters:
        if isinstance(expression, Call) and expression.name == "and":
            yield from conjuncts(expression.arguments)
        else:
            yield expression


def tests_attributes(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return any(map(tests_attributes, expression.arguments))
    return isinstance(expression, AttributeTest | AttributeExists)


def tells_of_event(expression: Expression) -> bool:
    """Whether an expression is about attributes, or about what the whole event is similar to."""
    if isinstance(expression, Call) and expression.name == "~":
        return isinstance(expression.arguments[0], Home)
    if isinstance(expression, Call):
        return any(map(tells_of_event, expression.arguments))
    return tests_attributes(expression)


def relative_clauses(filters: Iterable[Expression], words: Wording) -> Iterator[str]:
    """What filters over attributes say of events: *whose price is below 400*, *that have no discount*."""
    for expression in conjuncts(_normal(one) for one in filters):
        match expression:
            case AttributeExists(path):
                yield f"that have {with_article(words.path(path))}"
            case Call("not", (AttributeExists(path),)):
                yield f"that have no {words.path(path)}"
            case Call("~", (Home(), _, _)) | Call("not", (Call("~", (Home(), _, _)),)):
                yield f"that {_stated(expression, words).removeprefix('the event ').replace('is ', 'are ', 1)}"
            case Call("or", _):
                yield f"for which {_stated(expression, words)}"
            case _:
                yield f"whose {_stated(expression, words).removeprefix('the ')}"


def _normal(expression: Expression, wanted: bool = True) -> Expression:
    """An equal expression in which *not* stands before attributes alone, and tests of one attribute that are
    alternatives are one test."""
    match expression:
        case Call("not", (argument,)):
            return _normal(argument, not wanted)
        case Call("and" | "or" as name, arguments):
            parts = tuple(_normal(argument, wanted) for argument in arguments)
            if (name == "and") == wanted:
                return Call("and", parts)
            return _one_test(parts) or Call("or", parts)
    return expression if wanted else Call("not", (expression,))


def _one_test(parts: tuple[Expression, ...]) -> AttributeTest | None:
    tests = [part for part in parts if isinstance(part, AttributeTest)]
    if len(tests) < len(parts) or len({test.path for test in tests}) > 1:
        return None
    return AttributeTest(tests[0].path, Call("or", tuple(test.test for test in tests)))


def _stated(expression: Expression, words: Wording) -> str:
    """A whole clause: *the price is below 400*, *there is no discount*."""
    match expression:
        case Call("and", arguments):
            return f"both {listed(_stated(argument, words) for argument in arguments)}"
        case Call("or", arguments):
            return f"either {listed((_stated(argument, words) for argument in arguments), 'or')}"
        case AttributeExists(path):
            return f"there is {with_article(words.path(path))}"
        case Call("not", (AttributeExists(path),)):
            return f"there is no {words.path(path)}"
        case AttributeTest(path, test):
            return f"the {words.path(path)} {_verb(test, True, words)}"
        case Call("not", (AttributeTest(path, test),)):
            return f"the {words.path(path)} {_verb(test, False, words)}"
        case Call("~", (Home(), *rest)):
            return f"the event {_verb(Call('~', (VALUE, *rest)), True, words)}"
        case Call("not", (Call("~", (Home(), *rest)),)):
            return f"the event {_verb(Call('~', (VALUE, *rest)), False, words)}"
    return words.expression(expression)


def _verb(test: Expression, wanted: bool, words: Wording) -> str:
    said = words.predicate(test, VALUE)
    if said:
        return said.verb if wanted else said.negative
    return f"is {'' if wanted else 'not '}such that {words.expression(test).replace(str(VALUE), 'it')}"
