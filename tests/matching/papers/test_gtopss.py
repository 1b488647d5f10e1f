"""The G-ToPSS matcher: equal to brute force, clean between events, and thrifty."""

import logging
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.papers.churn import check_churn
from tests.matching.papers.draws import gtopss
from tests.matching.test_vectors import VECTORS
from triplewire.concepts.load import model_of, read_ontology
from triplewire.errors import SubscriptionError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce, make_matcher
from triplewire.matching.papers.gtopss import GToPSS
from triplewire.subscriptions.languages import parse_subscription
from triplewire.testing import cloud_event

PREFIXES = {"ex": "http://example.org/"}
TURTLE = "@prefix ex: <http://example.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
ONTOLOGY = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <http://example.org/> .
ex:Paper rdfs:subClassOf ex:Publication . ex:a a ex:Paper . ex:b a ex:Paper . ex:c a ex:Dog ."""
SEEDED = st.integers(0, 2**32).map(Random)

MODEL = model_of(read_ontology(ONTOLOGY, "text/turtle", "test"))


def matcher(make=GToPSS, mapping="homomorphic", **patterns):
    made = make(MODEL)
    for id_, pattern in patterns.items():
        record = {"id": id_, "language": "gtopss", "pattern": pattern, "prefixes": PREFIXES, "mapping": mapping}
        made.add(parse_subscription(record, MODEL))
    return made


def event(turtle):
    return parse_event(cloud_event(TURTLE + turtle))


def ids(matches):
    return [match.subscription for match in matches]


@settings(max_examples=50, deadline=None)
@given(SEEDED)
def test_equals_brute_force_while_subscriptions_come_and_go(rng):
    check_churn(rng, GToPSS, gtopss)


def test_random_subscriptions_are_matched_and_not_only_missed():
    assert sum(check_churn(Random(seed), GToPSS, gtopss) for seed in range(20)) > 100


@pytest.mark.parametrize(
    "vector",
    [pytest.param(v, id=v.name) for v in VECTORS if v.language == "gtopss" and "matches" in v.expected],
)
def test_agrees_with_the_vector(vector):
    model = vector.model()
    made = make_matcher("gtopss", model)
    made.add(vector.subscription(model))
    assert made.match(vector.event(model), bindings=True) == vector.matches()


def test_half_a_match_is_forgotten_before_the_next_event():
    """The printed algorithm keeps edge counts of who fell short, and binding tables of everybody."""
    made = matcher(both=[["?x", "ex:p", "ex:b"], ["?x", "ex:q", "ex:c"]])
    first, second = event("ex:a ex:p ex:b ."), event("ex:a ex:q ex:c .")
    assert made.match(first) == made.match(second) == made.match(first) == []
    assert ids(made.match(event("ex:a ex:p ex:b ; ex:q ex:c ."))) == ["both"]
    assert made.match(event("ex:a ex:p ex:b . ex:d ex:q ex:c .")) == []


def test_an_arc_hits_no_edge_the_other_way_round():
    made = matcher(constants=[["ex:a", "ex:p", "ex:b"]], to=[["?x", "ex:p", "ex:b"]], of=[["ex:a", "ex:p", "?x"]])
    assert made.match(event("ex:b ex:p ex:a .")) == []
    assert made.work["hits"] == 0


def test_a_loop_is_asked_for_by_one_variable_twice():
    made = matcher(loop=[["?x", "ex:p", "?x"]], arc=[["?x", "ex:p", "?y"]])
    assert ids(made.match(event("ex:a ex:p ex:b ."))) == ["arc"]
    assert ids(made.match(event("ex:a ex:p ex:a ."))) == ["arc", "loop"]


def test_a_loop_of_three_parts_binds_one_variable():
    made = matcher(same=[["?x", "?x", "?x"]], subject=[["?x", "?x", "?y"]])
    assert ids(made.match(event("ex:p ex:p ex:a ."))) == ["subject"]
    assert ids(made.match(event("ex:p ex:p ex:p ."))) == ["same", "subject"]


def test_bags_and_sequences_are_arcs():
    made = matcher(first=[["?bag", "rdf:_1", "?x"]], any=[["?bag", "?place", "ex:b"], ["?bag", "rdf:type", "rdf:Bag"]])
    found = made.match(event("ex:bag a rdf:Bag ; rdf:_1 ex:a ; rdf:_2 ex:b ."), bindings=True)
    base = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    assert [match.bindings for match in found] == [
        ({"?bag": "<http://example.org/bag>", "?place": f"<{base}_2>"},),
        ({"?bag": "<http://example.org/bag>", "?x": "<http://example.org/a>"},),
    ]


def test_a_constraint_is_evaluated_once_for_a_node_however_many_ask():
    constraint = [["?y", "<=", "ex:Publication"]]
    patterns = {f"s{n}": [["?y", f"ex:p{n % 3}", "?z", constraint]] for n in range(30)}
    patterns |= {f"t{n}": [["?z", f"ex:p{n % 3}", "?y", [], constraint]] for n in range(30)}
    made = matcher(**patterns)
    made.match(event("ex:a ex:p0 ex:b ; ex:p1 ex:b ; ex:p2 ex:c . ex:b ex:p0 ex:c ."))
    assert made.work["constraints"] == 3


def test_overlapping_subscriptions_share_their_joins():
    chain = [["?x", "ex:p", "?y"], ["?y", "ex:q", "?z"]]
    longer = [["?b", "ex:q", "?c"], ["?a", "ex:p", "?b"], ["?c", "ex:r", "?d"]]
    made = matcher(**{f"s{n}": chain for n in range(10)}, **{f"t{n}": longer for n in range(10)})
    assert len(ids(made.match(event("ex:a ex:p ex:b . ex:b ex:q ex:c . ex:c ex:r ex:d .")))) == 20
    assert made.work["joins"] == 3


def test_stars_are_given_so_that_few_edges_are_new():
    """The second subscription names its variables in another order; the third has fewer of them."""
    made = matcher(
        one=[["?x", "ex:p", "ex:a"], ["?y", "ex:q", "ex:b"], ["?x", "ex:r", "?y"]],
        two=[["?a", "ex:q", "ex:b"], ["?b", "ex:r", "?a"], ["?b", "ex:p", "ex:a"]],
        three=[["?only", "ex:q", "ex:b"]],
    )
    assert len(list(made.graph)) == 3
    assert len(made.graph.stars) == 2


def test_stars_edges_and_joins_go_with_the_last_subscription_that_has_them():
    made = matcher(few=[["?x", "ex:p", "?y"]], many=[["?x", "ex:p", "?y"], ["?z", "ex:q", "?w"]])
    made.remove("many")
    assert (len(list(made.graph)), len(made.graph.stars)) == (1, 2)
    made.remove("few")
    assert (len(list(made.graph)), len(made.graph.stars)) == (0, 0)
    with pytest.raises(KeyError):
        made.remove("few")


def test_too_many_mappings_cost_those_that_have_them(caplog):
    wide = [["?a", "?p", "?b"], ["?c", "?q", "?d"], ["?e", "?r", "?f"]]
    both = matcher(wide=wide, good=[["?a", "ex:p", "?b"]])
    arcs = "\n".join(f"_:H ex:p {n} ." for n in range(100))
    with caplog.at_level(logging.WARNING):
        assert ids(both.match(event(arcs))) == ["good"]
    assert "more than 200,000 mappings for 'wide'" in caplog.text


@pytest.mark.parametrize(
    ("language", "pattern", "named"),
    [
        ("ops", "(_:H, ?1, (ex:A, ex:p, ex:B))", "class constraint"),
        ("sparql", "SELECT * { ?x ex:p ?y }", "gtopss matcher takes no"),
        ("filter", "ex:p < 4", "pattern without arcs"),
        ("interest", {"concepts": ["Paper"]}, "interest"),
    ],
)
def test_what_cannot_be_expressed_is_refused_by_name(language, pattern, named):
    record = {"id": "s", "language": language, "pattern": pattern, "prefixes": PREFIXES}
    with pytest.raises(SubscriptionError, match=named):
        GToPSS(MODEL).add(parse_subscription(record, MODEL))


def test_what_is_refused_leaves_the_subscription_it_would_have_replaced():
    made = matcher(s=[["?x", "ex:p", "?y"]])
    record = {"id": "s", "language": "filter", "pattern": "ex:p < 4", "prefixes": PREFIXES}
    with pytest.raises(SubscriptionError):
        made.add(parse_subscription(record, MODEL))
    assert ids(made.match(event("ex:a ex:p ex:b ."))) == ["s"]


def test_injective_subscriptions_need_different_resources():
    pattern = [["?x", "ex:p", "?y"], ["?x", "ex:q", "?z"]]
    turtle = "ex:a ex:p ex:b, 1 ; ex:q ex:b, 1 ."
    strict, brute = matcher(mapping="injective", s=pattern), matcher(BruteForce, "injective", s=pattern)
    assert strict.match(event(turtle), True) == brute.match(event(turtle), True)
    assert len(strict.match(event(turtle), True)[0].bindings) == 3
