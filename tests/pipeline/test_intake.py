"""Events from a folder go through the log, each once; the archive has them by day; and the log can be replayed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.test_stream import catch_up, settings, streaming  # noqa: F401 (a fixture)
from tests.pipeline.world import broken, cheaper, offer, table, write_lifting, write_lines
from triplewire.concepts.model import ConceptModel
from triplewire.errors import UsageError
from triplewire.lift.lifting import DEFAULT, load_lifting
from triplewire.pipeline import stream
from triplewire.pipeline.archive import Archive
from triplewire.pipeline.backtest import count, indexes
from triplewire.pipeline.history import ArchiveHistory
from triplewire.pipeline.intake import start_intake
from triplewire.store import Store


def take_in(spark: SparkSession, folder: Path, store: Store, home: Path) -> None:
    query = start_intake(spark, f"folder:{folder}", store.url, home / "intake", DEFAULT, once=True)
    query.awaitTermination(120)
    assert query.exception() is None


def test_a_folder_is_taken_in_file_by_file_and_each_event_once(
    spark: SparkSession, store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    (folder / "more").mkdir(parents=True)
    write_lines(folder / "a b.ndjson", [offer(1, 10)[2], "no JSON", offer(2, 300)[2], offer(1, 500)[2]])
    (folder / "more" / "ü.ttl").write_text("@prefix ex: <http://example.org/> . _:H a ex:Desktop ; ex:price 20 .")
    pq.write_table(pa.table({"body": [offer(3, 30)[2]]}), folder / "c.parquet")
    (folder / "notes.txt").write_text("nothing")
    take_in(spark, folder, store, tmp_path)
    write_lines(folder / "later.ndjson", [offer(4, 40)[2], offer(2, 1)[2]])
    take_in(spark, folder, store, tmp_path)
    found = {event.id: event.source for event in store.events(0, 100)}
    bad = f"a b.ndjson#{len(offer(1, 10)[2]) + 1}"
    assert found.keys() == {"e1", "e2", "e3", "e4", "more/ü.ttl", bad}
    assert found[bad] == "urn:triplewire:refused"


def test_a_stream_keeps_what_it_lifts_and_can_be_replayed(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    archive, lifting = tmp_path / "archive", load_lifting(write_lifting(tmp_path / "lifting"))
    store.subscribe(cheaper("a", 150, "Desktop"))
    early = json.dumps(json.loads(offer(1)[2]) | {"time": "2020-02-29T23:00:00-02:00"})
    store.append([("/shop", "e1", early), table(2, 10, 20), broken(3), offer(4, 500)])
    query = stream.start_stream(spark, store.url, tmp_path / "checkpoint", 3, lifting, archive)
    catch_up(query, store)
    stream._stop(query)
    before = store.notifications()
    today = datetime.now(UTC).date().isoformat()
    for after in (1, datetime(2020, 1, 1, tzinfo=UTC)):
        rows = [row for part in Archive(archive).parts() for batch in part.read() for row in batch.to_pylist()]
        found = [(row["position"], row["id"], row["day"]) for row in rows]
        assert sorted(found)[:2] == [(1, "e1", "2020-03-01"), (2, "e2#1", today)]
        assert sorted(row[1] for row in found) == ["e1", "e2#1", "e2#2", "e4"]
        query = stream.start_stream(spark, store.url, tmp_path / "checkpoint", 3, lifting, archive, after)
        query.processAllAvailable()
        stream._stop(query)
        Archive(archive).settle(store.pipeline_position(), many=1)
    assert store.notifications() == before
    (index,), _ = indexes([cheaper("a", 150, "Desktop")], [ConceptModel()])
    tally = count(ArchiveHistory(archive), index, None, lambda stretches, _: stretches)
    assert tally.counts == {("matched", "a", "2020-03-01"): 1, ("matched", "a", today): 2}
    assert list(tmp_path.glob("checkpoint.unfit-*"))


def test_an_archive_of_another_log_is_moved_away(store: Store, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive")
    archive.begin(0)
    (tmp_path / "archive" / "_done").write_text("7")
    archive.begin(6)
    assert archive.done() == 0
    assert [path.name[:14] for path in tmp_path.glob("archive.*")] == ["archive.unfit-"]


@pytest.mark.parametrize("source", ["folder:", "kafka:localhost:9092", "ftp:somewhere", "folder:/no/such/place"])
def test_what_is_no_source_is_refused_by_name(spark: SparkSession, tmp_path: Path, source: str, store: Store) -> None:
    with pytest.raises(UsageError, match=r"no source of events|no such folder"):
        start_intake(spark, source, store.url, tmp_path / "intake", DEFAULT)
