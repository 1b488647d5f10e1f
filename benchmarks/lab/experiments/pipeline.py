"""The pipeline: what a second core brings, where the time of an event goes, and the machines that follow from both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.lab.capacity import fitted
from benchmarks.lab.chart import Axis, Bars, Line, Panel
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, figure
from benchmarks.workloads.ops import Workload
from triplewire.lift.lifting import Lifting
from triplewire.matching.engine import trie as tries
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.quads import QuickEncoder, Reader
from triplewire.pipeline.canonical import lift_events
from triplewire.rdf.syntax import write
from triplewire.store import Outcome, Store, store_url

SECTION = Section(
    60,
    "The pipeline",
    "Events of 55 triples on Spark, from Parquet to Parquet, and where the time of one goes.",
)
RUNS = 3


@experiment(
    "pipeline-cores",
    "Events a second on Spark with one core and two, and with more subscriptions; the engine alone beside it.",
    tiny=[{"subscriptions": 20, "cores": 1, "events": 400, "rounds": 1}],
    normal=[
        {"subscriptions": subscriptions, "cores": cores, "events": 60_000, "rounds": 3}
        for subscriptions, cores in ((1_000, 1), (10_000, 1), (10_000, 2), (30_000, 1))
    ],
    seconds=210,
)
def cores(subscriptions: int, cores: int, events: int, rounds: int) -> Row:
    told = _run(events=events, subscriptions=subscriptions, cores=cores, rounds=rounds)
    pipeline, engine = told["pipeline"], told["engine"]
    return {
        "events a second": pipeline["steady, events a second"],
        "whole job": pipeline["events a second"],
        "CPU µs": pipeline["CPU µs an event"],
        "engine alone": engine["events a second"],
        "engine, CPU µs": engine["CPU µs an event"],
        "matches": engine["matches an event"],
        "index, MB": told["index, MB"],
    }


def _run(*flags: str, **given: int) -> dict[str, Any]:
    """What ``benchmarks.pipeline`` tells, in a process of its own, as Spark holds one."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "benchmarks.pipeline", *flags, *(f"--{name}={given[name]}" for name in given)]
    paths = os.pathsep.join(filter(None, [str(root), str(root / "src"), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths}
    run = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment, check=False)
    if run.returncode:
        raise RuntimeError(run.stderr)
    told: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return told


@experiment(
    "pipeline-latency",
    "From publishing to notification through the store and the standing job, at 100 events a second; from subscribing.",
    tiny=grid(events=100, subscriptions=20),
    normal=grid(events=2_000, subscriptions=900),
    seconds=60,
)
def latency(events: int, subscriptions: int) -> Iterator[Row]:
    told = _run("--latency", events=events, subscriptions=subscriptions)
    for what in ("publishing", "subscribing"):
        yield {"from": what, **told[f"ms from {what} to notification"]}
    yield {"from": "starting to the first batch", "p50": round(1000 * told["start to first batch, s"])}


@experiment(
    "pipeline-stages",
    "Processor time of an event by stage: lift, read, encode, match, tell, and write for each notification.",
    tiny=grid(subscriptions=20, events=20),
    normal=grid(subscriptions=10_000, events=2_000),
    seconds=15,
)
def stages(subscriptions: int, events: int) -> Iterator[Row]:
    """In this process, a batch at a time, as a worker does; the least of some runs."""
    workload = Workload()
    index = Index.build((workload.subscription(f"s{n:07}", 7, 8) for n in range(subscriptions)), workload.model)
    texts = [write(workload.event("", 26, 29).graph.arcs) for _ in range(events)]
    bodies = pa.record_batch(
        {"position": range(1, events + 1), "body": [_envelope(n, text) for n, text in enumerate(texts)]}
    )
    [batch] = lift_events([bodies], Lifting())
    index.match_batch(batch)  # learns the terms, and compiles what has not been
    [segment] = index._now().segments
    reader = Reader()
    columns = [_bytes(batch.column(name)) for name in ("data", "home")]
    documents = reader.read(*columns[0], *columns[1])
    encoder = QuickEncoder(segment.encoder, reader)
    encoded = encoder.encode(documents)
    scratch = tries.Scratch(segment.tables.trie)
    spent = {
        "lift": _least(lambda: list(lift_events([bodies], Lifting()))),
        "read": _least(lambda: reader.read(*columns[0], *columns[1])),
        "encode": _least(lambda: encoder.encode(documents)),
        "match": _least(lambda: tries.match_batch(segment.tables.trie, encoded, scratch)),
    }
    whole = _least(lambda: index.match_batch(batch))
    spent["tell"] = max(whole - spent["read"] - spent["encode"] - spent["match"], 0.0)
    for stage, seconds in spent.items():
        yield {"stage": stage, "µs": round(seconds / events * 1e6, 2)}
    yield {"stage": "write, a notification", "µs": round(_writing(events), 2)}


def _writing(count: int) -> float:
    """Microseconds to write a notification to a store of SQLite, in a transaction of many."""
    with TemporaryDirectory() as folder:
        store = Store(store_url(Path(folder)))
        store.append([("lab", f"e{n}", _envelope(n, "")) for n in range(count)])
        found = [Outcome(n + 1, f"e{n}", "s", 1.0, "[{}]") for n in range(count)]
        start = time.process_time()
        store.record(found, [], count)
        return (time.process_time() - start) / count * 1e6


def _envelope(number: int, data: str) -> str:
    head = {"specversion": "1.0", "id": f"e{number}", "source": "lab", "type": "t"}
    return json.dumps(head | {"datacontenttype": "application/n-quads", "home": "_:H", "data": data})


def _least(work: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def _bytes(column: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all texts, and where each begins, as the reader takes them."""
    _, offsets, data = column.cast(pa.large_string()).buffers()
    return np.frombuffer(data or b"", np.uint8), np.frombuffer(offsets, np.int64)[: len(column) + 1]


@figure(
    "pipeline-stages",
    "Where the time of an event goes",
    SECTION,
    ("pipeline-stages",),
    "the next bottleneck is the longest bar.",
)
def figure_stages(rows: list[Row]) -> Drawn:
    values = [(str(row["stage"]), float(row["µs"])) for row in rows]  # type: ignore[arg-type]
    longest, most = max(values[:-1], key=lambda one: one[1])
    whole = sum(value for _, value in values[:-1])
    told = (
        f"Of {whole:,.0f} µs for an event, {longest} takes {most:,.0f}; to write a notification, {values[-1][1]:,.0f}."
    )
    return Drawn((Bars("Processor time", "µs", values),), told)


@figure(
    "pipeline-latency",
    "From publishing, and from subscribing, to the notification",
    SECTION,
    ("pipeline-latency",),
    "whoever's pattern an event trips is told at once.",
)
def figure_latency(rows: list[Row]) -> Drawn:
    percentiles = [(row, name) for row in rows for name in ("p50", "p90", "p99") if row.get(name) is not None]
    values = [
        (f"{row['from']}, {name}" if "p99" in row else str(row["from"]), float(row[name])) for row, name in percentiles
    ]  # type: ignore[arg-type]
    published, subscribed, started = rows
    told = (
        f"Half of the notifications are there {published['p50']} ms after the event is published, 99% within "
        f"{published['p99']} ms. A subscription is matched within {subscribed['p99']} ms. The job starts in "
        f"{float(started['p50']) / 1000:.1f} s."  # type: ignore[arg-type]
    )
    return Drawn((Bars("Time to the notification", "ms", values),), told)


@figure(
    "pipeline-cores",
    "Events a second on Spark, with one core and with two",
    SECTION,
    ("pipeline-cores",),
    "a second core brings nearly as much again.",
)
def figure_cores(rows: list[Row]) -> Drawn:
    both = [row for row in rows if row["subscriptions"] == rows[min(1, len(rows) - 1)]["subscriptions"]]
    lines = [
        Line(name, [(float(row["cores"]), float(row[key])) for row in both])  # type: ignore[arg-type]
        for name, key in (("the pipeline", "events a second"), ("the engine alone", "engine alone"))
    ]
    gain = float(both[-1]["events a second"]) / float(both[0]["events a second"])  # type: ignore[arg-type]
    of_engine = float(both[-1]["engine alone"]) / float(both[0]["engine alone"])  # type: ignore[arg-type]
    told = (
        f"At {both[-1]['subscriptions']:,} subscriptions, {both[-1]['cores']} cores match "
        f"{both[-1]['events a second']:,} events a second: {gain:.2f} times what {both[0]['cores']} does. "
        f"The engine alone gains {of_engine:.2f}."
    )
    panel = Panel("Events a second", Axis("cores"), Axis("events a second"), lines)
    return Drawn((panel,), told, "holds" if gain >= 0.9 * of_engine else "does not hold")


@figure(
    "capacity",
    "Machines needed",
    Section(70, "Capacity", "What follows for clusters. The model and its assumptions: [capacity](capacity.md)."),
    ("pipeline-cores", "growth-subscriptions"),
    "the model tells points that it was not fitted on to within a quarter.",
)
def figure_capacity(rows: list[Row], growth: list[Row]) -> Drawn:
    costs, checks = fitted(rows, growth)
    rates = (100, 1_000, 10_000, 100_000, 1_000_000)
    lines = [
        Line(f"{size:,} subscriptions", [(rate, costs.machines(size, rate)) for rate in rates])
        for size in (100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
    ]
    panel = Panel("Machines of 16 cores, 64 GB", Axis("events a second", "log"), Axis("machines", "log"), lines)
    worst = max((abs(one.error) for one in checks), default=0.0)
    told = " ".join(map(str, checks))
    return Drawn((panel,), told, "holds" if worst <= 0.25 else "does not hold")
