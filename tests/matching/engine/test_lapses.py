"""A subscription that would take too long is given up, on the same events in every way of matching, and is told."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import worlds
from tests.matching.engine.test_batch import batch_of
from tests.matching.engine.test_shards import built
from triplewire.concepts.model import ConceptModel
from triplewire.matching import BruteForce, residual
from triplewire.matching.engine import verify
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.shards import ShardedIndex
from triplewire.matching.lines import match_or_lapse
from triplewire.matching.matcher import Match
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import read_graph
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription

MODEL = ConceptModel()
PRODUCT = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l ."
QUERIES = {
    "all": f"SELECT * {{ {PRODUCT} }}",
    "any": f"ASK {{ {PRODUCT} }}",
    "counts": f"SELECT (COUNT(*) AS ?n) {{ {PRODUCT} }}",
    "few": 'SELECT ?x { ?x <urn:p3> ?y FILTER(?y > 2) OPTIONAL { ?x <urn:p4> ?z } MINUS { ?x <urn:p9> "none" } }',
    "makes": f"CONSTRUCT {{ ?a ?b ?l }} {{ {PRODUCT} }}",
    "never": f"SELECT * {{ {PRODUCT} FILTER(?c = ?j) }}",
    "one": "ASK { ?x <urn:p3> 3 }",
    "or": f"SELECT * {{ {{ {PRODUCT} FILTER(?c = ?j) }} UNION {{ ?a <urn:p3> ?c }} }}",
    "residual": f"SELECT * {{ {PRODUCT} FILTER NOT EXISTS {{ ?a ?b ?j }} }}",
    "star": "SELECT * { ?x ?a 1 . ?x ?b ?c . ?x ?d ?e . ?x ?f ?g . ?x ?i ?j FILTER NOT EXISTS { ?c ?h ?e } }",
}


def subscription(id_: str) -> Subscription:
    return parse_subscription({"id": id_, "language": "sparql", "pattern": QUERIES[id_]}, MODEL)


def event(*numbers: int) -> Event:
    text = "".join(f"_:H <urn:p{number}> {number} . " for number in numbers)
    return Event("source", "e", read_graph(text, "text/turtle", "_:H"))


def told(index: Index | ShardedIndex, given: Event, bindings: bool, batched: bool) -> tuple[list[Match], list[str]]:
    if not batched:
        matches, lapses = index.match_or_lapse(given, bindings)
        return matches, [lapse.subscription for lapse in lapses]
    found = index.match_batch(batch_of([given]), bindings)
    assert not found.refused
    ids, scores = found.subscriptions.to_pylist(), found.scores.tolist()
    matches = found.matches or [Match(given.id, id_, score) for id_, score in zip(ids, scores, strict=True)]
    assert all(number == 0 for number, _ in found.lapses)
    return matches, [lapse.subscription for _, lapse in found.lapses]


def test_every_way_of_matching_gives_up_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "MOST_STEPS", 300)
    monkeypatch.setattr(residual, "MOST_ROWS", 300)
    subscriptions = [subscription(id_) for id_ in QUERIES]
    added = Index(MODEL)
    for one in reversed(subscriptions):
        added.add(one)
    Index.build(subscriptions, MODEL).save(tmp_path / "index")
    ways = [added, Index.build(subscriptions, MODEL), Index.open(tmp_path / "index")]
    ways = [*ways, Index.build([subscription("never")], MODEL), built(subscriptions, MODEL, 3, tmp_path / "shards")]
    expected = {}
    for bindings in (False, True):
        matches, lapses = ways[0].match_or_lapse(event(*range(7)), bindings)
        expected[bindings] = {one.subscription: one for one in matches}, {one.subscription for one in lapses}
        assert set(expected[bindings][0]) == {"all", "any", "counts", "few", "makes", "one", "or"}
        assert expected[bindings][1] == {"never", "residual", "star"}
    for way in ways:
        ids = set(QUERIES) if len(way) > 1 else {"never"}
        for numbers in (range(7), reversed(range(7))):  # the same event, read in another order
            given = event(*numbers)
            for bindings, batched in ((False, False), (False, True), (True, False), (True, True)):
                matches, lapses = told(way, given, bindings, batched)
                assert matches == [expected[bindings][0][id_] for id_ in sorted(ids & set(expected[bindings][0]))]
                assert lapses == sorted(ids & expected[bindings][1])
    rows = expected[True][0]["all"].bindings
    assert rows is not None and 0 < len(rows) <= 300  # those that were found in time
    assert expected[True][0]["makes"].graph == ()


@given(st.integers(0, 2**32), st.sampled_from([3, 20, 100]))
@settings(max_examples=30, deadline=None)
def test_what_is_not_given_up_is_right(seed: int, steps: int) -> None:
    rng = Random(seed)
    model = worlds.model(rng)
    drawn = [worlds.subscription(rng, f"s{number}") for number in range(6)]
    index, brute = Index.build(drawn, model), BruteForce(model)
    for one in drawn:
        brute.add(one)
    for _ in range(3):
        given = Event("source", "e", worlds.graph(rng))
        right = {match.subscription for match in brute.match(given)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verify, "MOST_STEPS", steps)
            for bindings in (False, True):
                matches, lapses = match_or_lapse(index, given, bindings)
                found, given_up = {one.subscription for one in matches}, {one.subscription for one in lapses}
                assert found <= right <= found | given_up


def test_no_more_steps_are_taken_than_are_allowed() -> None:
    index = Index.build([subscription("never")], MODEL)
    matches, [lapse] = index.match_or_lapse(event(*range(200)), bindings=True)
    assert not matches
    assert lapse.reason == "no mapping was found in 50,000 steps"
    assert index.work["filters evaluated"] <= 50_000
    assert index.work["given up"] == 1


def test_many_things_of_one_kind_are_no_reason_to_give_up() -> None:
    """What is told of two hundred things is joined thing by thing, not with what is told of the others."""
    text = "".join(
        f"<urn:x{n}> <urn:name> 'n{n}' ; <urn:price> {n} ; <urn:of> <urn:shop> ; <urn:kind> <urn:k{n % 5}> . "
        for n in range(200)
    )
    query = """SELECT ?n { ?x <urn:of> <urn:shop> . ?x <urn:price> ?p . ?x <urn:name> ?n . ?x <urn:kind> ?k
                OPTIONAL { ?x <urn:old> ?old } MINUS { ?x <urn:kind> <urn:k1> } FILTER(STRLEN(STR(?n)) > 3) }"""
    one = parse_subscription({"id": "s", "language": "sparql", "pattern": query}, MODEL)
    given = Event("source", "e", Graph(read_graph(text, "text/turtle").arcs, None))
    [match], lapses = Index.build([one], MODEL).match_or_lapse(given, bindings=True)
    assert not lapses
    assert match.bindings is not None and len(match.bindings) == 80


CHAIN = "".join(f"<urn:n{n}> <urn:p> <urn:n{n + 1}> . " for n in range(40))
NEVER = "FILTER NOT EXISTS { ?q <urn:p> ?r }"
OPEN = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l"
ABSENT = "?a <urn:no> ?d . ?g <urn:no> ?j"
WIDE = {
    "ways": f"ASK {{ ?a <urn:p>* ?b . ?c <urn:p>+ ?d . ?e (<urn:p>/<urn:p>|^<urn:p>)* ?f {NEVER} }}",
    "alternatives": f"ASK {{ ?a (<urn:p>|<urn:p>+) ?b . ?c (<urn:p>|<urn:p>+) ?d . ?e <urn:p>+ ?f {NEVER} }}",
    "rows": "ASK {{ ?x <urn:p> ?y {} {} }}".format(
        " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(30)))} }}" for n in range(5)), NEVER
    ),
    "not needed": f"ASK {{ {OPEN} {NEVER} OPTIONAL {{ {ABSENT} }} }}",
    "not there": f"ASK {{ {OPEN} {NEVER} MINUS {{ {ABSENT} }} }}",
    "aside": "ASK { <urn:n1> <urn:p> ?y MINUS { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?y } }",
    "within": f"ASK {{ ?x <urn:p> ?y {{ SELECT ?a {{ {OPEN} }} }} {NEVER} }}",
}
NARROW = {
    "up": "ASK { ?x <urn:p>* <urn:n40> . ?x <urn:p>+ ?y . ?y <urn:p> ?z FILTER NOT EXISTS { ?z <urn:no> ?x } }",
    "either": "ASK { { ?x <urn:p> ?y } UNION { ?x <urn:no> ?y } UNION { ?y <urn:p> ?x } MINUS { ?x <urn:no> ?y } }",
    "perhaps": "ASK { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?a } OPTIONAL { ?x <urn:r> ?b } MINUS { ?x <urn:no> ?y } }",
}


@pytest.mark.parametrize(("queries", "given_up"), [(WIDE, True), (NARROW, False)])
def test_a_query_is_given_up_if_and_only_if_it_may_be_too_wide(queries: dict[str, str], given_up: bool) -> None:
    """Whatever makes rows counts: ways of any length, VALUES, and triples that what need not be there seems to join."""
    given = Event("source", "e", Graph(read_graph(CHAIN, "text/turtle").arcs, None))
    for name, query in queries.items():
        one = parse_subscription({"id": name, "language": "sparql", "pattern": query}, MODEL)
        matches, lapses = Index.build([one], MODEL).match_or_lapse(given)
        assert [lapse.subscription for lapse in lapses] == [name] * given_up
        assert [match.subscription for match in matches] == [name] * (not given_up)
