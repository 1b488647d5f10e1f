"""How the stream is getting on, in a file that others read: the broker for ``/metrics``, people, soak tests.

Workers count what they do, and the time that it takes, in files of their own, beside it; the report has the sums.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql.streaming.listener import JStreamingQueryListener, StreamingQueryListener

from triplewire.store import Store

log = logging.getLogger(__name__)

REPORT, WORK, STAGES = "pipeline.json", "work", "stages"
TALK = 10.0
"""Seconds from one line of the log to the next, at least."""


class _Brief(JStreamingQueryListener):
    """Hands a batch's progress on as JSON, in two calls to the JVM: as an object it takes hundreds."""

    def onQueryProgress(self, jevent: Any) -> None:  # noqa: N802, the name is Spark's
        self.pylistener.onQueryProgress(json.loads(jevent.progress().json()))


class Reporter(StreamingQueryListener):
    """Writes the report into a folder after each batch, and a line to the log now and then."""

    @cached_property
    def _jlistener(self) -> Any:
        """What the JVM calls; Spark's own, but for the progress."""
        jvm: Any = SparkContext._jvm
        return jvm.PythonStreamingQueryListenerWrapper(_Brief(self))

    def __init__(self, folder: Path, store: Store, query: str) -> None:
        self.folder = folder
        self._store = store
        self._query = query
        self._events = self._batches = 0
        self._seconds: Counter[str] = Counter()
        self._told = (0.0, 0, 0)
        for kind in (WORK, STAGES):
            for path in (folder / kind).glob("*.json"):
                path.unlink()

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802, the name is Spark's
        if event.name == self._query:
            log.info("the pipeline has started; the log is done up to position %d", self._store.pipeline_position())

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802, the name is Spark's
        if event["name"] != self._query:
            return
        try:
            self._report(event)
        except Exception as error:  # what cannot be told must not end what it is about
            log.warning("the report cannot be written: %s", error)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802, the name is Spark's
        """Nothing to tell that has not been told."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802, the name is Spark's
        """The report of the last batch stays."""

    def _report(self, progress: Mapping[str, Any]) -> None:
        durations = {name: millis / 1000 for name, millis in progress.get("durationMs", {}).items()}
        self._events += progress["numInputRows"]
        self._batches += 1
        self._seconds.update(durations)
        done, newest = self._store.pipeline_position(), self._store.last_position()
        report = {
            "at": time.time(),
            "batch": progress["batchId"],
            "batches": self._batches,
            "events": self._events,
            "events_per_second": progress.get("processedRowsPerSecond") or 0.0,
            "position": done,
            "lag": max(newest - done, 0),
            "seconds": durations,
            "seconds_total": self._seconds,
            "version": f"{self._store.ontology_version(done)}@{self._store.last_boundary(done)}",
            "stages": {stage: spent / 1e9 for stage, spent in counted(self.folder, STAGES).items()},
            "work": counted(self.folder, WORK),
        }
        write_whole(self.folder / REPORT, report)
        self._talk(report)

    def _talk(self, report: Mapping[str, Any]) -> None:
        """A line for people, of all batches since the last one."""
        at, batches, events = self._told
        if report["events"] > events and report["at"] - at >= TALK:
            self._told = report["at"], report["batches"], report["events"]
            log.info(
                "%s events in %d batches, up to position %s; %s behind; the last batch took %.2f s",
                f"{report['events'] - events:,}",
                report["batches"] - batches,
                f"{report['position']:,}",
                f"{report['lag']:,}",
                report["seconds"].get("triggerExecution", 0.0),
            )


@contextmanager
def counting(folder: Path | None, kind: str, counts: Counter[str]) -> Iterator[None]:
    """Add what is counted in the block to what this process has counted before, for the report."""
    before = Counter(counts)
    yield
    if folder is not None and (done := counts - before):
        path = folder / kind / f"{os.getpid()}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, Counter(_read(path)) + done)


@contextmanager
def timing(folder: Path | None, stage: str) -> Iterator[None]:
    """Count the nanoseconds that the block takes as those of a stage, for the report."""
    spent: Counter[str] = Counter()
    with counting(folder, STAGES, spent):
        began = time.perf_counter_ns()
        yield
        spent[stage] += time.perf_counter_ns() - began


def timed(spent: Counter[str], stage: str, items: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The items, with the nanoseconds that each takes to come added to those of a stage."""
    coming = iter(items)
    while True:
        began = time.perf_counter_ns()
        try:
            item = next(coming)
        except StopIteration:
            return
        finally:
            spent[stage] += time.perf_counter_ns() - began
        yield item


def counted(folder: Path, kind: str) -> Counter[str]:
    """What all processes have counted."""
    total: Counter[str] = Counter()
    for path in (folder / kind).glob("*.json"):
        total.update(_read(path))
    return total


def write_whole(path: Path, value: object) -> None:
    """Replace a file in one step."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(value), encoding="utf-8")
    unfinished.replace(path)


def _read(path: Path) -> dict[str, int]:
    with suppress(OSError, ValueError):
        found: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
        return found
    return {}
