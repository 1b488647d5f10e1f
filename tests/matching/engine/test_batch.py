"""A batch of N-Quads finds what its events find one by one."""

from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal

from tests import worlds
from triplewire.concepts.model import ConceptModel
from triplewire.errors import UsageError
from triplewire.matching.engine.index import Index
from triplewire.matching.matcher import Match
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import write
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Call, Pattern, Subscription, Variable


def batch_of(events: list[Event], text: str = "string") -> pa.RecordBatch:
    homes = [str(event.graph.home) if event.graph.home else None for event in events]
    columns = {
        "id": [event.id for event in events],
        "home": homes,
        "data": [write(event.graph.triples) for event in events],
    }
    return pa.record_batch({name: pa.array(column, pa.string()).cast(text) for name, column in columns.items()})


def found_in(index: Index, batch: pa.RecordBatch) -> list[tuple[str, str, float]]:
    told = index.match_batch(batch)
    assert not told.refused
    assert told.matches is None
    ids = told.subscriptions.to_pylist()
    return [
        (batch["id"][i].as_py(), ids[row], told.scores[row])
        for i in range(batch.num_rows)
        for row in range(told.offsets[i], told.offsets[i + 1])
    ]


def told_by(index: Index, batch: pa.RecordBatch) -> list[Match]:
    """The matches with their bindings, which must be those that the columns tell."""
    told = index.match_batch(batch, bindings=True)
    assert not told.refused
    assert told.matches is not None
    assert [match.subscription for match in told.matches] == told.subscriptions.to_pylist()
    assert [match.score for match in told.matches] == told.scores.tolist()
    events = [batch["id"][i].as_py() for i in range(batch.num_rows) for _ in range(*told.offsets[i : i + 2])]
    assert [match.event for match in told.matches] == events
    return told.matches


@given(st.integers(0, 2**32))
@settings(max_examples=120, deadline=None)
def test_a_batch_finds_what_its_events_find_one_by_one(seed):
    rng = Random(seed)
    model = worlds.model(rng)
    draw = rng.choice([worlds.subscription, worlds.anything])
    subscriptions = [draw(rng, f"s{i}") for i in range(rng.choice([1, 4, 8]))]
    index = Index.build(subscriptions[: len(subscriptions) // 2], model)
    for one in subscriptions[len(subscriptions) // 2 :]:
        index.add(one)
    if rng.random() < 0.5:
        index.remove(rng.choice(subscriptions).id)
    events = [Event("source", str(i), worlds.graph(rng)) for i in range(rng.choice([1, 4]))]
    expected = [(m.event, m.subscription, m.score) for event in events for m in index.match(event)]
    for text in ("string", "large_string"):
        assert found_in(index, batch_of(events, text)) == expected
    assert told_by(index, batch_of(events)) == [m for event in events for m in index.match(event, bindings=True)]


BAD = [
    ("this is no N-Quads", None, "column"),
    ("_:a <urn:p> _:b .", "_:c", "is no vertex"),
    ("_:a <urn:p> _:b .", "<not an IRI", "neither"),
    (None, None, "no data"),
    (b'_:a <urn:p> "\xff" .', None, "not UTF-8"),
    (b"_:a <urn:p> _:b .", b"\xff", "not UTF-8"),
]


@pytest.mark.parametrize("bindings", [False, True])
@pytest.mark.parametrize(("data", "home", "reason"), BAD)
def test_an_event_that_cannot_be_read_is_refused_and_the_others_match(data, home, reason, bindings):
    """One that must be verified, one that must not, and an interest."""
    rng = Random(7)
    index = Index.build([worlds.anything(rng, f"s{i}") for i in range(30)], worlds.model(rng))
    good = batch_of([Event("source", "good", worlds.graph(Random(5)))], "binary")
    bad = pa.record_batch({"id": ["bad"], "home": [home], "data": [data]}, pa.schema(good.schema))
    alone = index.match_batch(good, bindings)
    assert len(alone.subscriptions) > 4
    told = index.match_batch(pa.concat_batches([bad, good, bad]), bindings)
    assert list(told.refused) == [0, 2]
    assert reason in str(told.refused[0])
    assert told.offsets.tolist() == [0, *alone.offsets.tolist(), alone.offsets[-1]]
    assert told.subscriptions == alone.subscriptions
    assert told.matches == alone.matches


def test_a_batch_without_a_column_is_refused_by_name():
    with pytest.raises(UsageError, match="no home among id, data"):
        Index(ConceptModel()).match_batch(pa.record_batch({"id": ["a"], "data": [""]}))


@pytest.mark.parametrize("rows", [slice(0, 0), slice(1, 3)], ids=["no rows", "a slice"])
def test_a_part_of_a_batch_is_a_batch(rows):
    rng = Random(11)
    model = worlds.model(rng)
    index = Index.build([worlds.subscription(rng, f"s{i}") for i in range(20)], model)
    events = [Event("source", str(i), worlds.graph(rng)) for i in range(4)]
    chosen = events[rows]
    part = batch_of(events).slice(rows.start, len(chosen))
    assert found_in(index, part) == [(m.event, m.subscription, m.score) for e in chosen for m in index.match(e)]


def test_an_event_of_ten_thousand_vertices_and_a_hundred_thousand_arcs_is_one_of_a_batch():
    """It is matched like the small ones beside it, without being made into objects."""
    rng = Random(1)
    p, q, _, value = worlds.PROPERTIES
    ends = [(rng.randrange(i), i) for i in range(1, 10_000)] + [rng.sample(range(10_000), 2) for _ in range(90_000)]
    arcs = [(s, rng.choice([p, q]), o) for s, o in ends]
    large = "".join(f"_:n{s} {property_} _:n{o} .\n" for s, property_, o in arcs) + f'_:n7 {value} "7" .\n'
    small = f'_:n0 {value} "7" .'
    x, y, z = Variable("x"), Variable("y"), Variable("z")
    seven = (Call("=", (z, Literal("7"))),)
    patterns = {
        "at home": Pattern((Arc(HOME, value, z),), filters=seven),
        "anywhere": Pattern((Arc(x, value, z),), filters=seven),
        "triangle": Pattern((Arc(HOME, p, x), Arc(x, q, y), Arc(y, p, HOME)), mapping="injective"),
    }
    index = Index.build([Subscription(i, (Alternative(p),)) for i, p in patterns.items()], ConceptModel())
    told = index.match_batch(
        pa.record_batch({"id": ["a", "b", "c"], "home": ["_:n0"] * 3, "data": [small, large, small]})
    )
    assert index.work["events read one by one"] == 0
    after, before = ({a[2] for a in arcs if a[:2] == (0, p)}, {a[0] for a in arcs if a[1:] == (p, 0)})
    triangle = any(s in after and property_ == q and o in before for s, property_, o in arcs)
    found = [told.subscriptions[told.offsets[i] : told.offsets[i + 1]].to_pylist() for i in range(3)]
    assert found == [["anywhere", "at home"], ["anywhere", *["triangle"] * triangle], ["anywhere", "at home"]]


def test_a_home_vertex_without_arcs_is_one():
    """As that of an empty JSON object is."""
    model = worlds.model(Random(3))
    record = {"id": "s", "language": "filter", "pattern": "not exists price"}
    index = Index.build([parse_subscription(record, model)], model)
    event = Event("source", "empty", Graph([], BlankNode("H")))
    assert index.match_batch(batch_of([event])).subscriptions.to_pylist() == ["s"]


def test_only_events_with_something_to_bind_are_read_one_by_one():
    """Beside them, silent matches come in bulk, whichever segment they are of."""
    rng = Random(5)
    value = worlds.PROPERTIES[3]
    model = ConceptModel()
    ask = {"language": "filter"}

    def silent(ids: range) -> list[Subscription]:
        return [parse_subscription(ask | {"id": f"s{i}", "pattern": f"<{value.value}> = {i % 7}"}, model) for i in ids]

    z = Variable("z")
    telling = Pattern((Arc(HOME, value, z),), filters=(Call("=", (z, Literal(3))),))
    index = Index.build([*silent(range(20)), Subscription("t", (Alternative(telling),))], model)
    index.add_all(silent(range(15, 40)))
    index.remove("s30")
    numbers = [rng.randrange(9) for _ in range(60)]
    events = [
        Event("source", str(i), Graph([Triple(BlankNode("H"), value, Literal(n))], BlankNode("H")))
        for i, n in enumerate(numbers)
    ]
    told = told_by(index, batch_of(events))
    assert index.work["events read one by one"] == numbers.count(3)
    assert told == [match for event in events for match in index.match(event, bindings=True)]
    assert {len(match.bindings or ()) for match in told} == {1}
    assert any(match.bindings == ({"?z": str(Literal(3))},) for match in told)
