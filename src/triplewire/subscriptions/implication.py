"""Whether one test of a value implies another, whatever the value.

A test is an expression over ``VALUE`` and constants, in normal form. The answer is exact where all tests compare with
constants or ask for the beginning of a text: a term that tells them apart would be among the samples. For the end and
the parts of a text it is exact between two single tests; elsewhere *no* may mean that we cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import prod
from typing import TypeAlias, TypeGuard

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import Term
from triplewire.rdf.values import NoValueError, Number, Text, is_numeric_type, value
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.normal import COMPARISONS, FALSE
from triplewire.subscriptions.pattern import VALUE, Call, Expression, Home, Variable, asks_similarity
from triplewire.subscriptions.samples import TooManySamplesError, samples

Test: TypeAlias = tuple[Expression, bool]
"""An expression, and whether it is true of the value, or else is not (false, or an error)."""

MOST_TRIALS = 50_000
MOST_CONSTANTS = 256
MOST_CASES = 64
"""What takes more than this is not told."""
_LARGE = 2**31
_KINDS = frozenset(["isiri", "isblank", "isliteral", "isnumeric"])
_NUMBER = Call("number", (VALUE,))


def is_true_of(test: Expression, term: Term) -> bool:
    """Whether a test is true of a term."""

    def lookup(operand: Variable | Home | NamedNode) -> Term | None:
        return term if operand == VALUE else operand if isinstance(operand, NamedNode) else None

    return holds(test, lookup, lambda _: frozenset())


def are_met(given: Iterable[Test], term: Term) -> bool:
    """Whether a term may be one of which the given tests are true, or not, as they say.

    What a term is similar to only an event can tell.
    """
    return all(is_true_of(test, term) is holds_ for test, holds_ in given if not asks_similarity(test))


@lru_cache(maxsize=65_536)
def implies(given: tuple[Test, ...], wanted: Expression) -> bool:
    """Whether a test is true of every value of which the given ones are true, or not, as they say."""
    if (wanted, True) in given:
        return True
    for place, (test, holds_) in enumerate(given):
        if holds_ and isinstance(test, Call) and test.name == "and":
            parts = tuple((part, True) for part in test.arguments)
            return implies((*given[:place], *parts, *given[place + 1 :]), wanted)
    if any(holds_ and never(test) for test, holds_ in given):
        return True
    if is_comparing(wanted) and _by_samples(given, wanted):
        return True
    if isinstance(wanted, Call):
        if wanted.name == "and":
            return all(implies(given, part) for part in wanted.arguments)
        if wanted.name == "or" and any(implies(given, part) for part in wanted.arguments):
            return True
    return _by_text(given, wanted) or _by_nearness(given, wanted) or _by_cases(given, wanted)


def are_possible(tests: tuple[Expression, ...]) -> bool:
    """Whether some value may pass all the tests."""
    return have_example(tests) or not implies(tuple((test, True) for test in tests), FALSE)


def have_example(tests: tuple[Expression, ...]) -> bool:
    """Whether a constant of the tests, or a number next to one, passes them all: as a rule one does."""
    near = (term for test in tests for constant in _constants(test) for term in _next_to(constant))
    return any(all(is_true_of(test, term) for test in tests) for term in near)


def _next_to(constant: Term) -> Iterator[Term]:
    yield constant
    try:
        known = value(constant) if isinstance(constant, Literal) else None
    except NoValueError:
        return
    if isinstance(known, Number):
        yield from (Literal(int(known.value) + step) for step in (-1, 1) if -_LARGE < known.value < _LARGE)


@lru_cache(maxsize=65_536)
def never(test: Expression) -> bool:
    """Whether a test is true of no value at all."""
    match test:
        case Call("and", arguments):
            return implies(tuple((part, True) for part in arguments), FALSE)
        case Call("contains" | "strstarts" | "strends" | "regex", (operand, Literal() as constant, *_)) if (
            operand == VALUE
        ):
            return _text(constant) is None
    return is_comparing(test) and _by_samples(((test, True),), FALSE)


def is_comparing(test: Expression) -> bool:
    """Whether a test does no more than compare with constants, ask for a text's beginning, or for a kind of term."""
    match test:
        case Literal():
            return True
        case Call("and" | "or" | "not", arguments):
            return all(map(is_comparing, arguments))
        case Call(name, (operand, *constants)) if name in COMPARISONS or name == "in":
            if operand == _NUMBER:
                return all(isinstance(c, Literal) and is_numeric_type(c.datatype) for c in constants)
            return operand == VALUE and all(isinstance(c, Literal | NamedNode) for c in constants)
        case Call("strstarts", (operand, Literal() | NamedNode())):
            return operand == VALUE
        case Call(name, (operand,)) if name in _KINDS:
            return operand == VALUE
        case _:
            return False


def _by_samples(given: tuple[Test, ...], wanted: Expression) -> bool:
    """Whether no sample speaks against it."""
    tests = [weaker for test, holds_ in given for weaker in _weaker(test, holds_)]
    constants = frozenset(c for test in [*(t for t, _ in tests), wanted] for c in _constants(test))
    reads_texts = any(_reads_texts(test) for test in [*(t for t, _ in tests), wanted])
    if reads_texts and any(isinstance(c, Literal) and _text(c) is not None for c in constants):
        return False
    if len(constants) > MOST_CONSTANTS:
        return False
    try:
        terms = samples(constants, _ending(tests))
    except TooManySamplesError:
        return False
    if len(terms) * (len(constants) + 1) > MOST_TRIALS:
        return False
    return all(
        is_true_of(wanted, term) for term in terms if all(is_true_of(test, term) is holds_ for test, holds_ in tests)
    )


def _weaker(test: Expression, holds_: bool) -> Iterator[Test]:
    """What samples can tell of a test: all of it, or as much as that the value is a text."""
    match test:
        case Call("contains" | "strends", (operand, Literal())) if holds_ and operand == VALUE:
            yield test, True
        case Call("regex", (operand, Literal(), *_)) if holds_ and operand == VALUE:
            yield Call("strstarts", (VALUE, Literal(""))), True
        case _ if is_comparing(test):
            yield test, holds_


def _ending(tests: list[Test]) -> str:
    """An ending that has every part and end that is asked for, if there is one at all."""
    asked: dict[str, list[str]] = {"contains": [], "strends": []}
    for test, _ in tests:
        if isinstance(test, Call) and test.name in asked and isinstance(test.arguments[1], Literal):
            asked[test.name].append(test.arguments[1].value)
    return "".join([*asked["contains"], *sorted(asked["strends"], key=len)[-1:]])


def _constants(test: Expression) -> Iterator[Term]:
    match test:
        case Literal() | NamedNode():
            yield test
        case Call(_, arguments):
            for argument in arguments:
                yield from _constants(argument)


def _reads_texts(test: Expression) -> bool:
    return test == _NUMBER or (isinstance(test, Call) and any(map(_reads_texts, test.arguments)))


def _by_text(given: tuple[Test, ...], wanted: Expression) -> bool:
    """What one text tells of another: a beginning, an end or a part of it has parts, an end has ends."""
    match wanted:
        case Call("contains" | "strends" as name, (operand, Literal() as constant)) if operand == VALUE:
            part = _text(constant)
        case _:
            return False
    if part is None:
        return False
    if part.value == "":
        return _by_samples(given, Call("strstarts", (VALUE, constant)))
    for test, holds_ in given:
        match test:
            case Call(function, (operand, Literal() as other)) if holds_ and operand == VALUE:
                whole = _text(other)
                if whole is None or part.language not in (None, whole.language):
                    continue
                if function == "strends" and whole.value.endswith(part.value):
                    return True
                if name == "contains" and function in ("strends", "contains") and part.value in whole.value:
                    return True
    return name == "contains" and any(
        _by_samples(given, Call("strstarts", (VALUE, beginning))) for beginning in _beginnings(given, part)
    )


def _by_nearness(given: tuple[Test, ...], wanted: Expression) -> bool:
    """Whether less similarity to a concept is asked for than is given; or where it is denied, more."""
    match wanted:
        case Call("~", (*what, Literal() as threshold)):
            told = (test for test, holds_ in given if holds_)
            return any(least >= float(threshold.value) for least in _thresholds(told, what))
        case Call("not", (Call("~", (*what, Literal() as threshold)),)):
            denied = (test.arguments[0] for test, holds_ in given if holds_ and _denies(test))
            return any(most <= float(threshold.value) for most in _thresholds(denied, what))
        case _:
            return False


def _denies(test: Expression) -> TypeGuard[Call]:
    return isinstance(test, Call) and test.name == "not"


def _thresholds(tests: Iterable[Expression], what: list[Expression]) -> Iterator[float]:
    """The thresholds with which some tests ask for similarity of the same to the same."""
    for test in tests:
        match test:
            case Call("~", (*own, Literal() as threshold)) if own == what:
                yield float(threshold.value)


def _beginnings(given: tuple[Test, ...], part: Text) -> Iterator[Literal]:
    """Of each constant text, as much as is needed to hold a part."""
    for test, _ in given:
        for constant in _constants(test):
            text = _text(constant) if isinstance(constant, Literal) else None
            if text is not None and part.value in text.value:
                beginning = text.value[: text.value.index(part.value) + len(part.value)]
                yield Literal(beginning, language=part.language) if part.language else Literal(beginning)


def _by_cases(given: tuple[Test, ...], wanted: Expression) -> bool:
    """Whether it holds of each of the few terms that one of the given tests is true of, or in each of its cases."""
    if prod(len(t.arguments) for t, _ in given if isinstance(t, Call) and t.name in ("or", "in")) > MOST_CASES:
        return False
    for place, (test, holds_) in enumerate(given):
        match test:
            case Call("or", cases) if holds_:
                return all(implies(_replaced(given, place, case), wanted) for case in cases)
            case Call("in", (operand, *constants)) if holds_:
                return all(implies(_replaced(given, place, Call("=", (operand, c))), wanted) for c in constants)
            case Call("=", (operand, NamedNode() | Literal() as term)) if holds_ and operand == VALUE:
                if isinstance(term, Literal) and _text(term) is not None:
                    met = are_met(given, term)
                    return not met or is_true_of(wanted, term)
    return False


def _replaced(given: tuple[Test, ...], place: int, test: Expression) -> tuple[Test, ...]:
    return (*given[:place], (test, True), *given[place + 1 :])


def _text(literal: Literal) -> Text | None:
    try:
        found = value(literal)
    except NoValueError:
        return None
    return found if isinstance(found, Text) else None
