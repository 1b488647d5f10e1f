"""Running experiments: progress on a terminal, a time budget, and what they find kept."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.lab.experiment import Experiment, Row, Scale
from benchmarks.lab.record import DATA, Record


def run(
    experiments: Sequence[Experiment], scale: Scale, minutes: float | None = None, folder: Path = DATA
) -> list[str]:
    """Run experiments one after the other and keep what each finds.

    With a budget, each gets its share of the time that is left: points that it does not reach are left out, but for
    the first two, which a line needs. What cannot be run here is named, and its kept data stays; so does that of an
    experiment that fails, whose name is returned, and the others go on.
    """
    console, failed = Console(stderr=True), list[str]()
    end = None if minutes is None else time.monotonic() + 60 * minutes
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        for number, one in enumerate(experiments):
            if why := one.absent():
                console.print(f"{one.name}: left out: {why}")
                continue
            left = sum(other.seconds for other in experiments[number:])
            share = None if end is None else (end - time.monotonic()) * one.seconds / left
            try:
                record = _measured(one, scale, share, progress)
            except Exception:
                console.print_exception()
                failed.append(one.name)
                continue
            record.save(folder)
            told = "" if record.complete else ", cut short by the time budget"
            console.print(f"{one.name}: {len(record.rows)} rows in {record.seconds:.0f} s{told}")
    return failed


def _measured(one: Experiment, scale: Scale, share: float | None, progress: Progress) -> Record:
    points, rows = one.points[scale], list[Row]()
    load, start = os.getloadavg()[0], time.monotonic()
    task = progress.add_task(one.name, total=len(points))
    complete = True
    for number, point in enumerate(points):
        if share is not None and number > 1 and time.monotonic() - start > share:
            complete = False
            break
        rows += one.rows(point)
        progress.advance(task)
    return Record.of(one, scale, rows, time.monotonic() - start, load, complete)
