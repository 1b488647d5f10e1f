"""What brute force owes to everybody: one subscription's trouble is its own."""

import logging

from triplewire.concepts.load import model_of
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce, brute
from triplewire.matching.matcher import MOST_BINDINGS
from triplewire.subscriptions.languages import parse_subscription
from triplewire.testing import cloud_event

MODEL = model_of([])


def matcher(**patterns):
    made = BruteForce(MODEL)
    for id_, (language, pattern) in patterns.items():
        record = {"id": id_, "language": language, "pattern": pattern, "prefixes": {"ex": "http://example.org/"}}
        made.add(parse_subscription(record, MODEL))
    return made


def star(arcs):
    return parse_event(cloud_event("\n".join(f"_:H <http://example.org/p> {n} ." for n in range(arcs))))


def test_a_subscription_that_fails_costs_itself_and_is_told_of(monkeypatch, caplog):
    def failing(subscription, *rest, **options):
        if subscription.id == "bad":
            raise ArithmeticError("nobody thought of this")
        return brute.Found(1.0, [], ())

    monkeypatch.setattr(brute, "match_one", failing)
    both = matcher(bad=("filter", "ex:p = 1"), good=("filter", "ex:p = 1"))
    with caplog.at_level(logging.ERROR):
        assert [match.subscription for match in both.match(star(1))] == ["good"]
    assert "'bad' cannot be tried on event" in caplog.text


def test_a_pattern_that_leaves_too_much_open_is_given_up_on_and_the_others_go_on(caplog):
    wide = [["?a", "?p", "?b"], ["?c", "?q", "?d"], ["?e", "?r", "?f"]]
    both = matcher(wide=("gtopss", wide), good=("filter", "ex:p = 1"))
    assert [match.subscription for match in both.match(star(100))] == ["good"]
    assert "more than 200,000 mappings" in caplog.text


def test_of_very_many_bindings_the_first_are_told():
    two = matcher(
        two=("gtopss", [["?a", "ex:p", "?b"], ["?c", "ex:p", "?d"]]), query=("sparql", "SELECT * {?a ?b ?c. ?d ?e ?f}")
    )
    found = {m.subscription: m.bindings for m in two.match(star(120), bindings=True)}
    assert {len(bindings) for bindings in found.values()} == {MOST_BINDINGS}


def test_a_number_of_thousands_of_digits_is_no_number():
    event = parse_event(cloud_event(f"_:H <http://example.org/p> {'9' * 5000} ."))
    assert matcher(few=("filter", "ex:p < 400"), any=("filter", "exists ex:p")).match(event)[0].subscription == "any"
