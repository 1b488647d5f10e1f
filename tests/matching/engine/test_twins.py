"""Patterns that ask for many things of one kind: matched as the definition says, without lining them up in all ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.matching.engine.encoded_worlds import Vocabulary, closed, encoded, some_ranges, some_relations
from tests.matching.engine.naive import agrees
from triplewire.concepts.model import ConceptModel
from triplewire.matching import BruteForce
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvent, Ranges, offsets_of
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.kernels.batch import SMALL
from triplewire.matching.engine.kernels.plan import SPARE
from triplewire.matching.engine.trie import PATIENCE, Scratch, build_trie, match
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import read_graph
from triplewire.subscriptions.languages import parse_subscription

WORDS = Vocabulary(labels=4, properties=3, ranges=3, domains=1, bounds=2)
Drawn = tuple[list[list[int]], list[tuple[int, int, int]], bool]


def family(rng: Random, sizes: range, most: int, labels: int, whole: float) -> Drawn:
    """Home, and copies of a small tree that hang by it or by one more vertex, some with parts that are missing."""
    middle = int(rng.random() < 0.3)
    vertices: list[list[int]] = [[HOME_LABEL], *([[]] * middle)]
    arcs = {(0, 2, end) for end in range(1, len(vertices))}
    while len(vertices) < most:
        root, size = rng.randint(0, middle), rng.choice([1, 1, 2, 3])
        own = [[rng.randrange(1, labels)] if rng.random() < 0.4 else [] for _ in range(size)]
        hung = [(rng.randrange(node), rng.randrange(2), rng.random() < 0.8) for node in range(1, size)]
        first = rng.randrange(2), rng.random() < 0.8
        common = rng.random() < 0.2
        for _ in range(rng.choice(sizes)):
            here = len(vertices)
            if here + size > most:
                return vertices, sorted(arcs), rng.random() < 0.8
            vertices += [list(labels_) if rng.random() < whole else [] for labels_ in own]
            for end, (start, name, outward) in enumerate([(root - here, *first), *hung]):
                if rng.random() < whole:
                    arcs.add((here + start, name, here + end) if outward else (here + end, name, here + start))
            if common and middle > root:
                arcs.add((here, 2, 1))
    return vertices, sorted(arcs), rng.random() < 0.8


def event_of(rng: Random, most: int) -> EncodedEvent:
    vertices, arcs, _ = family(rng, range(1, 6), most, WORDS.labels, 0.9)
    rows = [sorted({*row, *rng.sample([1, 2, 3], rng.choice([0, 1, 1, 2]))}) for row in vertices]
    return event(rows, arcs, np.array([rng.randint(-1, 4) for _ in rows]), np.array([rng.random() < 0.8 for _ in rows]))


def event(
    rows: list[list[int]],
    arcs: list[tuple[int, int, int]],
    ranks: np.ndarray | None = None,
    resource: np.ndarray | None = None,
) -> EncodedEvent:
    return EncodedEvent(
        offsets_of(map(len, rows)),
        np.array([label for row in rows for label in row], np.int32),
        (np.zeros(len(rows)) if ranks is None else ranks).astype(np.int32).reshape(1, -1),
        np.array(sorted(arcs), np.int32).reshape(-1, 3),
        np.ones(len(rows), np.bool_) if resource is None else resource,
    )


def tried(rng: Random, hierarchy: bool) -> int:
    """Try a trie of such patterns; tell how many of its steps want others beside."""
    drawn = [family(rng, range(1, 5), rng.randint(2, 7), WORDS.labels + WORDS.ranges, 0.95) for _ in range(15)]
    patterns = encoded(drawn, some_ranges(rng, WORDS))
    relations = some_relations(rng, WORDS) if hierarchy else None
    trie = build_trie(patterns, relations)
    scratch = Scratch(trie)
    for _ in range(6):
        given = event_of(rng, 8)
        if relations is not None:
            given = closed(given, relations)
        assert agrees(trie, patterns, given, scratch)
    return int((trie.checks & 0xFFFFFF == SPARE).sum())


@pytest.mark.parametrize("hierarchy", [False, True])
def test_twins_are_found_where_the_definition_finds_them(hierarchy: bool) -> None:
    assert sum(tried(Random(seed), hierarchy) for seed in range(60)) > 100


Case = Callable[[int], tuple[Drawn, EncodedEvent]]


def things(number: int, parts: int, inward: bool = False) -> tuple[list[list[int]], list[tuple[int, int, int]]]:
    """Home and as many things of label 1, each with some parts."""
    roots = [1 + thing * (1 + parts) for thing in range(number)]
    arcs = [(root, 0, 0) if inward else (0, 0, root) for root in roots]
    arcs += [(root, part, root + part) for root in roots for part in range(1, 1 + parts)]
    return [[HOME_LABEL], *([[1], *([[]] * parts)] * number)], arcs


def one_too_few(parts: int, inward: bool = False, others: int = 0) -> Case:
    """As many things as are asked but for one; others are not of their label, or have no parts."""

    def case(number: int) -> tuple[Drawn, EncodedEvent]:
        rows, arcs = things(number - 1, parts, inward)
        for other in range(others):
            arcs.append((len(rows), 0, 0) if inward else (0, 0, len(rows)))
            rows.append([1] if parts and other % 2 else [])
        return (*things(number, parts, inward), True), event(rows, arcs)

    return case


CASES = {
    "leaves": one_too_few(0),
    "leaves among others": one_too_few(0, others=10),
    "arcs to home": one_too_few(0, inward=True),
    "with parts": one_too_few(2),
    "with parts among others": one_too_few(2, others=8),
}


@pytest.mark.parametrize("small", [SMALL, 0], ids=["masks", "lists"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_one_thing_too_few_is_seen_at_once(case: Case, small: int) -> None:
    nothing = np.zeros(0, np.int32)
    for number in range(4, 15):
        drawn, given = case(number)
        trie = build_trie(encoded([drawn], Ranges(2, nothing, nothing, nothing)))
        scratch = Scratch(trie)
        scratch.small = small
        assert not len(match(trie, given, scratch))
        assert scratch.visits <= 3


@pytest.mark.parametrize("small", [SMALL, 0], ids=["masks", "lists"])
@pytest.mark.parametrize("injective", [True, False])
@pytest.mark.parametrize("shared", [1, 3, 40])
def test_what_does_not_depend_on_others_is_not_tried_again_with_each_of_them(
    injective: bool, shared: int, small: int
) -> None:
    """Home has several values of many properties, and what is asked of the last is nowhere: alone, or by many."""
    nothing = np.zeros(0, np.int32)
    properties, values = 15, 3
    rows = [[HOME_LABEL], *([[]] * properties * values), [1]]
    arcs = [(0, name, 1 + name * values + value) for name in range(properties) for value in range(values)]
    given = event(rows, [*arcs, (0, properties, len(rows) - 1), (len(rows) - 1, properties, 1)])
    asked = [(0, name, 1 + name) for name in range(properties + 1)]
    drawn = [
        ([[HOME_LABEL], *([[]] * (properties + 1)), [label]], [*asked, (1 + properties, properties, 2 + properties)])
        for label in range(2, 2 + shared)
    ]
    trie = build_trie(encoded([(*one, injective) for one in drawn], Ranges(99, nothing, nothing, nothing)))
    scratch = Scratch(trie)
    scratch.small = small
    assert not len(match(trie, given, scratch))
    assert scratch.visits <= PATIENCE + 10_000


MODEL = ConceptModel()
ORDERS = {
    n: "".join(f"(_:H, ?{i}, (rdfs:Resource, <urn:item>, rdfs:Resource))\n" for i in range(n)) for n in range(1, 6)
}
PRICED = {
    n: ORDERS[n] + "".join(f"(?{i}, ?p{i}, (rdfs:Resource, <urn:price>, rdfs:Resource))\n" for i in range(n))
    for n in range(1, 5)
}


def test_bindings_of_twins_are_told_in_all_their_orders_however_the_index_came_to_be(tmp_path: Path) -> None:
    texts = {f"{kind}{n}": text for kind, texts in (("o", ORDERS), ("p", PRICED)) for n, text in texts.items()}
    prefixes = {"rdfs": "http://www.w3.org/2000/01/rdf-schema#"}
    subscriptions = [
        parse_subscription({"id": id_, "language": "ops", "pattern": text, "prefixes": prefixes}, MODEL)
        for id_, text in texts.items()
    ]
    brute = BruteForce(MODEL)
    for one in subscriptions:
        brute.add(one)
    built = Index.build(subscriptions, MODEL)
    added = Index.build(subscriptions[::2], MODEL)
    for one in subscriptions[1::2]:
        added.add(one)
    added.merge()
    built.save(tmp_path / "index")
    for items in range(1, 6):
        text = "".join(f"_:H <urn:item> _:i{n} . _:i{n} <urn:price> {n % 2} . " for n in range(items))
        given = Event("source", "e", read_graph(text, "text/turtle", "_:H"))
        expected = brute.match(given, bindings=True)
        assert [one.subscription for one in expected] == sorted(id_ for id_ in texts if int(id_[1:]) <= items)
        for index in (built, added, Index.open(tmp_path / "index")):
            assert index.match(given, bindings=True) == expected
            assert index.match(given) == brute.match(given)
