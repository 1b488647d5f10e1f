"""OncePubSub: the covering forest of attribute predicates."""

from __future__ import annotations

from benchmarks.lab.chart import Axis, Line, Panel
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, column, figure, ordered
from benchmarks.lab.fit import exponent
from benchmarks.lab.timing import compared
from benchmarks.workloads.attributes import Workload
from triplewire.concepts.model import ConceptModel
from triplewire.matching.papers.forest import CoveringForest

SECTION = Section(
    30,
    "OncePubSub: the covering forest",
    "Of this paper nothing is left but its abstract and its algorithms: efficient matching and good scalability are "
    "claimed, by keeping subscriptions below those that cover them and searching predicates once. So there is no "
    "published figure to stand beside ours. Subscriptions have three to five predicates on twenty attributes; the "
    "*covering degree* is the share of them that were drawn to be covered by another.",
)
TIMES = {
    "forest, ms": "the covering forest",
    "engine, ms": "the engine, one by one",
    "batch, ms": "the engine, in batches",
}


@experiment(
    "covering-degree",
    "Time, visits and pruning of the covering forest as more subscriptions are covered by others.",
    tiny=grid(covering=(0.0, 0.9), subscriptions=30, events=2),
    normal=grid(covering=(0.0, 0.99, 0.5, 0.75, 0.25, 0.9), subscriptions=5_000, events=10),
    full=grid(covering=(0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99), subscriptions=50_000, events=30),
    seconds=60,
)
def degree_grows(covering: float, subscriptions: int, events: int) -> Row:
    workload = Workload(subscriptions, covering, events)
    drawn = workload.drawn()
    forest = CoveringForest(ConceptModel())
    for one in drawn:
        forest.add(one)
    shape: Row = {"trees": sum(1 for _ in forest.forest.top.children), "nodes": len(forest.forest)}
    row = compared(["forest", "engine"], ConceptModel(), drawn, workload.published())
    visited, nodes = float(row["forest: visited"] or 0), len(forest.forest)
    return row | shape | {"pruned, %": round(100 * (1 - visited / nodes), 2)}


@experiment(
    "covering-subscriptions",
    "The covering forest, the engine, and trying all, as subscriptions grow; half of them are covered by others.",
    tiny=grid(subscriptions=(20, 40), events=2),
    normal=grid(subscriptions=(500, 10_000, 2_000, 5_000, 1_000), events=5),
    full=grid(subscriptions=(1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000), events=20),
    seconds=60,
)
def subscriptions_grow(subscriptions: int, events: int) -> Row:
    workload = Workload(subscriptions, 0.5, events)
    return compared(["forest", "engine", "brute"], ConceptModel(), workload.drawn(), workload.published())


@figure(
    "covering-degree",
    "Time and pruning against the covering degree",
    SECTION,
    ("covering-degree",),
    "a failed parent prunes its whole tree, so the more subscriptions are covered, the fewer are looked at.",
)
def figure_degree(rows: list[Row]) -> Drawn:
    x = Axis("covering degree", shown=(0, 1))
    looked = [
        Line("trees", column(rows, "covering", "trees")),
        Line("subscriptions visited", column(rows, "covering", "forest: visited")),
        Line("matches", column(rows, "covering", "matches")),
    ]
    work = [
        Line("searches of predicate sets", column(rows, "covering", "forest: searches")),
        Line("predicates tried one by one", column(rows, "covering", "forest: tests")),
        Line("nodes of the engine's trie", column(rows, "covering", "engine: nodes visited")),
    ]
    first, *_, last = ordered(rows, "covering")
    visits = [float(row["forest: visited"] or 0) for row in (first, last)]
    rows_of_times = [Line(name, column(rows, "covering", key)) for key, name in TIMES.items()]
    wasted = [float(row["forest: visited"] or 0) / max(1.0, float(row["matches"] or 0)) for row in (first, last)]
    fewer = wasted[-1] < wasted[0]
    return Drawn(
        (
            Panel("Time", x, Axis("ms an event", "log"), rows_of_times),
            Panel("What is looked at", x, Axis("an event", "log"), looked),
            Panel("Counted work", x, Axis("an event", "log"), work),
        ),
        f"From a covering degree of {first['covering']:g} to {last['covering']:g} the trees fall from "
        f"{first['trees']:,} to {last['trees']:,}; {first['pruned, %']:.1f}% and {last['pruned, %']:.1f}% of the "
        f"subscriptions are never looked at. For each match {wasted[0]:.1f} and {wasted[-1]:.1f} are visited. The "
        f"forest takes {first['forest, ms']:.2f} and {last['forest, ms']:.2f} ms. What is visited changes less than "
        "the trees do, as siblings are grouped by a predicate that they share even where none covers another.",
        "holds" if visits[-1] < visits[0] and fewer else "holds in part" if fewer else "does not hold",
    )


@figure(
    "covering-subscriptions",
    "Scalability of the covering forest",
    SECTION,
    ("covering-subscriptions",),
    "efficient matching performance and good scalability.",
)
def figure_subscriptions(rows: list[Row]) -> Drawn:
    x, y = Axis("subscriptions", "log"), Axis("ms an event", "log")
    lines = [Line(name, column(rows, "subscriptions", key)) for key, name in TIMES.items()]
    lines.append(Line("trying every subscription", column(rows, "subscriptions", "brute, ms"), colour=4))
    adding = [
        Line("the covering forest", column(rows, "subscriptions", "forest, µs to add")),
        Line("the engine", column(rows, "subscriptions", "engine, µs to add")),
    ]
    power, engine = (exponent(column(rows, "subscriptions", key)) for key in ("forest, ms", "batch, ms"))
    last = ordered(rows, "subscriptions")[-1]
    times = float(last["brute, ms"] or 0) / float(last["forest, ms"] or 1)
    return Drawn(
        (Panel("Matching", x, y, lines), Panel("Adding", x, Axis("µs a subscription", "log"), adding)),
        f"The forest grows with the power {power:.2f} of the subscriptions, and is {times:.0f} times as fast as trying "
        f"all {last['subscriptions']:,}; the engine in batches grows with {engine:.2f}, and takes "
        f"{last['batch, ms']:.3f} ms where the forest takes {last['forest, ms']:.1f}.",
        "holds" if power < 1 and times > 5 else "holds in part" if times > 2 else "does not hold",
    )
