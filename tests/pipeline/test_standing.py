"""What is valid for an event is decided by its position alone."""

from __future__ import annotations

import logging
from itertools import pairwise
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from tests.pipeline.world import COMPUTERS, FURNITURE, cheaper, document, expected, offer
from triplewire.errors import UsageError
from triplewire.lift.cloudevents import parse_event
from triplewire.lift.lifting import DEFAULT
from triplewire.matching.engine import files
from triplewire.matching.engine.index import Index
from triplewire.pipeline import stream
from triplewire.pipeline.canonical import lift_events
from triplewire.pipeline.snapshots import Snapshots
from triplewire.pipeline.source import record_batch
from triplewire.pipeline.stage import match_events
from triplewire.pipeline.standing import Standing
from triplewire.store import Store


@pytest.fixture
def snapshots(store: Store, tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "index", store)


def live_a_little(store: Store, snapshots: Snapshots, random: Random, steps: int = 60) -> None:
    """Publish, subscribe, revise, unsubscribe, change the ontology and take snapshots, at random."""
    for step in range(steps):
        id_ = random.choice(["a", "b", "c"])
        try:
            match random.randrange(9):
                case 0:
                    store.subscribe(cheaper(id_, random.randrange(200)))
                case 1:
                    store.revise(cheaper(id_, random.randrange(200), random.choice(["Computer", "Furniture"])))
                case 2:
                    store.unsubscribe(id_)
                case 3:
                    store.put_ontology([document(random.choice([COMPUTERS, FURNITURE]))])
                case 4:
                    snapshots.make(random.randrange(store.ontology_version(store.last_position() + 1) + 1))
                case _:
                    store.append([offer(step, random.randrange(200))])
        except UsageError:
            pass  # subscribed twice, or not at all


def matched(store: Store, standing: Standing, batches: list[tuple[int, int]]) -> list[tuple[int, str]]:
    """What a worker finds that is given the events of these batches in this order."""
    found = []
    for after, upto in batches:
        events = [(event.position, event.body) for event in store.events(after, upto)]
        batch = pa.RecordBatch.from_arrays(
            [pa.array(column) for column in zip(*events, strict=True)] or [[], []], ["position", "body"]
        )
        for matcher, _, stretch in standing.stretches(batch):
            for position, body in zip(*(column.to_pylist() for column in stretch.columns), strict=True):
                found += [(position, match.subscription) for match in matcher.match(parse_event(body))]
    return sorted(found)


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_a_worker_finds_what_the_definition_says_however_the_log_is_cut(
    store: Store, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch, seed: int, few: int
) -> None:
    monkeypatch.setattr("triplewire.pipeline.snapshots.FEW", few)
    monkeypatch.setattr("triplewire.pipeline.snapshots.DUE", (1, 1000))
    random = Random(seed)
    live_a_little(store, snapshots, random)
    last = store.last_position()
    cuts = sorted({0, last, *(random.randrange(last + 1) for _ in range(5))})
    batches = list(pairwise(cuts))
    assert matched(store, Standing(store, snapshots), batches) == expected(store)
    assert bool(list(snapshots.folder.glob("*@*"))) == (few == 0)
    random.shuffle(batches)  # a worker may be sent back to an earlier part of the log
    assert matched(store, Standing(store, snapshots), batches) == expected(store)


def test_a_worker_that_is_ready_sees_what_is_subscribed_before_the_next_event(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    for position in range(1, 4):
        assert list(stream._be_ready([], store.url, folder)) == []
        store.subscribe(cheaper(f"s{position}", 500, "Desktop"))
        store.append([offer(position, 100)])
        found = matched(store, stream._standing(store.url, folder), [(position - 1, position)])
        assert found == [(position, f"s{number}") for number in range(1, position + 1)]
        store.record([], [], position)


def test_an_index_version_is_named_by_what_is_valid(store: Store, snapshots: Snapshots) -> None:
    store.append([offer(n) for n in range(3)])
    store.subscribe(cheaper("a", 50))
    store.append([offer(n) for n in range(3, 6)])
    store.put_ontology([document(COMPUTERS)])
    store.append([offer(6)])
    store.unsubscribe("a")
    store.append([offer(7)])
    names = ["0@0", "0@0", "0@0", "0@4", "0@4", "0@4", "1@7", "1@8"]
    alone = [pa.RecordBatch.from_pydict({"position": [position]}) for position in range(1, 9)]
    together = pa.RecordBatch.from_pydict({"position": range(1, 9)})
    for batches in (alone, [together], [together.slice(1, 4), together.slice(5)]):
        stretches = [one for batch in batches for one in Standing(store, snapshots).stretches(batch)]
        assert [name for _, name, stretch in stretches for _ in range(len(stretch))] == names[-sum(map(len, batches)) :]


def test_a_change_costs_the_events_after_it_nothing_that_grows_with_those_before(
    store: Store, snapshots: Snapshots
) -> None:
    for number in range(300):
        if number % 10 == 0:
            store.subscribe(cheaper(f"s{number}", 5))
        store.append([offer(number, 10 + number)])
    standing = Standing(store, snapshots)
    (batch,) = lift_events([record_batch(list(store.events(0, 300)))], DEFAULT)
    rows = [
        len(out) for index, _, one in standing.stretches(batch) for out in match_events([one], index, bindings=True)
    ]
    assert rows == [10] * 30
    # Of an event there are four terms to learn, in each of the segments, which are as many as a logarithm.
    assert standing.work["terms learned"] < 300 * 4 * 3


def test_an_index_is_kept_while_ontology_and_snapshot_are(
    store: Store, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.pipeline.snapshots.FEW", 0)
    standing = Standing(store, snapshots)
    store.subscribe(cheaper("a", 50))
    store.append([offer(1)])
    before = index_at(standing, 1)
    store.subscribe(cheaper("b", 50))
    assert index_at(standing, 2) is before
    monkeypatch.setattr("triplewire.pipeline.snapshots.DUE", (0, 1000))
    assert snapshots.make(0) is not None
    after = index_at(standing, 2)
    assert after is not before
    assert len(after) == 2
    store.put_ontology([document(COMPUTERS)])
    assert index_at(standing, 2) is not after


def index_at(standing: Standing, position: int) -> Index:
    batch = pa.RecordBatch.from_pydict({"position": [position]})
    return next(index for index, _, _ in standing.stretches(batch))


def test_a_snapshot_holds_all_that_stood_though_no_event_has_come(
    store: Store, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.pipeline.snapshots.FEW", 0)
    store.subscribe(cheaper("a", 50))
    store.subscribe(cheaper("b", 50))
    snapshot = snapshots.make(0)
    assert snapshot is not None
    assert len(Index.open(snapshots.path(snapshot))) == 2
    assert store.count_changes(snapshot.position, 1, snapshot.change) == 0
    store.subscribe(cheaper("c", 50))
    store.unsubscribe("b")
    assert len(Standing(store, snapshots).at(1)) == 2


def test_a_snapshot_that_several_processes_make_is_whole(
    store: Store, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.pipeline.snapshots.FEW", 0)
    monkeypatch.setattr("triplewire.pipeline.snapshots.SHARE", 2)
    store.put_ontology([document(COMPUTERS)])
    for number in range(9):
        store.subscribe(cheaper(f"s{number}", number, ["Computer", "Chair"][number % 2]))
    store.revise(cheaper("s3", 100))
    store.unsubscribe("s4")
    snapshot = snapshots.make(1)
    assert snapshot is not None
    index = Index.open(snapshots.path(snapshot))
    found = {match.subscription for match in index.match(parse_event(offer(1, 4)[2]))}
    assert len(index) == 8
    assert found == {"s3", "s6", "s8"}
    assert [path.name for path in snapshots.folder.iterdir() if path.is_dir()] == [snapshot.name]


def test_a_snapshot_of_another_version_of_the_software_is_made_anew(
    store: Store, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.pipeline.snapshots.FEW", 0)
    store.subscribe(cheaper("a", 50))
    snapshot = snapshots.make(0)
    assert snapshot is not None
    monkeypatch.setattr(files, "FORMAT", files.FORMAT + 1)
    snapshots.drop_unfit()
    assert snapshots.newest(0) is None
    assert len(Standing(store, snapshots).at(1)) == 1


def test_a_bad_subscription_costs_itself_only_and_is_told_once(
    store: Store, snapshots: Snapshots, caplog: pytest.LogCaptureFixture
) -> None:
    store.subscribe({"id": "bad", "language": "ops", "pattern": "(("})
    store.subscribe(cheaper("good", 150, "Desktop"))
    store.append([offer(n) for n in range(3)])
    with caplog.at_level(logging.WARNING):
        found = matched(store, Standing(store, snapshots), [(0, 1), (1, 2), (2, 3)])
    assert found == [(1, "good"), (2, "good"), (3, "good")]
    assert [record.getMessage() for record in caplog.records if "'bad'" in record.getMessage()] != []
    assert len(caplog.records) == 1


def test_a_document_that_cannot_be_read_leaves_the_rest_of_the_ontology(
    store: Store, snapshots: Snapshots, caplog: pytest.LogCaptureFixture
) -> None:
    store.put_ontology([document("nonsense"), document(COMPUTERS)])
    store.subscribe(cheaper("a", 150))
    store.append([offer(1)])
    assert matched(store, Standing(store, snapshots), [(0, 1)]) == [(1, "a")]
    assert "kinds.ttl" in caplog.text
