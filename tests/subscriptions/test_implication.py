"""Which test of a value implies which: tried on many values, in both directions."""

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from tests.worlds import LITERALS, NAMES
from triplewire.rdf.terms import XSD
from triplewire.subscriptions.implication import implies, is_true_of, never
from triplewire.subscriptions.normal import normal_filters
from triplewire.subscriptions.pattern import VALUE, Call
from triplewire.subscriptions.samples import samples

COMPARISONS = ["=", "!=", "<", "<=", ">", ">="]


def number(text, datatype="decimal"):
    return Literal(text, datatype=XSD[datatype])


FLOATS = ("0.1", "1", "2.5", "9007199254740992", "INF", "NaN")
NUMBERS = [
    *(number(text, "integer") for text in ("-1", "0", "1", "2", "3", "9007199254740993", "16777217")),
    *(number(text) for text in ("0.1", "0.5", "2.5", "0.1000000000000000055", "0.10000000149011612", "1.0000000001")),
    *(
        number(text, kind)
        for text in ("0.1", "1", "2.5", "9007199254740992", "INF", "NaN")
        for kind in ("double", "float")
    ),
    *(number(text, "float") for text in ("16777216", "16777218")),
]
ALPHABET = "abz"
TEXTS = [Literal("".join(letters)) for size in range(5) for letters in product(ALPHABET, repeat=size)]
TAGGED = [Literal(text, language=tag) for text in ("", "a", "ab", "b") for tag in ("en", "de")]
ODD = [Literal(text) for text in ("\0\0\0\0bab", "\0\0\0\0ba", "zzzzbab", "babz", "\0\0bab\0")]
DAYS = ("2019-12-31", "2020-01-01", "2020-01-01+14:00", "2020-01-02Z", "2020-01-03-11:00")
CLOCKS = ("00:00:00", "13:00:00", "00:00:00Z", "13:00:00Z")
MOMENTS = [literal for literal in LITERALS if literal.datatype in (XSD.dateTime, XSD.date, XSD.time)]
MOMENTS += [
    *(number(text, "date") for text in DAYS),
    *(
        number(f"2020-01-0{day}T{hour}:00:00{zone}", "dateTime")
        for day in "12"
        for hour in ("00", "13")
        for zone in ("", "Z")
    ),
    *(number(f"{hour}:00:00{zone}", "time") for hour in ("00", "07", "23") for zone in ("", "Z", "-09:30")),
]
ENGLISH = [Literal(text.value, language="en") for text in [*TEXTS, *ODD]]
ALL = [*NUMBERS, *TEXTS, *ODD, *ENGLISH, *TAGGED, *MOMENTS, *LITERALS, *NAMES, BlankNode("b"), NamedNode("urn:x")]


def drawn(rng: Random, constants):
    draw = rng.random()
    if draw < 0.75:
        return Call(rng.choice(COMPARISONS), (VALUE, rng.choice(constants)))
    if draw < 0.85:
        return Call("in", (VALUE, *rng.sample(constants, rng.choice([1, 2, 3]))))
    if draw < 0.95:
        return Call("strstarts", (VALUE, rng.choice(constants)))
    return Call(rng.choice(["and", "or"]), (drawn(rng, constants), Call("not", (drawn(rng, constants),))))


def normal(test):
    parts = normal_filters([test], lambda name: name, lambda property_: property_)
    return parts[0] if len(parts) == 1 else Call("and", tuple(parts))


POOLS = [NUMBERS, NUMBERS, TEXTS[:13], [*TEXTS[:4], *TAGGED], MOMENTS, [*NUMBERS[:6], *TEXTS[:4], *NAMES]]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_what_implies_is_refuted_by_no_value_and_what_does_not_by_some(seed):
    rng = Random(seed)
    constants = rng.sample(rng.choice(POOLS), 4)
    given_ = [drawn(rng, constants) for _ in range(rng.choice([1, 1, 2]))]
    wanted = drawn(rng, constants)
    answer = implies(tuple((normal(test), True) for test in given_), normal(wanted))
    tried = [*ALL, *samples(frozenset(constants))]
    against = [t for t in tried if not is_true_of(wanted, t) and all(is_true_of(test, t) for test in given_)]
    assert answer == (against == []), against


BETWEEN = (Call(">=", (VALUE, Literal("ab"))), Call("<", (VALUE, Literal("ac"))))
FUNCTIONS = ["contains", "strends", "strstarts", "=", "!=", "<", ">=", "<=", ">"]
SHORT = [Literal(text, language=tag) if tag else Literal(text) for text in ("", "a", "ba", "bab") for tag in ("", "en")]


@pytest.mark.parametrize("one", FUNCTIONS)
def test_between_two_tests_of_texts_the_answer_is_exact(one):
    true_of = {}
    for other, constant in product(FUNCTIONS, SHORT):
        test = Call(other, (VALUE, constant))
        true_of[test] = {term for term in ALL if is_true_of(test, term)}
    for other, constant, constant_2 in product(FUNCTIONS, SHORT, SHORT):
        given_, wanted = Call(one, (VALUE, constant)), Call(other, (VALUE, constant_2))
        assert implies(((given_, True),), wanted) is (true_of[given_] <= true_of[wanted]), (given_, wanted)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Call(">", (VALUE, Literal(3))), Call("!=", (VALUE, Literal(2)))),
        (Call("=", (VALUE, Literal(3))), Call("<", (VALUE, Literal(4)))),
        (Call("in", (VALUE, Literal(1), Literal(2))), Call("<", (VALUE, Literal(3)))),
        (Call("=", (VALUE, Literal("abc"))), Call("regex", (VALUE, Literal("^a.c$")))),
        (Call("in", (VALUE, Literal("ab"), Literal("b"))), Call("contains", (VALUE, Literal("b")))),
        (Call("and", BETWEEN), Call("contains", (VALUE, Literal("ab")))),
        (Call(">", (Call("number", (VALUE,)), Literal(3))), Call(">=", (Call("number", (VALUE,)), Literal(2)))),
        (Call("contains", (VALUE, Literal("a", language="en"))), Call("contains", (VALUE, Literal("a")))),
        (Call("regex", (VALUE, Literal("a"))), Call("isliteral", (VALUE,))),
    ],
)
def test_implications_of_note(one, other):
    assert implies(((one, True),), other)
    assert not implies(((other, True),), one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Call("<", (VALUE, Literal(3))), Call("<=", (VALUE, Literal(2)))),  # 2.5
        (Call("=", (VALUE, number("0.1"))), Call("<", (VALUE, number("0.1000000000001")))),  # as singles they are equal
        (Call(">", (Call("number", (VALUE,)), Literal(3))), Call(">", (VALUE, Literal(3)))),  # "4"
        (Call("!=", (VALUE, Literal(3))), Call("!=", (VALUE, Literal(3.0)))),  # a decimal that rounds to 3.0
    ],
)
def test_no_implications_of_note(one, other):
    assert not implies(((one, True),), other)


def test_contradictions_are_known():
    assert implies(tuple((Call(op, (VALUE, Literal(n))), True) for op, n in (("<", 3), (">", 5))), Literal(False))
    assert never(Call("contains", (VALUE, Literal(5))))
    assert never(Call("<", (VALUE, number("NaN", "double"))))
    assert never(Call("<", (VALUE, Literal(""))))
    assert implies(
        ((Call("contains", (VALUE, Literal("a"))), True), (Call("<", (VALUE, Literal(5))), True)), Literal(False)
    )
    assert not never(Call("contains", (VALUE, Literal(""))))
