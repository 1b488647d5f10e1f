"""Peers: what a user would pick instead, on the same subscriptions and events as the engine, in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import mean

import numpy as np

from benchmarks.engine_filters import some_events, some_filters
from benchmarks.lab.chart import Axis, Line, Panel
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, column, figure
from benchmarks.peers.asks import in_rdflib, oxigraph
from benchmarks.peers.java import jena, lucene
from benchmarks.peers.native import cpp
from benchmarks.peers.ours import engine, trie
from benchmarks.peers.plain import plain
from benchmarks.peers.tables import in_duckdb
from benchmarks.peers.tasks import Absent, Answer, Filters, Graphs
from benchmarks.workloads.ops import Workload

SECTION = Section(
    40,
    "Peers",
    "What one would pick instead, given the same subscriptions and events, on one core each. All must find the same. "
    "Each has so many seconds for the events; the fastest of up to three passes counts for each. A peer that was "
    "stopped before it had answered one event, or that cannot be had, is told so; nothing is estimated.",
)
OURS, BARE = "Triplewire, events as RDF", "Triplewire, encoded events"
Peer = Callable[..., Answer]


@experiment(
    "peers-graphs",
    "Graph patterns of 10 vertices and 11 arcs in events of 50 and 55, in the engine and in its peers.",
    tiny=grid(subscriptions=20, events=2, limit=1),
    normal=grid(subscriptions=(100, 1_000, 10_000), events=10, limit=8),
    full=grid(subscriptions=(100, 1_000, 10_000, 100_000), events=20, limit=300),
    seconds=110,
)
def graphs(subscriptions: int, events: int, limit: float) -> Iterator[Row]:
    workload = Workload()
    task = Graphs.of(
        [workload.subscription(f"{number:06}") for number in range(subscriptions)],
        [workload.event(str(number)) for number in range(events)],
    )
    ours = engine(task, 600)
    native = partial(cpp, found=ours.found)
    peers = {
        "C++ yardstick, encoded events": native,
        "an index by hand in Python": plain,
        "DuckDB, one query for all": in_duckdb,
        "Oxigraph, an ASK each": oxigraph,
        "Apache Jena, an ASK each": jena,
        "rdflib, an ASK each": in_rdflib,
    }
    return _rows(task, ours, peers, limit)


@experiment(
    "peers-filters",
    "Filters of three to five comparisons of twenty attributes, in the engine and in its peers; 0.1% match.",
    tiny=grid(subscriptions=50, events=2, limit=1),
    normal=grid(subscriptions=(1_000, 10_000, 30_000), events=10, limit=6),
    full=grid(subscriptions=(1_000, 10_000, 100_000), events=20, limit=300),
    seconds=100,
)
def filters(subscriptions: int, events: int, limit: float) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    task = Filters.of(some_filters(rng, subscriptions), some_events(rng, events))
    peers = {
        "an index by hand in Python": plain,
        "Lucene Monitor": lucene,
        "DuckDB, one query for all": in_duckdb,
        "Oxigraph, an ASK each": oxigraph,
        "Apache Jena, an ASK each": jena,
        "rdflib, an ASK each": in_rdflib,
    }
    return _rows(task, engine(task, 600), peers, limit)


def _rows(task: Graphs | Filters, ours: Answer, peers: dict[str, Peer], limit: float) -> Iterator[Row]:
    yield _row(OURS, ours, ours)
    yield _row(BARE, trie(task, limit), ours)
    for name, peer in peers.items():
        try:
            yield _row(name, peer(task, limit), ours)
        except Absent as reason:
            yield {"by": name, "absent": str(reason)}


def _row(name: str, answer: Answer, ours: Answer) -> Row:
    """Of as many events as the peer came to."""
    if answer.found != ours.found[: len(answer.found)]:
        raise AssertionError(f"{name} does not find what the engine finds")
    took = mean(answer.seconds) * 1e6 if answer.seconds else None
    return {
        "by": name,
        "answered": len(answer.found),
        "matches": round(mean(map(len, answer.found)), 2) if answer.found else None,
        "µs": None if took is None else round(took, 1),
        "times ours": None if took is None else round(took / (mean(ours.seconds[: len(answer.found)]) * 1e6), 2),
        "ready, s": round(answer.ready, 2),
    }


def _drawn(rows: list[Row], title: str) -> Drawn:
    names = list(dict.fromkeys(str(row["by"]) for row in rows))
    lines = [(name, column(rows, "subscriptions", "µs", by=name)) for name in names]
    panel = Panel(
        title,
        Axis("subscriptions", "log"),
        Axis("µs an event", "log"),
        [Line(name, points) for name, points in lines if points],
    )
    largest = max(int(row["subscriptions"]) for row in rows)  # type: ignore[arg-type]
    last = {str(row["by"]): row for row in rows if row["subscriptions"] == largest}
    return Drawn((panel,), " ".join(_sentences(last, largest)))


def _sentences(last: dict[str, Row], size: int) -> Iterator[str]:
    ours, bare = last.pop(OURS), last.pop(BARE)
    yield f"At {size:,} subscriptions the engine takes {ours['µs']:,.0f} µs an event given RDF,"
    yield f"and {bare['µs']:,.1f} µs given it encoded."
    timed = [(name, row["times ours"]) for name, row in last.items() if row.get("times ours") is not None]
    if timed:
        yield f"Times that, given RDF: {'; '.join(f'{name}, {_times(float(times))}' for name, times in timed)}."
    stopped = [name for name, row in last.items() if "absent" not in row and row.get("µs") is None]
    if stopped:
        yield f"Stopped before one event was answered: {'; '.join(stopped)}."
    absent = [f"{name} ({row['absent']})" for name, row in last.items() if "absent" in row]
    if absent:
        yield f"Absent: {'; '.join(absent)}."


def _times(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


@figure(
    "peers-graphs",
    "Graph patterns, and what one would pick instead",
    SECTION,
    ("peers-graphs",),
    "the engine is orders of magnitude faster than asking each subscription, and near a native matcher.",
)
def figure_graphs(rows: list[Row]) -> Drawn:
    return _drawn(rows, "Graph patterns")


@figure(
    "peers-filters",
    "Filters, and what one would pick instead",
    SECTION,
    ("peers-filters",),
    "the engine is faster than what percolates documents or joins tables.",
)
def figure_filters(rows: list[Row]) -> Drawn:
    return _drawn(rows, "Filters")
