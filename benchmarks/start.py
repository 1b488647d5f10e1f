"""From nothing to the first match: where the time goes when a process starts on an index and compiled kernels.

``python -m benchmarks.start`` takes the quickest of several runs, by the processor's time; the clock's is of the same
run. Where other work goes on, the clock tells of that, too.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.index import MODEL, ops_sized
from benchmarks.report import report
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.warmup import warm
from triplewire.testing import cloud_event

STAGES = """
import sys, time
marks = [("Python", time.process_time(), 0.0)]
began = time.perf_counter()
def mark(stage):
    marks.append((stage, time.process_time(), time.perf_counter() - began))
import numpy
mark("importing NumPy")
import numba
mark("importing Numba")
from pathlib import Path
from triplewire.matching.engine.index import Index
mark("importing the engine")
from triplewire.lift.cloudevents import parse_event
event = parse_event(Path(sys.argv[2]).read_text())
mark("reading an event")
index = Index.open(Path(sys.argv[1]))
mark("opening the index")
index.match(event)
mark("the first match")
index.match(event)
mark("the second match")
import json
print(json.dumps(marks))
"""

EVENT = "@prefix : <http://example.org/> . _:H :p1 _:a ; a :C1 . _:a :p2 _:b ; a :C2 . _:b a :C3 ."


def stages(index: Path, event: Path, runs: int) -> list[dict[str, object]]:
    """The stages of a process that imports, opens and matches."""
    all_ = [json.loads(_ran(["-c", STAGES, str(index), str(event)])[0]) for _ in range(runs)]
    marks = min(all_, key=lambda run: run[-1][1])
    rows = [_row(marks[0][0], marks[0][1], 0.0)]
    for before, after in pairwise(marks):
        rows.append(_row(after[0], after[1] - before[1], after[2] - before[2]))
    return [*rows, _row("all of these", marks[-1][1], marks[-1][2])]


def command(index: Path, event: Path, runs: int) -> dict[str, object]:
    """The command that does the same."""
    arguments = ["-m", "triplewire", "match", "--index", str(index), "--events", str(event)]
    _, cpu, clock = min((_ran(arguments) for _ in range(runs)), key=lambda run: run[1])
    return _row("`triplewire match --index`", cpu, clock)


def _ran(arguments: list[str]) -> tuple[str, float, float]:
    """What a process said, and how long it took by the processor and by the clock."""
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return said, used.ru_utime + used.ru_stime, time.perf_counter() - start


def _row(stage: str, cpu: float, clock: float) -> dict[str, object]:
    return {"stage": stage, "processor, ms": f"{cpu * 1000:.0f}", "clock, ms": f"{clock * 1000:.0f}"}


def main(size: int = 10_000, runs: int = 9) -> None:
    warm()
    rng = random.Random(1)
    with TemporaryDirectory() as folder:
        place, event = Path(folder, "index"), Path(folder, "event.ndjson")
        index = Index.build((ops_sized(rng, number) for number in range(size)), MODEL)
        index.save(place)
        index.close()
        event.write_text(json.dumps(cloud_event(EVENT)) + "\n")
        rows = [*stages(place, event, runs), command(place, event, runs)]
    told = f"{(__doc__ or '').strip()}\n\nAn index of {size:,} patterns of ten vertices, kernels compiled before."
    report("start", told, rows)


if __name__ == "__main__":
    main()
