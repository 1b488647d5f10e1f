"""What the trie cannot decide is verified on candidates alone, and nothing is found out twice."""

from __future__ import annotations

from random import Random

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.matching import BruteForce
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import XSD, Term, Triple
from triplewire.subscriptions.pattern import (
    VALUE,
    Alternative,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Pattern,
    Subscription,
)

MODEL = ConceptModel()
PRICE, NAME = (NamedNode(f"http://example.org/{name}") for name in ("price", "name"))


def subscription(number: int, filter_: Expression) -> Subscription:
    return Subscription(f"s{number:06}", (Alternative(Pattern(filters=(filter_,))),))


def event(*values: tuple[NamedNode, Term]) -> Event:
    home = BlankNode("H")
    return Event("test", "e", Graph([Triple(home, name, value) for name, value in values], home))


def test_a_regular_expression_that_many_subscriptions_share_is_evaluated_once_for_an_event() -> None:
    def wanted(number: int) -> Expression:
        regex = Call("regex", (VALUE, Literal("^ab+c$")))
        return Call(
            "and", (AttributeTest((PRICE,), Call("<", (VALUE, Literal(number)))), AttributeTest((NAME,), regex))
        )

    index = Index.build((subscription(number, wanted(number)) for number in range(1_000)), MODEL)
    index.work.clear()
    assert index.match(event((PRICE, Literal(500)), (NAME, Literal("xyz")))) == []
    assert index.work["candidates verified"] == 0  # as it does not begin with an a
    assert index.match(event((PRICE, Literal(500)), (NAME, Literal("abz")))) == []
    assert index.work["candidates verified"] == 499
    assert index.work["filters evaluated"] == 1
    index.work.clear()
    assert len(index.match(event((PRICE, Literal(990)), (NAME, Literal("abbc"))))) == 9
    assert index.work["filters evaluated"] == 1 + 9
    index.work.clear()
    assert index.match(event((PRICE, Literal(500)), (NAME, Literal(7)))) == []
    assert index.work["candidates verified"] == index.work["filters evaluated"] == 0


def test_the_trie_decides_by_itself_which_values_are_unlike_a_constant() -> None:
    tests = [(PRICE, Literal(5)), (NAME, Literal("x"))]
    unlike = [AttributeTest((path,), Call("!=", (VALUE, constant))) for path, constant in tests]
    index = Index.build(map(subscription, range(2), unlike), MODEL)
    nan, name = Literal("NaN", datatype=XSD.double), NamedNode("http://example.org/x")
    for price, found in [(Literal(4), 1), (Literal(5.5), 1), (Literal(5), 0), (nan, 1), (name, 1), (Literal("4"), 0)]:
        assert len(index.match(event((PRICE, price)))) == found
    for text, found in [(Literal("y"), 1), (Literal("x"), 0), (nan, 0), (name, 1), (Literal("x", language="en"), 0)]:
        assert len(index.match(event((NAME, text)))) == found
    assert index.work["candidates verified"] == 0
    read_from_the_right = AttributeTest((PRICE,), Call("!=", (Literal(5), VALUE)))
    flipped = Index.build([subscription(0, read_from_the_right)], MODEL)
    assert [len(flipped.match(event((PRICE, price)))) for price in (Literal(4), Literal(5), nan)] == [1, 0, 1]
    assert flipped.work["candidates verified"] == 0
    both = Index.build([subscription(0, Call("and", tuple(unlike)))], MODEL)
    assert both.match(event((PRICE, Literal(4)))) == []
    assert both.work["candidates verified"] == 0


VALUES = [
    Literal(1), Literal(2), Literal("1.0", datatype=XSD.decimal), Literal("NaN", datatype=XSD.double),
    Literal("1", datatype=XSD.float), Literal("a"), Literal("ab"), Literal("b"), Literal("a", language="en"),
    Literal("b", language="en"), Literal("a", language="de"), Literal(True), Literal(False), NamedNode("http://e/x"),
    Literal("2020-01-01T00:00:00Z", datatype=XSD.dateTime), Literal("2020-01-02T00:00:00", datatype=XSD.dateTime),
    Literal("?", datatype=NamedNode("http://e/own")), Literal("x", datatype=XSD.integer), BlankNode("b"),
]  # fmt: skip


def some_filter(rng: Random, depth: int) -> Expression:
    if depth > 0 and rng.random() < 0.6:
        name = rng.choice(["and", "and", "or", "not"])
        count = 1 if name == "not" else rng.randint(2, 3)
        return Call(name, tuple(some_filter(rng, depth - 1) for _ in range(count)))
    path = (rng.choice([PRICE, NAME]),)
    if rng.random() < 0.1:
        return AttributeExists(path)
    operator = rng.choice(["=", "!=", "!=", "<", ">=", "strstarts", "strends", "contains", "regex", "sameterm"])
    operands = (
        ["a", "b", "^a", "^ab*", "^a+b", "^ab|^b", "^b?a", "^a{0}b", "^(a|b)"] if operator == "regex" else ["a", "b"]
    )
    operand = rng.choice(operands) if operator in ("strstarts", "strends", "contains", "regex") else None
    constant = Literal(operand) if operand else rng.choice([v for v in VALUES if not isinstance(v, BlankNode)])
    return AttributeTest(path, Call(operator, (VALUE, constant)))


@pytest.mark.parametrize("seed", range(5))
def test_filters_of_all_kinds_are_decided_as_by_brute_force(seed: int) -> None:
    rng = Random(seed)
    subscriptions = [subscription(number, some_filter(rng, 2)) for number in range(150)]
    index, brute = Index.build(subscriptions, MODEL), BruteForce(MODEL)
    for one in subscriptions:
        brute.add(one)
    for _ in range(20):
        published = event(*((rng.choice([PRICE, NAME]), rng.choice(VALUES)) for _ in range(rng.randint(1, 4))))
        assert index.match(published) == brute.match(published)
