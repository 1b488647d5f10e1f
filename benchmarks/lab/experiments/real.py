"""Real worlds: data that nobody here wrote."""

from __future__ import annotations

from benchmarks.lab.chart import Bars
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, figure
from benchmarks.lab.timing import compared
from benchmarks.workloads.real import FOLDERS, absent, world

SECTION = Section(
    50,
    "Real worlds",
    "Schema.org's examples, with subscriptions drawn from them; items of RSS feeds, with the EXTRA rules, which "
    "experts wrote to classify news; changes of the W3C's catalogue of reports. The data lies in "
    "`../shared/data`, and what is not there is left out.",
)


def _absent() -> str | None:
    missing = [why for why in map(absent, FOLDERS) if why]
    return "; ".join(missing) or None


@experiment(
    "real-worlds",
    "The engine and brute force on schema.org's examples, RSS items with the EXTRA rules, and the W3C's catalogue.",
    tiny=grid(world_="rss", subscriptions=6, events=4),
    normal=grid(world_=tuple(FOLDERS), subscriptions=300, events=60),
    full=grid(world_=tuple(FOLDERS), subscriptions=10_000, events=400),
    seconds=60,
    absent=_absent,
)
def real_worlds(world_: str, subscriptions: int, events: int) -> Row:
    given = world(world_, subscriptions, events)
    row = compared(["engine", "brute"], given.model, given.subscriptions, given.events)
    arcs = sum(len(event.graph.triples) for event in given.events) / len(given.events)
    return row | {"kept": len(given.subscriptions), "published": len(given.events), "arcs an event": round(arcs, 1)}


@figure(
    "real-worlds",
    "Real events and subscriptions",
    SECTION,
    ("real-worlds",),
    "the engine finds what brute force finds, on real data, and faster.",
)
def figure_real(rows: list[Row]) -> Drawn:
    panels = []
    told = []
    for row in rows:
        times = {"engine, in batches": "batch, ms", "engine, one by one": "engine, ms", "brute force": "brute, ms"}
        values = [(name, float(row[key] or 0)) for name, key in times.items()]
        note = f"{row['kept']:,} subscriptions, events of {row['arcs an event']:.0f} arcs, {row['rate, %']:.2g}% match"
        panels.append(Bars(str(row["world_"]), "ms an event", values, log=True, note=note))
        told.append(f"{row['world_']} {float(row['brute, ms'] or 0) / float(row['batch, ms'] or 1):.0f}")
    faster = all(float(row["batch, ms"] or 0) < float(row["brute, ms"] or 0) for row in rows)
    return Drawn(
        tuple(panels),
        f"All found the same. In batches the engine is so many times as fast as brute force: {', '.join(told)}. The "
        "EXTRA rules are regular expressions joined by and, or and not, which the trie cannot decide: the engine "
        "evaluates them one by one.",
        "holds" if faster else "does not hold",
    )
