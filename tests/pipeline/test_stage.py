"""What a worker makes of events, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.world import broken, cheaper, offer, table, write_lifting
from triplewire.lift.lifting import DEFAULT, Lifting, load_lifting
from triplewire.pipeline import stage
from triplewire.pipeline.source import ARROW_SCHEMA
from triplewire.store import Store


def results(store: Store, *bodies: str, lifting: Lifting = DEFAULT) -> list[stage.Row]:
    """What comes of events at the positions 1, 2, …"""
    batch = pa.RecordBatch.from_pydict({"position": range(1, len(bodies) + 1), "body": bodies}, schema=ARROW_SCHEMA)
    return [
        stage.Row(**row) for out in stage.match_events(iter([batch]), store.url, lifting) for row in out.to_pylist()
    ]


def test_a_match_carries_its_bindings_and_the_last_row_how_far_it_went(store: Store) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    match, end = results(store, offer(1)[2])
    assert (match.position, match.event, match.subscription, match.score, match.reason) == (1, "e1", "a", 1.0, "")
    assert json.loads(match.bindings) == [{"?1": '"100"^^<http://www.w3.org/2001/XMLSchema#integer>'}]
    assert end == stage.Row(1)


def test_each_entry_is_matched_by_itself_and_told_by_its_own_id(store: Store, tmp_path: Path) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    rows = results(store, table(1, 100, 200, 50)[2], lifting=load_lifting(write_lifting(tmp_path / "lifting")))
    assert [(row.position, row.event, row.subscription) for row in rows] == [
        (1, "e1#1", "a"),
        (1, "e1#3", "a"),
        (1, "", ""),
    ]


def test_a_refused_event_is_a_reason_and_the_others_go_on(store: Store) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    rows = results(store, broken(1)[2], "no JSON", offer(3)[2])
    assert [(row.position, row.subscription) for row in rows] == [(1, ""), (2, ""), (3, "a"), (3, "")]
    assert "text/turtle" in rows[0].reason
    assert "not JSON" in rows[1].reason


def test_whatever_goes_wrong_with_one_event_is_its_own_affair(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        pass

    def parse(body: str, lifting: object) -> None:
        raise Panic("out of luck")

    monkeypatch.setattr(stage, "parse_events", parse)
    assert results(store, offer(1)[2]) == [stage.Row(1, reason="Panic: out of luck"), stage.Row(1)]


def test_a_reason_with_half_a_character_can_be_written(store: Store) -> None:
    body = offer(1)[2].replace('"1.0"', '"\\ud800"')
    assert results(store, body)[0].reason.startswith("CloudEvents \\ud800 is not known")
