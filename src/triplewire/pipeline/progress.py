"""What Spark is at, for people: a name in its pages, and on a terminal a progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from pyspark import SparkContext
from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import Progress

GLANCE, LATER = 0.2, 2.0
"""Seconds from one look to the next, and until a bar is worth showing."""


@contextmanager
def named(spark: SparkSession, what: str) -> Iterator[None]:
    """Give what Spark does in the block a name, and show how far it is once it has taken two seconds."""
    context = spark.sparkContext
    context.setJobDescription(what)
    ended = Event()
    shower = Thread(target=_show, args=(context, what, ended), daemon=True)
    if sys.stderr.isatty():
        shower.start()
    try:
        yield
    finally:
        ended.set()
        if shower.is_alive():
            shower.join()
        context.setJobDescription(None)  # type: ignore[arg-type]


def _show(context: SparkContext, what: str, ended: Event) -> None:
    start = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, visible=False)
        while not ended.wait(GLANCE):
            done, total = tasks(context)
            if time.monotonic() - start > LATER:
                bar.update(task, completed=done, total=total or None, visible=True)


def tasks(context: SparkContext) -> tuple[int, int]:
    """How many tasks of the stages at work are done, of how many."""
    tracker = context.statusTracker()
    found = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage)) is not None]
    return sum(info.numCompletedTasks for info in found), sum(info.numTasks for info in found)
