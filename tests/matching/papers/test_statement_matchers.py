"""The matchers of statement patterns: equal to brute force, and clear about what they cannot take."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.matching.papers.churn import check_churn
from tests.matching.papers.statements import event_around_home, statement_patterns
from tests.matching.test_vectors import VECTORS
from triplewire.cli.app import app
from triplewire.concepts.load import model_of
from triplewire.errors import SubscriptionError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce, make_matcher
from triplewire.matching.papers import eventgraph
from triplewire.rdf.terms import XSD
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    ClassConstraint,
    Pattern,
    Scope,
    Subscription,
    Variable,
)
from triplewire.testing import cloud_event

MATCHERS = ["ops", "decomposition"]
ROOT = Path(__file__).parents[3]
AUCTION = ROOT / "examples" / "auction"
MODEL = model_of([])
EX = "http://example.org/"
X, Y = Variable("x"), Variable("y")
ARC = Arc(HOME, XSD.p, X, Scope.RELATIONS)


def churn(rng, name, steps):
    return check_churn(
        rng, lambda model: make_matcher(name, model), statement_patterns, steps=steps, draw_event=event_around_home
    )


each_matcher = pytest.mark.parametrize("name", MATCHERS)


@each_matcher
@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_equals_brute_force_while_subscriptions_come_and_go(name, rng):
    churn(rng, name, steps=4)


@each_matcher
def test_random_subscriptions_are_matched_and_not_only_missed(name):
    assert sum(churn(Random(seed), name, steps=12) for seed in range(20)) > 200


@each_matcher
@pytest.mark.parametrize("vector", [pytest.param(v, id=v.name) for v in VECTORS if "matches" in v.expected])
def test_agrees_with_the_vector_or_refuses_by_name(name, vector):
    model = vector.model()
    made = make_matcher(name, model)
    subscription = vector.subscription(model)
    if vector.language == "ops" and not vector.asks_similarity:
        made.add(subscription)
        assert made.match(vector.event(model), bindings=True) == vector.matches()
    else:
        with pytest.raises(SubscriptionError, match=f"^the {name} matcher takes no "):
            made.add(subscription)


@each_matcher
@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (Pattern(arcs=(Arc(HOME, Y, X, Scope.RELATIONS),)), r"property variables: _:H –\?y→ \?x"),
        (Pattern(arcs=(Arc(HOME, XSD.p, X),)), "arcs with the scope 'closed'"),
        (Pattern(arcs=(Arc(HOME, XSD.p, X, Scope.ASSERTED),)), "arcs with the scope 'asserted'"),
        (Pattern(arcs=(Arc(X, XSD.p, HOME, Scope.RELATIONS),)), "pattern in which no arc leaves the home vertex"),
        (Pattern(arcs=(ARC, Arc(Y, XSD.p, X, Scope.RELATIONS))), r"no path from the home vertex leads to: \?y"),
        (Pattern(arcs=(ARC,), classes=(ClassConstraint(Y, XSD.C),)), r"no path from the home vertex leads to: \?y"),
    ],
)
def test_what_it_cannot_express_is_refused_by_name(name, pattern, named):
    with pytest.raises(SubscriptionError, match=f"^the {name} matcher takes no .*{named}"):
        make_matcher(name, MODEL).add(Subscription("s", (Alternative(pattern),)))


@each_matcher
def test_alternatives_are_refused(name):
    alternative = Alternative(Pattern(arcs=(ARC,)))
    with pytest.raises(SubscriptionError, match="takes no alternatives"):
        make_matcher(name, MODEL).add(Subscription("s", (alternative, alternative)))


@each_matcher
def test_a_refused_subscription_leaves_the_one_with_its_id_alone(name):
    made = make_matcher(name, MODEL)
    made.add(Subscription("s", (Alternative(Pattern(arcs=(Arc(HOME, XSD.p, X, Scope.RELATIONS),))),)))
    with pytest.raises(SubscriptionError):
        made.add(Subscription("s", (Alternative(Pattern(arcs=(Arc(HOME, Y, X, Scope.RELATIONS),))),)))
    assert len(made.match(parse_event(cloud_event(f"_:H <{XSD.p.value}> 1 .")))) == 1


@each_matcher
def test_an_unknown_id_cannot_be_removed(name):
    with pytest.raises(KeyError):
        make_matcher(name, MODEL).remove("nobody")


@each_matcher
def test_a_long_chain_is_followed_to_its_end(name):
    chain = [HOME, *(Variable(str(n)) for n in range(300))]
    arcs = tuple(Arc(a, XSD.p, b, Scope.RELATIONS) for a, b in pairwise(chain))
    nodes = ["_:H", *(f"_:n{n}" for n in range(400))]
    event = parse_event(cloud_event("\n".join(f"{a} <{XSD.p.value}> {b} ." for a, b in pairwise(nodes))))
    made, brute = make_matcher(name, MODEL), BruteForce(MODEL)
    for matcher in (made, brute):
        matcher.add(Subscription("chain", (Alternative(Pattern(arcs=arcs, mapping="injective")),)))
    assert made.match(event, bindings=True) == brute.match(event, bindings=True) != []


@each_matcher
def test_a_pattern_with_too_many_mappings_is_given_up_on_and_the_others_go_on(name, caplog):
    wide = "\n".join(f"(_:H, ?{n}, (rdfs:Resource, ex:p, rdfs:Resource))" for n in range(4))
    made = make_matcher(name, MODEL)
    for id_, pattern in (("wide", wide), ("good", "(_:H, 1, (rdfs:Resource, ex:p, xsd:integer))")):
        made.add(parse_subscription({"id": id_, "language": "ops", "pattern": pattern, "prefixes": {"ex": EX}}, MODEL))
    event = parse_event(cloud_event("\n".join(f"_:H <{EX}p> {n} ." for n in range(100))))
    assert [match.subscription for match in made.match(event)] == ["good"]
    assert "more than 200,000" in caplog.text


@each_matcher
def test_a_filter_that_fails_costs_its_subscription_and_is_told_of(name, monkeypatch, caplog):
    def failing(expression, *rest):
        if expression.name == "<":
            raise ArithmeticError("nobody thought of this")
        return True

    monkeypatch.setattr(eventgraph, "holds", failing)
    made = make_matcher(name, MODEL)
    for id_, operator in (("bad", "<"), ("good", ">")):
        pattern = f"(_:H, ?1, (rdfs:Resource, ex:p, xsd:integer), ?1 {operator} 1)"
        made.add(parse_subscription({"id": id_, "language": "ops", "pattern": pattern, "prefixes": {"ex": EX}}, MODEL))
    assert [match.subscription for match in made.match(parse_event(cloud_event(f"_:H <{EX}p> 2 .")))] == ["good"]
    assert "cannot be evaluated" in caplog.text


@each_matcher
def test_the_auction_comes_out_as_with_brute_force(name):
    assert auction(name, "--bindings") == auction("brute", "--bindings")


@each_matcher
def test_the_command_line_tells_what_a_matcher_refuses(name, tmp_path):
    subscriptions = tmp_path / "subscriptions.ndjson"
    record = {"id": "f", "language": "filter", "pattern": "ex:p = 1", "prefixes": {"ex": EX}}
    subscriptions.write_text(json.dumps(record) + "\n")
    status, _, told = auction(name, subscriptions=subscriptions)
    refusal = json.loads(told.splitlines()[0])
    assert status == 3
    assert refusal["subscription"] == "f"
    assert refusal["message"].startswith(f"the {name} matcher takes no tests of attributes")


def auction(matcher, *options, subscriptions=AUCTION / "subscriptions.ndjson"):
    inputs = ["--ontology", AUCTION / "ontology.ttl", "--subscriptions", subscriptions]
    inputs += ["--events", AUCTION / "events.ndjson", "--matcher", matcher, *options]
    done = CliRunner().invoke(app, ["match", *map(str, inputs)])
    return done.exit_code, done.stdout, done.stderr
