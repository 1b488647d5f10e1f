"""The batch job says what the matcher says, to the line."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.test_backtest import on_day
from tests.pipeline.world import COMPUTERS, broken, cheaper, document, offer, table, write_lifting, write_lines
from triplewire.concepts.load import load_model
from triplewire.errors import UsageError
from triplewire.lift.lifting import DEFAULT, load_lifting
from triplewire.matching import make_matcher
from triplewire.matching.lines import Refusal, add_subscriptions, match_lines, read_lines
from triplewire.pipeline import batch
from triplewire.pipeline.archive import Archive
from triplewire.pipeline.history import FileHistory


def plainly(
    ontology: list[Path],
    subscriptions: Path,
    events: list[Path],
    bindings: bool,
    lifting: Path,
    name: str = "brute",
) -> tuple[str, list[Refusal]]:
    """Matches and refusals without Spark, as ``triplewire match`` has them."""
    model = load_model(ontology)
    matcher = make_matcher(name, model)
    refused = list(add_subscriptions(read_lines(subscriptions), matcher, model))
    results = list(match_lines(chain.from_iterable(map(read_lines, events)), matcher, bindings, load_lifting(lifting)))
    refused += [result for result in results if not isinstance(result, str)]
    return "".join(f"{line}\n" for line in results if isinstance(line, str)), refused


def parts(folder: Path) -> str:
    return "".join(part.read_text(encoding="utf-8") for part in sorted(folder.glob("part-*")))


def some_lines(random: Random) -> list[str]:
    """Events, some of them published again with another price, some broken, some tables of several; lines that are no
    event, blank lines.
    """
    lines = []
    for _ in range(200):
        number = random.randrange(300)
        event = broken(number) if number % 10 == 0 else offer(number, random.randrange(200))
        if number % 10 == 1:
            event = table(number, *(random.randrange(200) for _ in range(number % 7)))
        lines.append(
            random.choice([event[2]] * 8 + ["", "  \t", "no JSON", '{"id": "é"}', '"ü\\ud800"', event[2] + "\r"])
        )
    return lines


@pytest.mark.parametrize("bindings", [False, True])
def test_batch_agrees_with_the_matcher_to_the_line(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bindings: bool
) -> None:
    random = Random(7)
    monkeypatch.setattr(batch, "CHUNK", 20_000)
    ontology = tmp_path / "kinds.ttl"
    ontology.write_text(document(COMPUTERS)["text"])
    records = [json.dumps(cheaper(id_, price)) for id_, price in [("z", 150), ("B", 90), ("é", 60), ("a", 120)]]
    subscriptions = write_lines(
        tmp_path / "s.ndjson", [*records, "{", "", records[0], '{"id": "x", "language": "ops"}']
    )
    events = [write_lines(tmp_path / f"{name}.ndjson", some_lines(random)) for name in ("second", "first", "third")]
    events.append(write_lines(tmp_path / "empty.ndjson", []))

    lifting = write_lifting(tmp_path / "lifting")
    refused = batch.run_batch([ontology], subscriptions, events, tmp_path / "out", bindings=bindings, lifting=lifting)

    lines, refused_plainly = plainly([ontology], subscriptions, events, bindings, lifting)
    assert parts(tmp_path / "out" / "matches") == lines
    assert refused == refused_plainly
    assert [json.loads(line) for line in parts(tmp_path / "out" / "refused").splitlines()] == refused
    assert lines.count("\n") > 300
    assert '"event": "e11#4"' in lines
    assert {refusal.get("line") for refusal in refused if "subscription" in refusal} == {5, 7, 8}


def test_batch_and_matcher_tell_the_same_of_what_is_given_up(spark: SparkSession, tmp_path: Path) -> None:
    triples = " ".join(f"?s{n} ?p{n} ?o{n} ." for n in range(20))
    query = f"ASK {{ {triples} FILTER NOT EXISTS {{ ?s0 ?p1 ?o8 }} }}"
    records = [{"id": "open", "language": "sparql", "pattern": query}, cheaper("a", 150)]
    subscriptions = write_lines(tmp_path / "s.ndjson", map(json.dumps, records))
    events = write_lines(tmp_path / "e.ndjson", [offer(1, 100)[2], "", table(2, 10, 20)[2]])
    lifting = write_lifting(tmp_path / "lifting")
    refused = batch.run_batch([], subscriptions, [events], tmp_path / "out", lifting=lifting)
    lines, refused_plainly = plainly([], subscriptions, [events], False, lifting, "engine")
    assert parts(tmp_path / "out" / "matches") == lines
    assert refused == refused_plainly
    assert [(one["event"], one["line"], one["subscription"]) for one in refused] == [
        ("e1", 1, "open"),
        ("e2#1", 3, "open"),
        ("e2#2", 3, "open"),
    ]


def test_what_is_in_a_folder_already_is_not_mixed_with_results(tmp_path: Path) -> None:
    write_lines(tmp_path / "out", ["something"])
    with pytest.raises(UsageError, match="out is there already"):
        batch.run_batch([], tmp_path / "s.ndjson", [], tmp_path / "out")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    subscriptions = write_lines(tmp_path / "s.ndjson", [])
    with pytest.raises(UsageError, match=r"missing\.ndjson"):
        batch.run_batch([], subscriptions, [tmp_path / "missing.ndjson"], tmp_path / "out")


def test_a_folder_and_the_archive_of_its_events_give_the_same_matches(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    days = ["2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z", None]
    lines = [on_day(offer(number, number * 37 % 200)[2], days[number % 3]) for number in range(60)]
    write_lines(folder / "a.ndjson", ["", *lines[:30], broken(99)[2]])  # no position is 0
    pq.write_table(pa.table({"body": [*lines[30:], broken(98)[2]]}), folder / "b.parquet")
    (folder / "c.ttl").write_text("@prefix ex: <http://example.org/> . _:H a ex:Computer ; ex:price 20 .")
    (folder / "d.ttl").write_text("no Turtle")
    records = [json.dumps(cheaper(id_, price)) for id_, price in [("z", 150), ("B", 90), ("a", 120)]]
    subscriptions = write_lines(tmp_path / "s.ndjson", records)
    ontology = tmp_path / "kinds.ttl"
    ontology.write_text(document(COMPUTERS)["text"])
    archive = Archive(tmp_path / "archive")
    for stretch in FileHistory([folder], DEFAULT).read():
        archive.put([stretch.events])
    archive.settle(1 << 60, many=1)

    refused = batch.run_batch([ontology], subscriptions, [folder], tmp_path / "out")
    assert batch.run_batch([ontology], subscriptions, [], tmp_path / "again", archive=archive.folder) == []

    told = parts(tmp_path / "out" / "matches")
    assert parts(tmp_path / "again" / "matches") == told
    assert told.count("\n") > 100
    assert '"event": "c.ttl"' in told
    places = [{name: refusal.get(name) for name in ("event", "line", "row")} for refusal in refused]
    assert places == [
        {"event": "e99", "line": 32, "row": None},
        {"event": "e98", "line": None, "row": 31},
        {"event": "d.ttl", "line": None, "row": None},
    ]
