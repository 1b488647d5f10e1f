"""The standing job as a process, killed again and again while events arrive."""

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

from tests.pipeline.world import broken, cheaper, eventually, expected, notified, offer
from tests.processes import descendants, still_there
from triplewire.store import Store

COMMAND = [sys.executable, "-m", "triplewire", "pipeline", "stream", "--home"]


@contextmanager
def pipeline(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The job, and at the end of the block a sudden end of it and of its JVM.

    Spark's Python processes are in groups of their own, and have to notice by themselves.
    """
    process = subprocess.Popen([*COMMAND, str(home)], start_new_session=True)
    try:
        yield process
        assert process.poll() is None, "it ended by itself"
    finally:
        started = descendants(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert still_there(started) == set()


class Publisher:
    """Publishes an event each time it is asked, every tenth of them a bad one, and changes a subscription at times."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.numbers = count(1)
        store.subscribe(cheaper("steady", 120, "Desktop"))
        store.subscribe(cheaper("fickle", 10, "Desktop"))

    def publish(self) -> None:
        number = next(self.numbers)
        self.store.append([broken(number) if number % 10 == 0 else offer(number, number * 37 % 200)])
        if number % 25 == 0:
            self.store.revise(cheaper("fickle", number * 61 % 200, "Desktop"))

    def until(self, condition: Callable[[], bool]) -> None:
        """Publish, at every fifth look, until something is so."""
        looks = count()

        def published() -> bool:
            if next(looks) % 5 == 0:
                self.publish()
            return condition()

        eventually(published, seconds=120)


def batches(home: Path, log: str) -> set[str]:
    return {path.name for path in (home / "checkpoint" / log).glob("[0-9]*")}


@pytest.mark.slow
def test_killed_at_any_point_the_pipeline_notifies_of_each_match_exactly_once(store: Store, tmp_path: Path) -> None:
    publisher = Publisher(store)
    with pipeline(tmp_path):  # killed within a batch, after some others
        publisher.until(lambda: store.pipeline_position() > 0)
        publisher.until(lambda: batches(tmp_path, "offsets") > batches(tmp_path, "commits"))
    with pipeline(tmp_path):  # killed when a batch has just been written, before Spark may have noted it
        done = store.pipeline_position()
        publisher.until(lambda: store.pipeline_position() > done)
    for _ in range(20):
        publisher.publish()

    last = store.last_position()
    subprocess.run([*COMMAND, str(tmp_path), "--until", str(last)], check=True, timeout=120)

    assert store.pipeline_position() == last
    letters = {letter.position for letter in store.dead_letters(limit=1_000_000)}
    assert letters == set(range(10, last + 1, 10))
    assert notified(store) == expected(store)
    assert {subscription for _, subscription in notified(store)} == {"steady", "fickle"}
