"""Conjunctions of predicates on attributes, as OncePubSub matches them; a chosen share is covered by others."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import VALUE, Alternative, AttributeTest, Call, Pattern, Subscription

ATTRIBUTES = [NamedNode(f"http://example.org/a{n}") for n in range(20)]
"""Those with an even number have numbers from 0 to 1,000 as values, the others words."""
OFTEN = [1 / (n + 1) for n in range(20)]
"""How often an attribute is asked for, beside the others."""
WORDS = [first + second + "x" for first in "abcde" for second in "klmn"]
HIGHEST = 1_000

Tests = dict[NamedNode, tuple[str, int | str]]
"""An operator and its operand for each attribute that is asked for."""


@dataclass(frozen=True)
class Workload:
    """Subscriptions of three to five predicates, and events with a value for every attribute.

    subscriptions: how many there are.
    covering: the covering degree, the share of subscriptions that are drawn from an earlier one, any of them, by
        making a predicate narrower or by adding one, so that the earlier one covers them. Others are drawn
        independently, and covered by chance only.
    events: how many events there are.
    """

    subscriptions: int = 10_000
    covering: float = 0.0
    events: int = 10
    seed: int = 1

    def drawn(self) -> list[Subscription]:
        """The subscriptions."""
        rng = Random(f"{self.seed} subscriptions")
        found: list[Tests] = []
        for _ in range(self.subscriptions):
            covered = found and rng.random() < self.covering
            found.append(_narrower(rng, rng.choice(found)) if covered else _tests(rng))
        return [_subscription(f"{number:06}", tests) for number, tests in enumerate(found)]

    def published(self) -> list[Event]:
        """The events."""
        rng = Random(f"{self.seed} events")
        return [event(rng, number) for number in range(self.events)]


def is_number(attribute: NamedNode) -> bool:
    """Whether an attribute's values are numbers."""
    return ATTRIBUTES.index(attribute) % 2 == 0


def subscription(rng: Random, number: int) -> Subscription:
    """One that is drawn independently of others."""
    return _subscription(f"{number:06}", _tests(rng))


def _tests(rng: Random) -> Tests:
    tests: Tests = {}
    wanted = rng.randint(3, 5)
    while len(tests) < wanted:
        attribute = rng.choices(ATTRIBUTES, OFTEN)[0]
        tests.setdefault(attribute, _test(rng, attribute))
    return tests


def _test(rng: Random, attribute: NamedNode) -> tuple[str, int | str]:
    if is_number(attribute):
        return rng.choice(["<", "<=", ">", ">="]), rng.randrange(0, HIGHEST + 1, 10)
    word = rng.choice(WORDS)
    return ("=", word) if rng.random() < 0.5 else ("strstarts", word[: rng.choice([1, 2])])


def _narrower(rng: Random, tests: Tests) -> Tests:
    """Tests that hold only where the given ones do."""
    attribute = rng.choice(list(tests))
    match tests[attribute]:
        case (("<" | "<=") as operator, int(bound)) if bound > 10:
            return tests | {attribute: (operator, rng.randrange(10, bound))}
        case ((">" | ">=") as operator, int(bound)) if bound < HIGHEST - 10:
            return tests | {attribute: (operator, rng.randrange(bound + 1, HIGHEST))}
        case ("strstarts", str(start)):
            return tests | {attribute: ("=", rng.choice([word for word in WORDS if word.startswith(start)]))}
    more = rng.choice([other for other in ATTRIBUTES if other not in tests] or [attribute])
    return {more: _test(rng, more)} | tests


def _subscription(id_: str, tests: Tests) -> Subscription:
    parts = tuple(
        AttributeTest((attribute,), Call(operator, (VALUE, Literal(operand))))
        for attribute, (operator, operand) in sorted(tests.items(), key=lambda item: item[0].value)
    )
    return Subscription(id_, (Alternative(Pattern(filters=(Call("and", parts),))),))


def event(rng: Random, number: int) -> Event:
    """One with a value for every attribute."""
    home = BlankNode("H")
    values = {a: Literal(rng.randrange(HIGHEST + 1) if is_number(a) else rng.choice(WORDS)) for a in ATTRIBUTES}
    return Event("benchmark", f"e{number}", Graph([Triple(home, a, v) for a, v in values.items()], home))
