"""The standing job killed while events arrive, and then the broker that started it again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.test_stream import catch_up, streaming
from tests.pipeline.world import broken, cheaper, eventually, expected, notified, offer
from tests.processes import command_line, descendants, still_there
from triplewire.store import Store

DAEMON = b"triplewire.pipeline.daemon"


@contextmanager
def serving(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The broker, and at the end of the block a sudden end of it alone."""
    command = [sys.executable, "-m", "triplewire", "serve", "--port", "0", "--home", str(home)]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        yield process
        assert process.poll() is None, "it ended by itself"
    finally:
        started = descendants(process.pid)
        workers = [pid for pid in started if DAEMON in command_line(pid)]
        process.kill()
        process.wait()
    assert workers, "there was no worker"
    assert still_there(started) == set()


class Publisher:
    """Publishes an event each time it is asked, every fifth of them a bad one, and changes a subscription at times."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.numbers = count(1)
        store.subscribe(cheaper("steady", 120, "Desktop"))
        store.subscribe(cheaper("fickle", 10, "Desktop"))

    def publish(self) -> None:
        number = next(self.numbers)
        self.store.append([broken(number) if number % 5 == 0 else offer(number, number * 37 % 200)])
        if number % 8 == 0:
            self.store.revise(cheaper("fickle", number * 61 % 200, "Desktop"))

    def until(self, condition: Callable[[], bool]) -> None:
        """Publish, at every tenth look, until something is so."""
        looks = count()

        def published() -> bool:
            if next(looks) % 10 == 0:
                self.publish()
            return condition()

        eventually(published)


def batches(home: Path, log: str) -> set[str]:
    return {path.name for path in (home / "checkpoint" / log).glob("[0-9]*")}


def kill_pipeline(broker: int) -> None:
    """Kill the pipeline and its JVM. Spark's Python processes are in groups of their own, and notice by themselves."""
    started = descendants(broker)
    [pipeline] = [pid for pid in started if os.getpgid(pid) == pid and b"stream" in command_line(pid)]
    os.killpg(pipeline, signal.SIGKILL)
    assert still_there(started) == set()


@pytest.mark.slow
def test_killed_at_any_point_the_pipeline_notifies_of_each_match_exactly_once(
    store: Store, tmp_path: Path, spark: SparkSession
) -> None:
    publisher = Publisher(store)
    with serving(tmp_path) as broker:
        publisher.until(lambda: store.pipeline_position() > 0)
        publisher.until(lambda: batches(tmp_path, "offsets") > batches(tmp_path, "commits"))
        kill_pipeline(broker.pid)  # within a batch, after some others
        done = store.pipeline_position()
        publisher.until(lambda: store.pipeline_position() > done)
        # Now a batch has just been written, and Spark may not have noted it yet.
    for _ in range(20):
        publisher.publish()
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)

    last = store.last_position()
    assert store.pipeline_position() == last
    letters = {letter.position for letter in store.dead_letters(limit=1_000_000)}
    assert letters == set(range(5, last + 1, 5))
    assert notified(store) == expected(store)
    assert {subscription for _, subscription in notified(store)} == {"steady", "fickle"}
