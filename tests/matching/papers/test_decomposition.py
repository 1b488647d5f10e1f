"""Decomposition: sub-patterns are shared, joined over arcs, and gone with their last user."""

from random import Random

from tests.matching.papers.churn import check_churn
from tests.matching.papers.statements import event_around_home, statement_patterns
from triplewire.concepts.load import model_of
from triplewire.lift.cloudevents import parse_event
from triplewire.matching.papers.decomposition import Decomposition
from triplewire.subscriptions.languages import parse_subscription
from triplewire.testing import cloud_event

MODEL = model_of([])
EX = "http://example.org/"
CHAIN = "(_:H, ?a, (ex:A, ex:p, ex:B))(?a, ?b, (ex:B, ex:p, ex:A))(?b, ?c, (ex:A, ex:p, ex:B))"


def matcher(**patterns):
    made = Decomposition(MODEL)
    for id_, pattern in patterns.items():
        record = {"id": id_, "language": "ops", "pattern": pattern, "prefixes": {"ex": EX}}
        made.add(parse_subscription(record, MODEL))
    return made


def event(turtle):
    return parse_event(cloud_event(f"@prefix ex: <{EX}> .\n{turtle}"))


def test_a_pattern_that_differs_in_names_alone_adds_nothing():
    one = matcher(a=CHAIN)
    both = matcher(a=CHAIN, b=CHAIN.replace("?a", "?z").replace("?b", "?y"))
    assert len(both.patterns) == len(one.patterns)


def test_a_pattern_around_another_adds_one_vertex_and_one_join():
    inner, outer = CHAIN, CHAIN + "(?c, ?d, (ex:B, ex:q, ex:D))"
    assert len(matcher(inner=inner, outer=outer).patterns) == len(matcher(inner=inner).patterns) + 2


def test_every_sub_pattern_is_connected_and_ends_in_single_vertices():
    for pattern in matcher(a=CHAIN + "(?a, ?d, (ex:B, ex:r, ex:D))(?d, ?c, (ex:D, ex:r, ex:B))").patterns:
        assert (len(pattern.kinds) == 1) is (pattern.left is None)
        if pattern.right is not None:
            subject, _, object_ = pattern.between[0]
            assert (subject < len(pattern.left.kinds)) is not (object_ < len(pattern.left.kinds))


def test_removal_leaves_nothing_behind():
    def check(made):
        assert made.patterns or not made.subscriptions
        assert all(pattern.users for pattern in made.patterns)

    for seed in range(8):
        check_churn(Random(seed), Decomposition, statement_patterns, after=check, draw_event=event_around_home)


def test_embeddings_of_a_shared_part_are_found_once():
    one, many = matcher(a=CHAIN), matcher(**{f"s{n}": CHAIN for n in range(50)})
    told = event("_:H a ex:A; ex:p _:b . _:b a ex:B; ex:p _:c . _:c a ex:A; ex:p _:d, _:e . _:d a ex:B . _:e a ex:B .")
    assert len(one.match(told)) == 1
    assert len(many.match(told)) == 50
    assert one.work["embeddings"] == many.work["embeddings"]
