"""The covering forest beside brute force: 1,000 to 100,000 conjunctions of three to five predicates on 20 attributes.

Ten attributes are numbers up to 1,000, asked for by thresholds in tens, and ten are texts, asked for by equality with
one of 20 words or by a beginning. Some attributes are asked for much more often than others, as in life. An event has
them all. Both matchers must find the same.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode

from benchmarks.report import report
from triplewire.concepts.model import ConceptModel
from triplewire.matching import BruteForce, Matcher
from triplewire.matching.papers.forest import CoveringForest
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import VALUE, Alternative, AttributeTest, Call, Pattern, Subscription

T = TypeVar("T")

ATTRIBUTES = [NamedNode(f"http://example.org/a{n}") for n in range(20)]
OFTEN = [1 / (n + 1) for n in range(20)]
WORDS = [first + second + "x" for first in "abcde" for second in "klmn"]


def is_number(attribute: NamedNode) -> bool:
    return ATTRIBUTES.index(attribute) % 2 == 0


def subscription(rng: random.Random, number: int) -> Subscription:
    chosen: set[NamedNode] = set()
    wanted = rng.randint(3, 5)
    while len(chosen) < wanted:
        chosen.add(rng.choices(ATTRIBUTES, OFTEN)[0])
    tests = tuple(AttributeTest((attribute,), _test(rng, attribute)) for attribute in sorted(chosen, key=str))
    return Subscription(f"{number:06}", (Alternative(Pattern(filters=(Call("and", tests),))),))


def _test(rng: random.Random, attribute: NamedNode) -> Call:
    if is_number(attribute):
        return Call(rng.choice(["<", "<=", ">", ">="]), (VALUE, Literal(rng.randrange(0, 1001, 10))))
    word = rng.choice(WORDS)
    if rng.random() < 0.5:
        return Call("=", (VALUE, Literal(word)))
    return Call("strstarts", (VALUE, Literal(word[: rng.choice([1, 2])])))


def event(rng: random.Random, number: int) -> Event:
    home = BlankNode("H")
    values = {a: Literal(rng.randrange(1001)) if is_number(a) else Literal(rng.choice(WORDS)) for a in ATTRIBUTES}
    return Event("benchmark", f"e{number}", Graph([Triple(home, a, v) for a, v in values.items()], home))


def measure(subscriptions: int, events: int = 10) -> dict[str, object]:
    """A row of the table."""
    rng = random.Random(1)
    drawn = [subscription(rng, number) for number in range(subscriptions)]
    published = [event(rng, number) for number in range(events)]
    forest, brute = CoveringForest(ConceptModel()), BruteForce(ConceptModel())
    added, _ = _seconds(lambda: _add(forest, drawn))
    _add(brute, drawn)
    few = published[:2]
    slow, expected = _seconds(lambda: [brute.match(e) for e in few])
    assert [forest.match(e) for e in few] == expected
    forest.work.clear()
    quick, matches = _seconds(lambda: [forest.match(e) for e in published])
    roots = sum(1 for _ in forest.forest.top.children)
    return {
        "subscriptions": f"{subscriptions:,}",
        "µs to add one": f"{added / subscriptions * 1e6:.0f}",
        "trees": f"{roots:,}",
        "predicates": f"{forest.forest.index.in_use:,}",
        "ms an event": f"{quick / events * 1000:.2f}",
        "brute force, ms": f"{slow / len(few) * 1000:.0f}",
        "times faster": f"{slow / len(few) / (quick / events):.0f}",
        **{name: f"{forest.work[name] / events:,.0f}" for name in ("searches", "tests", "visited", "pruned")},
        "matches": f"{sum(map(len, matches)) / events:.1f}",
    }


def _seconds(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def _add(matcher: Matcher, subscriptions: Iterable[Subscription]) -> None:
    for one in subscriptions:
        matcher.add(one)


def main(sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> None:
    told = (
        "Conjunctions of 3 to 5 predicates on 20 attributes, pure Python. "
        "Times are the process's own; counts are per event."
    )
    report("forest", told, [measure(size) for size in sizes])


if __name__ == "__main__":
    main()
