"""The standing job: one Structured Streaming query from the event log to notifications and dead letters."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from triplewire.errors import UsageError
from triplewire.lift.lifting import DEFAULT, Lifting, load_lifting
from triplewire.pipeline import stage
from triplewire.pipeline.checkpoint import LOCK, set_aside_if_unfit
from triplewire.pipeline.session import session
from triplewire.pipeline.source import EventLog
from triplewire.store import DeadLetter, Outcome, Store

BATCH = 4000
"""How many events of a backlog are taken at a time."""

GLANCE, PATIENCE = 0.1, 2.0
"""Seconds from one look at the query to the next, and for a batch to end when the stream is to."""

SETTINGS = {
    "spark.python.daemon.module": "triplewire.pipeline.daemon",
    # streams do not have it, and say so each time
    "spark.sql.adaptive.enabled": "false",
    # no limit to what a batch may bring: with one, a batch beyond it fails, and is replayed and fails for ever
    "spark.driver.maxResultSize": "0",
    # how often an idle stream looks for events: a compromise of delay and idle work
    "spark.sql.streaming.pollingDelay": "50ms",
    # renames instead of HDFS's abstractions: 100 ms less a batch, and sound for one writer, which _alone makes sure of
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


def run_stream(
    store: str,
    checkpoint: Path,
    master: str | None = None,
    until: int | None = None,
    parent: int | None = None,
    lifting: Path | None = None,
) -> None:
    """Match events as they arrive, until asked to end by a signal, or the log up to a position is done.

    ``lifting`` is a folder of settings, read here once: every worker has the same, and a change of it waits for the
    next start.
    With a ``parent``, it also ends once that is no longer the process that started it, so that no broker killed
    hard leaves a pipeline behind.
    """
    settings = load_lifting(lifting)
    with _alone(checkpoint):
        spark = session(master, "triplewire", SETTINGS)
        try:
            ended = _on_signals()
            query = start_stream(spark, store, checkpoint, lifting=settings)
            _wait(query, Store(store), until, parent, ended)
            _stop(query)
        finally:
            spark.stop()


def start_stream(
    spark: SparkSession, store: str, checkpoint: Path, batch: int = BATCH, lifting: Lifting = DEFAULT
) -> StreamingQuery:
    """Start the query. What it has done is known to the checkpoint, and to the store, which holds each result once."""
    set_aside_if_unfit(checkpoint, Store(store))
    spark.dataSource.register(EventLog)
    events = spark.readStream.format(EventLog.name()).option("store", store).option("batch", batch).load()
    results = events.mapInArrow(partial(stage.match_events, store=store, lifting=lifting), stage.SCHEMA)
    writer = results.writeStream.foreachBatch(partial(write_results, store=Store(store)))
    return writer.option("checkpointLocation", str(checkpoint.absolute())).queryName("triplewire").start()


def write_results(results: DataFrame, _batch: int, store: Store) -> None:
    """Write a batch's notifications and dead letters, and how far it went, in one transaction."""
    rows = [stage.Row(*row) for row in results.collect()]
    outcomes = [Outcome(r.position, r.event, r.subscription, r.score, r.bindings) for r in rows if r.subscription]
    refused = [DeadLetter(r.position, r.reason) for r in rows if r.reason]
    store.record(outcomes, refused, max((row.position for row in rows), default=0))


def _wait(query: StreamingQuery, store: Store, until: int | None, parent: int | None, ended: Event) -> None:
    while query.isActive and not ended.wait(GLANCE):
        if until is not None and store.pipeline_position() >= until:
            return
        if parent is not None and os.getppid() != parent:
            return
    if (error := query.exception()) is not None:
        raise error


def _stop(query: StreamingQuery) -> None:
    """Stop between two batches if one comes soon: to break one off does no harm, but a lot of talk."""
    deadline = time.monotonic() + PATIENCE
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
        time.sleep(0.01)
    query.stop()


def _on_signals() -> Event:
    """What an interrupt or a request to terminate sets, from now on, instead of breaking off what is going on."""
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: ended.set())
    return ended


@contextmanager
def _alone(checkpoint: Path) -> Iterator[None]:
    """Keep a second stream away from the checkpoint, which has room for one."""
    checkpoint.mkdir(parents=True, exist_ok=True)
    with (checkpoint / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"a pipeline is running on {checkpoint} already") from None
        yield
