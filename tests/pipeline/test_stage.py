"""What a worker makes of events, without Spark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import worlds
from tests.pipeline.world import PREFIXES, broken, cheaper, offer, table, write_lifting
from triplewire.concepts.model import ConceptModel
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.lifting import DEFAULT, Lifting, load_lifting
from triplewire.matching import make_matcher
from triplewire.matching.engine.batch import read_event
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import Line, match_line
from triplewire.pipeline import canonical, stage
from triplewire.pipeline.lines import expand
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import write
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription


def lifted(*bodies: str, lifting: Lifting = DEFAULT) -> list[canonical.Row]:
    """Events published at the positions 1, 2, …, as canonical ones."""
    batch = pa.RecordBatch.from_pydict({"position": range(1, len(bodies) + 1), "body": bodies})
    return [canonical.Row(**row) for out in canonical.lift_events([batch], lifting) for row in out.to_pylist()]


def lines(document: str, **attributes: str) -> str:
    """An envelope around N-Quads."""
    envelope = json.loads(broken(1, document)[2]) | {"datacontenttype": "application/n-quads"} | attributes
    return json.dumps(envelope)


def same_event(row: canonical.Row, event: Event) -> bool:
    home = None if event.graph.home is None else str(event.graph.home)
    return (row.id, row.home) == (event.id, home) and (
        read_event(row.id, row.home, row.data or "").graph == event.graph
    )


P = "<http://example.org/p>"
DOCUMENTS = [
    f"_:H {P} _:a .\n",
    f"_:a {P} _:b .\n_:b {P} _:c .",
    f"_:a {P} _:a .\n",
    f"<http://example.org/x> {P} \"y\" .\n<http://example.org/z> {P} <http://example.org/x> .\n",
    f"_:b {P} <http://example.org/x> <http://example.org/graph> .\n",
    f"# a comment\n_:b {P} \"\\u00e9\"@de-CH .\n",
    f"_:b {P} .\n",
    "",
    f"\ufeff_:b {P} _:c .",
    f"<< _:a {P} _:b >> {P} _:b .",
]  # fmt: skip
HOMES: list[dict[str, str]] = [{}, {"home": "_:b"}, {"home": "http://example.org/x"}, {"home": ""}, {"home": "no iri"}]


@pytest.mark.parametrize("media_type", canonical.LINES)
@pytest.mark.parametrize("home", HOMES, ids=str)
def test_what_is_looked_through_is_what_would_be_lifted(media_type: str, home: dict[str, str]) -> None:
    for document in DOCUMENTS:
        body = lines(document, datacontenttype=media_type, **home)
        (row,) = lifted(body)
        try:
            (event,) = parse_events(body)
        except Exception as error:
            assert json.loads(row.refusal or "{}") == {"error": type(error).__name__, "message": str(error)}
        else:
            assert same_event(row, event), document


@given(st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_the_home_vertex_is_found_without_the_parser(seed: int) -> None:
    body = lines(write(worlds.graph(Random(seed)).triples))
    (row,), (event,) = lifted(body), parse_events(body)
    assert same_event(row, event)


def test_each_entry_is_an_event_and_an_empty_envelope_is_a_row(tmp_path: Path) -> None:
    lifting = load_lifting(write_lifting(tmp_path / "lifting"))
    rows = lifted(table(1, 100, 200)[2], table(2)[2], lifting=lifting)
    assert [(r.position, r.entry, r.envelope, r.id) for r in rows] == [
        (1, 0, "e1", "e1#1"), (1, 1, "e1", "e1#2"), (2, 0, "e2", None),
    ]  # fmt: skip
    assert [r.data is None for r in rows] == [False, False, True]


def test_a_refused_envelope_tells_why_and_the_others_go_on() -> None:
    rows = lifted(broken(1)[2], "no JSON", offer(3)[2])
    assert [(r.position, r.envelope, r.data is None) for r in rows] == [
        (1, "e1", True),
        (2, None, True),
        (3, "e3", False),
    ]
    assert "text/turtle" in (rows[0].refusal or "")
    assert "not JSON" in (rows[1].refusal or "")


def test_whatever_goes_wrong_with_one_event_is_its_own_affair(monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        pass

    def parse(body: str, lifting: object) -> None:
        raise Panic("out of luck")

    monkeypatch.setattr(canonical, "open_envelope", parse)
    (row,) = lifted(offer(1)[2])
    assert json.loads(row.refusal or "") == {"error": "Panic", "message": "out of luck"}


def test_record_batches_are_not_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MOST_BYTES", 100)
    rows = [canonical.Row(n, data="x" * size) for n, size in enumerate([30, 30, 30, 30, 500, 1, 1, 99, 99])]
    batches = list(canonical.record_batches(rows))
    assert [row for batch in batches for row in batch.column("position").to_pylist()] == list(range(9))
    assert all(sum(map(len, batch.column("data").to_pylist()[1:])) <= 100 for batch in batches)


def results(matcher: Any, bodies: Sequence[str], bindings: bool) -> list[str]:
    """The lines of events, by way of groups, each event in a batch with the others."""
    batch = pa.RecordBatch.from_pydict({"position": range(len(bodies)), "body": bodies})
    told: list[str] = []
    for groups in stage.match_events(canonical.lift_events([batch], DEFAULT), matcher, bindings, "v1"):
        assert groups.column("version").to_pylist() == ["v1"] * groups.num_rows
        found = expand(groups, matcher.ids if isinstance(matcher, Index) else None)
        told += [line for text in found.column("text").to_pylist() for line in text.split("\n")]
    return told


def expected(matcher: Any, bodies: Sequence[str], bindings: bool) -> list[str]:
    found = (match_line(Line("", 1, body.encode()), matcher, bindings) for body in bodies)
    return [line for results in found for line in results if isinstance(line, str)]


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(["engine", "brute"]))
@settings(max_examples=60, deadline=None)
def test_groups_expand_to_the_lines_of_the_matcher(seed: int, bindings: bool, name: str) -> None:
    rng = Random(seed)
    model = worlds.model(rng)
    subscriptions = [worlds.subscription(rng, f"s{i}") for i in range(rng.choice([1, 4, 20]))]
    matcher: Any = Index.build(subscriptions[1:], model) if name == "engine" else make_matcher(name, model)
    for one in subscriptions if name != "engine" else subscriptions[:1]:
        matcher.add(one)
    bodies = [lines(write(worlds.graph(rng).triples)) for _ in range(4)] + ["no JSON", lines("no N-Quads"), offer(1)[2]]
    rng.shuffle(bodies)
    assert results(matcher, bodies, bindings) == expected(matcher, bodies, bindings)


def test_interests_and_patterns_are_matched_in_one_pass() -> None:
    model = ConceptModel(class_parents={worlds.CLASSES[0]: frozenset(worlds.CLASSES[1:2])})
    interest = {"id": "i", "language": "interest", "pattern": {"concepts": ["ex:A", "ex:B"]}, "threshold": 0.1}
    records = [interest | {"prefixes": PREFIXES}, cheaper("p", 150, "Desktop")]
    index = Index.build(_parsed(records, model), model)
    bodies = [offer(1)[2], lines(f"_:H a {worlds.CLASSES[0]} .".replace(" a ", f" {worlds.RDF.type} "))]
    found = results(index, bodies, False)
    assert found == expected(index, bodies, False)
    assert [json.loads(line)["subscription"] for line in found] == ["p", "i"]


def _parsed(records: Sequence[dict[str, Any]], model: ConceptModel) -> list[Subscription]:
    return [parse_subscription(record, model) for record in records]
