"""A backtest counts what the matcher finds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests import worlds
from tests.pipeline.world import (
    COMPUTERS,
    FURNITURE,
    broken,
    cheaper,
    document,
    offer,
    table,
    write_lifting,
    write_lines,
)
from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.lift.cloudevents import parse_event
from triplewire.lift.lifting import DEFAULT, load_lifting
from triplewire.matching import make_matcher
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import match_lines, read_lines
from triplewire.pipeline.archive import Archive, day_of
from triplewire.pipeline.backtest import count, estimate, indexes, wilson
from triplewire.pipeline.backtest_job import count_on_spark
from triplewire.pipeline.files import Text, pieces, texts
from triplewire.pipeline.history import ArchiveHistory, FileHistory, lift_texts
from triplewire.pipeline.tally import GAINED, LOST, MATCHED, SAMPLES, Tally, count_batch
from triplewire.rdf.syntax import write
from triplewire.subscriptions.languages import parse_subscription

DAYS = ["2026-03-01T23:59:59-01:00", "2026-03-02T00:00:00Z", "2026-03-01T12:00:00Z", None]
PRICES = [cheaper(id_, price) for id_, price in [("z", 150), ("B", 90), ("é", 60), ("a", 20)]]


def on_day(line: str, day: str | None) -> str:
    return line if day is None else json.dumps(json.loads(line) | {"time": day})


def some_lines(random: Random, count: int = 120) -> list[str]:
    """Events on two days or none, some published again, some broken, some tables of several, some no events."""
    lines = []
    for _ in range(count):
        number = random.randrange(count)
        event = broken(number) if number % 10 == 0 else offer(number, random.randrange(200))
        if number % 10 == 1:
            event = table(number, *(random.randrange(200) for _ in range(number % 7)))
        lines.append(random.choice([on_day(event[2], random.choice(DAYS))] * 8 + ["", "no JSON", '{"id": "é"}']))
    return lines


def plainly(model: ConceptModel, records, files: list[Path], lifting) -> Counter[tuple[str, str]]:
    """How often each event trips each subscription, as ``triplewire match`` tells it."""
    matcher = make_matcher("brute", model)
    for record in records:
        matcher.add(parse_subscription(record, model))
    results = match_lines((line for path in files for line in read_lines(path)), matcher, lifting=lifting)
    found = [json.loads(line) for line in results if isinstance(line, str)]
    return Counter((match["subscription"], match["event"]) for match in found)


def counted(tally: Tally, kind: str = MATCHED) -> Counter[str]:
    found: Counter[str] = Counter()
    for (one, name, _), number in tally.counts.items():
        found[name] += number if one == kind else 0
    return +found


def by_subscription(matches: Counter[tuple[str, str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (name, _), number in matches.items():
        found[name] += number
    return found


def everything(history: FileHistory | ArchiveHistory, *made: Index) -> Tally:
    return count(history, made[0], made[1] if len(made) > 1 else None, lambda stretches, _: stretches)


@pytest.mark.parametrize("seed", range(4))
def test_a_backtest_counts_what_match_finds_under_either_ontology(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.pipeline.history.ROWS", 7)
    random = Random(seed)
    files = [write_lines(tmp_path / f"{name}.ndjson", some_lines(random)) for name in ("b", "a", "c")]
    lifting = load_lifting(write_lifting(tmp_path / "lifting"))
    old, new = (model_of_documents([document(text)]) for text in (COMPUTERS, FURNITURE))
    records = [*PRICES, cheaper("desk", 80, "Furniture")]
    made, refused = indexes(records, [old, new])
    assert refused == []

    tally = everything(FileHistory(files, lifting), *made)

    before, after = (plainly(model, records, files, lifting) for model in (old, new))
    assert counted(tally) == by_subscription(before) != by_subscription(after)
    assert counted(tally, GAINED) == by_subscription(after - before)
    assert counted(tally, LOST) == by_subscription(before - after)
    for (kind, name), samples in tally.samples.items():
        pairs = {MATCHED: before, GAINED: after - before, LOST: before - after}[kind]
        assert len(samples) == min(SAMPLES, counted(tally, kind)[name])
        assert all((name, id_) in pairs for _, _, id_ in samples)
        assert samples == sorted(samples)


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_whatever_is_matched_is_counted_on_its_day(seed: int) -> None:
    rng = Random(seed)
    model = worlds.model(rng)
    subscriptions = [worlds.subscription(rng, f"s{i}") for i in range(5)]
    events = []
    for number in range(12):
        graph = worlds.graph(rng)
        record = {"specversion": "1.0", "id": f"e{number}", "source": "/x", "type": "t", "data": write(graph.triples)}
        record |= {"datacontenttype": "application/n-triples"} | ({"home": str(graph.home)} if graph.home else {})
        events.append(on_day(json.dumps(record), rng.choice(DAYS)))
    lines = [Text(number, 0.0, line.encode()) for number, line in enumerate(events)]
    (stretch,) = lift_texts(lines, DEFAULT, {})
    expected: Counter[tuple[str, str, str]] = Counter()
    matcher = make_matcher("brute", model)
    for one in subscriptions:
        matcher.add(one)
    for line in events:
        day = json.loads(line).get("time")
        for match in matcher.match(parse_event(line)):
            expected[MATCHED, match.subscription, day_of(day) or ""] += 1
    assert count_batch(stretch.events, Index.build(subscriptions, model)).counts == expected


def test_spark_counts_the_same_of_files_and_of_an_archive(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(7)
    files = [write_lines(tmp_path / f"{n}.ndjson", some_lines(random)) for n in range(3)]
    lifting = load_lifting(write_lifting(tmp_path / "lifting"))
    models = [model_of_documents([document(text)]) for text in (COMPUTERS, FURNITURE)]
    made, _ = indexes(PRICES, models)
    history = FileHistory(files, lifting)
    expected = everything(history, *made)
    assert sum(expected.counts.values()) > 100

    assert count_on_spark(spark, history, *made) == expected

    archive = Archive(tmp_path / "archive")
    for stretch in history.read():
        archive.put([stretch.events])
    archive.settle(10**15, many=1)
    made, _ = indexes(PRICES, models)
    told = count_on_spark(spark, ArchiveHistory(tmp_path / "archive"), *made)
    assert (told.counts, told.samples) == (expected.counts, expected.samples)


def test_an_estimate_is_near_what_is_counted_and_says_how_near(tmp_path: Path) -> None:
    random = Random(3)
    lines = [offer(number, random.randrange(200))[2] for number in range(3000)]
    history = FileHistory([write_lines(tmp_path / "e.ndjson", lines)], DEFAULT)
    (index,), _ = indexes(PRICES, [model_of_documents([document(COMPUTERS)])])
    told = estimate(history, index, wanted=500)
    assert told is not None
    assert told["sampled"] == 500
    assert told["events"] == pytest.approx(3000, rel=0.02)
    rates = {one["subscription"]: one["between"] for one in told["subscriptions"]}
    for name, number in counted(everything(history, index)).items():
        assert rates[name][0] < number / 3000 < rates[name][1]


def test_a_history_hardly_larger_than_a_sample_is_counted_at_once(tmp_path: Path) -> None:
    history = FileHistory([write_lines(tmp_path / "e.ndjson", [offer(n)[2] for n in range(10)])], DEFAULT)
    assert estimate(history, indexes(PRICES, [ConceptModel()])[0][0]) is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_bounds_hold_the_rate_and_stay_between_none_and_all(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


def test_a_folder_holds_lines_tables_feeds_and_documents(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "more").mkdir(parents=True)
    write_lines(folder / "a.ndjson", [offer(1, 10)[2], offer(2, 300)[2]])
    (folder / "more" / "b.ttl").write_text("@prefix ex: <http://example.org/> . _:H a ex:Computer ; ex:price 20 .")
    bodies = pa.table({"body": [offer(3, 30)[2], offer(1, 10)[2]]})
    pq.write_table(bodies, folder / "c.parquet", row_group_size=1)
    pq.write_table(pa.table({"price": [1, 2], "name": ["x", None]}), folder / "d.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / "readme.md").write_text("not an event")
    records = [cheaper("cheap", 100), {"id": "keyed", "language": "filter", "pattern": "price < 2"}]
    (index,), _ = indexes(records, [model_of_documents([document(COMPUTERS)])])
    history = FileHistory([folder], DEFAULT)
    tally = everything(history, index)
    assert {name: [id_ for *_, id_ in some] for (_, name), some in tally.samples.items()} == {
        "cheap": ["e1", "e3", "more/b.ttl"],
        "keyed": ["d.parquet#1"],
    }
    assert (sum(tally.events.values()), tally.refused) == (6, 0)


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"a", b"bc", b" ", b"\n", b"\r\n", "ü".encode()])), st.integers(1, 9))
def test_the_pieces_of_a_file_hold_each_of_its_lines_once(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.ndjson"
    path.write_bytes(b"".join(parts))
    found = [text for piece in pieces([path], size) for text in texts(piece)]
    assert [text.text for text in found] == [line.text for line in read_lines(path)]
    assert len({text.position for text in found}) == len(found)
