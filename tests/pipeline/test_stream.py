"""The standing query on Spark, from the log to notifications."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.pipeline.world import (
    COMPUTERS,
    FURNITURE,
    broken,
    cheaper,
    document,
    eventually,
    expected,
    notified,
    offer,
    table,
    write_lifting,
)
from tests.postgres import PASSWORD
from triplewire.errors import UsageError
from triplewire.lift.lifting import DEFAULT, Lifting, load_lifting
from triplewire.pipeline import stream
from triplewire.pipeline.checkpoint import mark_format, mark_store
from triplewire.pipeline.session import STREAM, session
from triplewire.store import LOCAL, Store
from triplewire.store import store_url as embedded


@pytest.fixture(autouse=True)
def settings(spark: SparkSession) -> None:
    for name, value in STREAM.items():
        if name.startswith("spark.sql."):
            spark.conf.set(name, value)


@contextmanager
def streaming(
    spark: SparkSession, store: Store, home: Path, batch: int = 100, lifting: Lifting = DEFAULT
) -> Iterator[StreamingQuery]:
    """The query while it runs."""
    query = stream.start_stream(spark, store.url, home / "checkpoint", batch, lifting)
    try:
        yield query
    finally:
        stream._stop(query)


def catch_up(query: StreamingQuery, store: Store) -> None:
    """Wait until the pipeline has done the whole log."""

    def done() -> bool:
        assert query.isActive, query.exception()
        return store.pipeline_position() >= store.last_position()

    eventually(done)


def test_events_become_notifications_and_dead_letters(spark: SparkSession, store_url: str, tmp_path: Path) -> None:
    store = Store(store_url)
    store.put_ontology([document(COMPUTERS)])
    store.subscribe(cheaper("a", 150))
    store.subscribe(cheaper("b", 50))
    triples = " ".join(f"?s{n} ?p{n} ?o{n} ." for n in range(20))
    store.subscribe(
        {"id": "open", "language": "sparql", "pattern": f"ASK {{ {triples} FILTER NOT EXISTS {{ ?s0 ?p1 ?o8 }} }}"}
    )
    with streaming(spark, store, tmp_path) as query:
        store.append([offer(1, 100), broken(2), offer(3, 20), offer(4, 500)])
        catch_up(query, store)
        store.unsubscribe("open")
        store.append([offer(5, 10)])
        catch_up(query, store)
        seen_from_outside = f"{query.lastProgress} {query._jsq.explainInternal(True)}"
    with streaming(spark, store, tmp_path) as query:
        store.append([offer(6, 10)])
        catch_up(query, store)
    assert notified(store) == [(1, "a"), (3, "a"), (3, "b"), (5, "a"), (5, "b"), (6, "a"), (6, "b")]
    assert store.notifications()[0].bindings == [{"?1": '"100"^^<http://www.w3.org/2001/XMLSchema#integer>'}]
    assert [(letter.position, letter.id) for letter in store.dead_letters()] == [(2, "e2")]
    assert "not well-formed text/turtle" in store.dead_letters()[0].reason
    count, last = store.lapses("open", LOCAL)
    assert last is not None
    assert (count, last.position, last.event) == (3, 4, "e4")
    assert PASSWORD not in seen_from_outside
    store.close()


def test_changes_take_effect_by_position_without_a_restart(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    """Some change while the stream is at work, some between two events of one batch."""
    with streaming(spark, store, tmp_path) as query:
        store.append([offer(1)])
        store.subscribe(cheaper("a", 150, "Desktop"))
        catch_up(query, store)
        store.append([offer(2)])
        catch_up(query, store)
        store.revise(cheaper("a", 50, "Desktop"))
        store.append([offer(3, 100), offer(4, 20)])
        store.unsubscribe("a")
        store.append([offer(5, 20)])
        store.subscribe(cheaper("a", 150))
        store.append([offer(6)])
        store.put_ontology([document(COMPUTERS)])
        store.append([offer(7)])
        catch_up(query, store)
        store.put_ontology([document(FURNITURE)])
        store.append([offer(8)])
        store.revise(cheaper("a", 150, "Furniture"))
        store.append([offer(9)])
        catch_up(query, store)
    assert notified(store) == expected(store) == [(2, "a"), (4, "a"), (7, "a"), (9, "a")]


def test_the_settings_of_lifting_are_those_of_the_start(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    folder = write_lifting(tmp_path / "lifting")
    lifting = load_lifting(folder)
    (folder / "mappings" / "table.json").write_text('{"for": "half a fi')
    store.append([table(1, 100, 200)])
    with streaming(spark, store, tmp_path, lifting=lifting) as query:
        catch_up(query, store)
    assert [(found.event, found.subscription) for found in store.notifications()] == [("e1#1", "a")]


def test_a_batch_may_bring_as_much_as_it_likes() -> None:
    assert STREAM["spark.driver.maxResultSize"] == "0"


def test_a_backlog_is_taken_in_bounded_batches(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    store.append([offer(n) for n in range(25)])
    with streaming(spark, store, tmp_path, batch=10) as query:
        catch_up(query, store)
        eventually(lambda: sum(progress["numInputRows"] for progress in query.recentProgress) == 25)
        sizes = [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]
    assert sizes == [10, 10, 5]
    assert notified(store) == [(position, "a") for position in range(1, 26)]


def test_a_batch_that_was_written_and_not_committed_is_replayed_without_a_trace(
    spark: SparkSession, store: Store, tmp_path: Path
) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    store.append([offer(1), broken(2)])
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)
    before = store.notifications(), store.dead_letters()
    store.unsubscribe("a")
    store.append([offer(3)])
    commit = max((tmp_path / "checkpoint" / "commits").glob("[0-9]*"))
    commit.unlink()
    commit.with_name(f".{commit.name}.crc").unlink(missing_ok=True)
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)
        eventually(commit.exists)
    assert (store.notifications(), store.dead_letters()) == before


def test_a_batch_that_was_not_written_is_written_by_the_next_stream(
    spark: SparkSession, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    store.append([offer(1)])

    def fail(*_: object) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patch, streaming(spark, store, tmp_path) as query:
        patch.setattr(Store, "record", fail)
        eventually(lambda: not query.isActive)
        assert "the disk is full" in str(query.exception())
    assert notified(store) == []
    store.unsubscribe("a")
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)
    assert notified(store) == [(1, "a")]


def test_a_checkpoint_cut_short_does_not_stop_the_stream(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    store.append([offer(1)])
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)
    offsets = max((tmp_path / "checkpoint" / "offsets").glob("[0-9]*"))
    offsets.write_bytes(b"")
    offsets.with_name(f".{offsets.name}.crc").unlink(missing_ok=True)
    store.append([offer(2)])
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)
    assert notified(store) == [(1, "a"), (2, "a")]


def test_a_checkpoint_of_another_log_does_not_keep_events_from_being_matched(
    spark: SparkSession, store: Store, tmp_path: Path
) -> None:
    store.append([offer(n) for n in range(5)])
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)
    (tmp_path / "fresh").mkdir()
    fresh = Store(embedded(tmp_path / "fresh"))
    fresh.subscribe(cheaper("a", 150, "Desktop"))
    fresh.append([offer(1), offer(2)])
    with streaming(spark, fresh, tmp_path) as query:
        catch_up(query, fresh)
    assert notified(fresh) == [(1, "a"), (2, "a")]
    fresh.close()


def test_a_server_that_was_never_there_is_refused_and_one_that_was_is_waited_for(tmp_path: Path) -> None:
    class BegunError(Exception):
        pass

    def begin() -> SparkSession:
        raise BegunError

    address = f"postgresql://somebody@/store?host={tmp_path}"
    with pytest.raises(UsageError, match="the store cannot be reached; is this its address"):
        stream.run_stream(begin, address, tmp_path / "checkpoint")
    mark_format(tmp_path / "checkpoint")
    mark_store(tmp_path / "checkpoint", "postgresql://somebody@elsewhere/store")
    with pytest.raises(UsageError, match="the store cannot be reached; is this its address"):
        stream.run_stream(begin, address, tmp_path / "checkpoint")
    mark_store(tmp_path / "checkpoint", address)
    with pytest.raises(BegunError):
        stream.run_stream(begin, address, tmp_path / "checkpoint")


def test_a_stream_that_waits_for_a_store_can_be_interrupted() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        signals = stream._Signals()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)  # nothing is at work yet
        signals.at_work = True
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert signals.come()
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)


def test_a_checkpoint_serves_one_stream_at_a_time(tmp_path: Path) -> None:
    with stream._alone(tmp_path / "checkpoint"), pytest.raises(UsageError, match=r"running on .*checkpoint already"):
        stream.run_stream(session, "sqlite://", tmp_path / "checkpoint")
