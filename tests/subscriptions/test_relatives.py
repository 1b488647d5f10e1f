"""Who covers whom in a set: the quick look leaves out nothing that asking of every pair would find."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import worlds
from triplewire.concepts.model import ConceptModel
from triplewire.subscriptions import relatives as module
from triplewire.subscriptions.covering import covers
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.relatives import relatives

EX = {"ex": "http://example.org/"}


def filters(*texts):
    records = ({"id": text, "language": "filter", "pattern": text, "prefixes": EX} for text in texts)
    return [parse_subscription(record, ConceptModel()) for record in records]


def can_match(subscription, model):
    """Whether it is not covered by one with which it has nothing in common, as only the impossible is."""
    return not covers(*filters("exists ex:nowhere"), subscription, model)


def varied(rng, subscription, number):
    """A subscription with the same alternatives, or with a little more or less in them."""
    alternatives = [
        replace(a, pattern=replace(a.pattern, arcs=a.pattern.arcs[: rng.randint(0, 3)]))
        for a in subscription.alternatives
    ]
    if rng.random() < 0.5:
        more = worlds.pattern(rng)
        last = alternatives[-1].pattern
        joined = replace(
            last,
            arcs=last.arcs + more.arcs,
            classes=last.classes + more.classes,
            is_a=last.is_a + more.is_a,
            filters=last.filters + more.filters,
        )
        alternatives[-1] = replace(alternatives[-1], pattern=joined)
    return replace(subscription, id=str(number), alternatives=tuple(alternatives))


@settings(max_examples=80, deadline=None)
@given(st.randoms(use_true_random=False))
def test_nothing_is_left_out_that_asking_of_every_pair_finds(rng):
    model = worlds.model(rng)
    first = worlds.subscription(rng, "0")
    several = [first, *(varied(rng, first, n) for n in range(1, 5)), worlds.subscription(rng, "5")]
    several = [one for one in several if can_match(one, model)]
    found = relatives(several, model)
    for one, its in zip(several, found, strict=True):
        for other in several:
            if other.id != one.id and covers(one, other, model):
                assert other.id in (*its.equal, *its.covered)


def test_of_a_chain_each_knows_all_above_and_below():
    found = relatives(filters(*(f"ex:p < {n}" for n in (3, 1, 2))), ConceptModel())
    assert [one.covered for one in found] == [("ex:p < 1", "ex:p < 2"), (), ("ex:p < 1",)]
    assert [one.covering for one in found] == [(), ("ex:p < 3", "ex:p < 2"), ("ex:p < 3",)]


def test_equal_ones_are_told_as_such_and_neither_above_nor_below():
    found = relatives(filters("ex:p < 3 and ex:q = 1", "ex:q = 1.0 and ex:p < 3"), ConceptModel())
    assert [(one.equal, one.covered, one.covering) for one in found] == [
        (("ex:q = 1.0 and ex:p < 3",), (), ()),
        (("ex:p < 3 and ex:q = 1",), (), ()),
    ]


def test_few_pairs_are_asked_about(monkeypatch):
    asked = []

    def counted(one, other, model):
        asked.append((one.id, other.id))
        return covers(one, other, model)

    monkeypatch.setattr(module, "covers", counted)
    several = filters(*(f'ex:p{n % 10} < {n} and ex:name = "{n % 7}"' for n in range(140)))
    relatives(several, ConceptModel())
    assert len(asked) < 2 * len(several)
