"""The covering forest: equal to brute force, every child covered by its parent, and no more work than is asked for."""

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from tests.matching.papers.churn import check_churn
from tests.matching.papers.draws import attributes, filters
from tests.matching.test_vectors import VECTORS
from triplewire.concepts.load import model_of, read_ontology
from triplewire.errors import SubscriptionError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce, make_matcher
from triplewire.matching.papers.forest import CoveringForest
from triplewire.matching.papers.forest.forest import Forest
from triplewire.matching.papers.forest.index import PredicateIndex
from triplewire.matching.papers.forest.predicates import MOST_CONJUNCTIONS, conjunctions
from triplewire.rdf.terms import XSD
from triplewire.subscriptions.implication import implies
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import (
    VALUE,
    Alternative,
    AttributeExists,
    AttributeTest,
    Call,
    Pattern,
    Subscription,
)
from triplewire.testing import cloud_event

SEEDED = st.integers(0, 2**32).map(Random)

MODEL = model_of([])
PREFIXES = {"": "http://example.org/", "ex": "http://example.org/"}


def subscription(id_, text):
    return parse_subscription({"id": id_, "language": "filter", "pattern": text, "prefixes": PREFIXES}, MODEL)


def matcher(**texts):
    made = CoveringForest(MODEL)
    for id_, text in texts.items():
        made.add(subscription(id_, text))
    return made


def event(attributes):
    return parse_event(cloud_event(f"@prefix : <http://example.org/> . _:H {attributes} ."))


def ids(matches):
    return [match.subscription for match in matches]


def check_forest(made):
    """Every node has its subscribers, and its parent covers it; an empty forest has forgotten every predicate."""
    forest = made.forest
    queue, seen = [forest.top], 0
    while queue:
        node = queue.pop()
        for child in node.children:
            assert child.parent is node
            assert child.subscribers
            assert forest.covers(node, child)
            queue.append(child)
            seen += 1
    assert seen == len(forest)
    assert seen or forest.index.in_use == 0


def outline(made):
    """The forest as nested dicts of subscribers."""

    def below(node):
        return {"+".join(sorted(child.subscribers)): below(child) for child in node.children}

    return below(made.forest.top)


@settings(max_examples=50, deadline=None)
@given(SEEDED)
def test_equals_brute_force_while_subscriptions_come_and_go(rng):
    check_churn(rng, CoveringForest, filters, check_forest, draw_event=attributes)


def test_random_subscriptions_are_matched_and_not_only_missed():
    assert (
        sum(
            check_churn(Random(seed), CoveringForest, filters, check_forest, draw_event=attributes)
            for seed in range(20)
        )
        > 100
    )


@settings(max_examples=100, deadline=None)
@given(SEEDED)
def test_what_covers_holds_wherever_the_covered_does(rng):
    """By brute force, on events made to tell: implication is about all values, rounded ones and moments included."""
    event_ = attributes(rng)
    brute, forest = BruteForce(MODEL), Forest(PredicateIndex({}))
    nodes = {}
    for id_ in (f"s{n}" for n in range(20)):
        drawn = filters(rng, id_, event_)
        brute.add(drawn)
        nodes[id_] = [forest.insert(c, id_) for c in conjunctions(drawn.alternatives[0].pattern.filters)]
    matched = set(ids(brute.match(event_)))
    for special in (nodes[id_][0] for id_ in matched if len(nodes[id_]) == 1):
        for general in (node for id_ in nodes.keys() - matched for node in nodes[id_]):
            assert not forest.covers(general, special)
    numbers = {number for of_one in nodes.values() for node in of_one for number in node.predicates}
    for number in numbers:
        assert {n for n in numbers if number in forest.index.implied([n])} == forest.index.implying(number) & numbers


@settings(max_examples=15, deadline=None)
@given(SEEDED)
def test_what_a_set_of_predicates_calls_weaker_is_implied(rng):
    index = PredicateIndex({})
    drawn = [filters(rng, "s", attributes(rng)).alternatives[0].pattern.filters for _ in range(12)]
    stated = {predicate for filters_ in drawn for conjunction in conjunctions(filters_) for predicate in conjunction}
    for number in [index.take(predicate) for predicate in sorted(stated, key=str) if not predicate.denied]:
        for weaker in index.implied([number]):
            known, wanted = index.predicates[number], index.predicates[weaker]
            assert known.path == wanted.path
            assert wanted.test is None or implies(((known.test, True),), wanted.test)


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(v, id=v.name)
        for v in VECTORS
        if v.language == "filter" and "matches" in v.expected and not v.asks_similarity
    ],
)
def test_agrees_with_the_vector(vector):
    model = vector.model()
    made = make_matcher("forest", model)
    made.add(vector.subscription(model))
    assert made.match(vector.event(model), bindings=True) == vector.matches()


@pytest.mark.parametrize("order", list(permutations(["wide", "middle", "narrow"])))
def test_the_forest_is_the_same_in_whatever_order_it_grew(order):
    texts = {"wide": "price < 400", "middle": "price < 300", "narrow": 'price < 300 and brand = "IBM"'}
    made = matcher(**{id_: texts[id_] for id_ in order})
    assert outline(made) == {"wide": {"middle": {"narrow": {}}}}


def test_the_children_of_a_removed_parent_go_to_its_own_parent():
    made = matcher(wide="price < 400", middle="price < 300", narrow="price < 200", other="price < 250 and weight > 3")
    made.remove("middle")
    assert outline(made) == {"wide": {"narrow": {}, "other": {}}}
    made.remove("wide")
    assert outline(made) == {"narrow": {}, "other": {}}
    assert ids(made.match(event(":price 150 ; :weight 4"))) == ["narrow", "other"]


def test_equal_conjunctions_are_one_node():
    made = matcher(a='brand = "IBM" and price < 4', b='price < 4 and brand = "IBM"', c="price < 4")
    assert outline(made) == {"c": {"a+b": {}}}


def test_a_failed_parent_prunes_its_tree():
    made = matcher(wide="price < 400", **{f"s{n}": f"price < {n} and weight > {n}" for n in range(1, 50)})
    assert made.match(event(":price 500 ; :weight 10")) == []
    assert made.work["pruned"] == 50
    assert made.work["searches"] == 1


def test_a_set_of_predicates_is_searched_at_most_once_for_an_event():
    texts = {f"s{n}": f'price < {n} and price > {-n} and brand = "b{n % 7}"' for n in range(200)}
    made = matcher(**texts)
    for _ in range(3):
        made.work.clear()
        made.match(event(':price 100 ; :brand "b3", "b4"'))
        assert made.work["searches"] == 3
        assert made.work["tests"] < 3 * 200 / 4


def test_a_set_that_nobody_asks_for_is_not_searched():
    made = matcher(**{f"s{n}": f'brand = "b{n}" and price < {n}' for n in range(50)})
    made.match(event(':brand "other" ; :price 3'))
    assert made.work["searches"] == 1


def test_nothing_known_of_an_event_is_left_for_the_next():
    made = matcher(cheap="price < 400", dear="not (price < 400)", none="not exists price")
    assert [ids(made.match(event(a))) for a in (":price 1", ":price 500", ":weight 1", ":price 1")] == [
        ["cheap"],
        ["dear"],
        ["none"],
        ["cheap"],
    ]


def test_a_test_that_fails_costs_those_that_have_it_and_is_told_of(caplog):
    path = (NamedNode("http://example.org/price"),)
    bad = AttributeTest(path, Call("nobody-knows-this", (VALUE,)))
    made = matcher(good="price < 400")
    for id_, filter_ in {"bad": bad, "worse": Call("not", (bad,))}.items():
        made.add(Subscription(id_, (Alternative(Pattern(filters=(filter_,))),)))
    assert ids(made.match(event(":price 1"))) == ["good"]
    assert "nobody-knows-this" in caplog.text


def test_numbers_that_rounding_makes_equal_are_told_apart_where_they_differ():
    """2**24 and 2**24 + 1 are one float. A float that is at most the first is not less than the second."""
    made = matcher(most="size <= 16777216", less="size < 16777217")
    assert len(outline(made)) == 2
    floats = event(':size "16777216"^^<http://www.w3.org/2001/XMLSchema#float>')
    assert ids(made.match(floats)) == ["most"]


def test_numbers_of_unlike_types_are_searched_apart():
    """16777217 is at most the float 16777216, to which it is rounded, and more than the integer."""
    float_ = Literal("16777216", datatype=XSD.float)
    made = CoveringForest(MODEL)
    for id_, constant in {"float": float_, "integer": Literal(16777216)}.items():
        test = AttributeTest((NamedNode("http://example.org/size"),), Call("<=", (VALUE, constant)))
        made.add(Subscription(id_, (Alternative(Pattern(filters=(test,))),)))
    assert ids(made.match(event(":size 16777217"))) == ["float"]


def test_a_name_is_equal_to_whatever_the_model_declares_the_same():
    same = "<http://example.org/ibm> <http://www.w3.org/2002/07/owl#sameAs> <http://example.org/bigBlue> ."
    model = model_of(read_ontology(same, "text/turtle", "test"))
    made = CoveringForest(model)
    for id_, text in {"one": "maker = ex:ibm", "some": "maker in (ex:dell, ex:bigBlue)"}.items():
        record = {"id": id_, "language": "filter", "pattern": text, "prefixes": PREFIXES}
        made.add(parse_subscription(record, model))
    assert ids(made.match(event(":maker :bigBlue"))) == ids(made.match(event(":maker :ibm"))) == ["one", "some"]


@pytest.mark.parametrize(
    ("language", "pattern", "named"),
    [
        ("ops", "(_:H, ?1, (ex:A, ex:p, ex:B))", "takes no arc"),
        ("gtopss", [["?x", "ex:p", "?y"]], "takes no arc"),
        ("sparql", "ASK { ?x ex:p ?y }", "forest matcher takes no"),
    ],
)
def test_what_cannot_be_expressed_is_refused_by_name(language, pattern, named):
    record = {"id": "s", "language": language, "pattern": pattern, "prefixes": PREFIXES}
    with pytest.raises(SubscriptionError, match=named):
        CoveringForest(MODEL).add(parse_subscription(record, MODEL))


def test_a_filter_that_comes_to_too_many_conjunctions_is_refused_by_name():
    text = " and ".join(f"(a{n} < 1 or b{n} < 1)" for n in range(7))
    with pytest.raises(SubscriptionError, match=f"more than {MOST_CONJUNCTIONS} conjunctions"):
        matcher(s=text)


def test_a_condition_that_is_no_attribute_s_is_refused_by_name():
    path = (NamedNode("http://example.org/p"),)
    odd = Call("if", (AttributeExists(path), AttributeTest(path, Literal(True)), Literal(False)))
    with pytest.raises(SubscriptionError, match="no if outside an attribute's test"):
        CoveringForest(MODEL).add(Subscription("s", (Alternative(Pattern(filters=(odd,))),)))
