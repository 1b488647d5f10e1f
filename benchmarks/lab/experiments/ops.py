"""OPS: Figure 8 of Wang, Jin and Li, An Ontology-Based Publish/Subscribe System (Middleware 2004)."""

from __future__ import annotations

from benchmarks.lab.chart import Axis, Line, Panel
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, column, figure, ordered
from benchmarks.lab.fit import correlation, exponent
from benchmarks.lab.timing import compared, mean
from benchmarks.workloads.ops import Workload

SECTION = Section(
    10,
    "OPS: Figure 8",
    "The paper measured Java 1.4 on a Pentium IV of 1.6 GHz; ours is Python. Shown are the paper's matcher, mended, "
    "its baseline, and the engine that Triplewire uses, asked for one event at a time, and in batches as the pipeline "
    "asks it.",
)
MATCHERS = {
    "ops, ms": "the paper's matcher",
    "engine, ms": "the engine, one by one",
    "batch, ms": "the engine, in batches",
}
TIME = Axis("ms an event", "log")
NODES = Axis("nodes in a matching tree, mean")


@experiment(
    "ops-subscriptions",
    "Figures 8(a) and 8(e): the OPS matcher and the engine as subscriptions grow; ten classes, about 3% match.",
    tiny=grid(subscriptions=(20, 40), events=2),
    normal=grid(subscriptions=(500, 10_000, 2_000, 5_000, 1_000), events=12),
    full=grid(subscriptions=(500, 1_000, 2_000, 5_000, 10_000, 20_000), events=36),
    seconds=70,
)
def subscriptions_grow(subscriptions: int, events: int) -> Row:
    return _row(["ops", "engine"], subscriptions, events, Workload())


@experiment(
    "ops-decomposition",
    "Figure 8(b): the OPS matcher, decomposition and the engine on few subscriptions, and on some more.",
    tiny=grid(subscriptions=(1, 5), events=2),
    normal=grid(subscriptions=(1, 2, 5, 10, 15, 20, 50, 100, 500), events=12),
    full=grid(subscriptions=(1, 2, 5, 10, 15, 20, 50, 100, 500, 1_000), events=36),
    seconds=15,
)
def few_subscriptions(subscriptions: int, events: int) -> Row:
    return _row(["ops", "decomposition", "engine"], subscriptions, events, Workload())


@experiment(
    "ops-classes",
    "Figures 8(c), 8(d) and 8(f): 1,000 subscriptions as classes grow; the rate of matches falls with them.",
    tiny=grid(classes=(2, 5), subscriptions=20, events=2, worlds=2),
    normal=grid(classes=(20, 2, 10, 5, 3, 15, 4, 8, 6), subscriptions=1_000, events=6, worlds=4),
    full=grid(classes=(20, 18, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2), subscriptions=1_000, events=12, worlds=12),
    seconds=80,
)
def classes_grow(classes: int, subscriptions: int, events: int, worlds: int) -> Row:
    return _row(["ops", "engine"], subscriptions, events, *(Workload(classes, seed=1 + n) for n in range(worlds)))


@experiment(
    "ops-unplanted",
    "Beside Figure 8(c): the same with graphs drawn independently of each other, of which hardly any match.",
    tiny=grid(classes=(2, 5), subscriptions=20, events=2, worlds=2),
    normal=grid(classes=(20, 2, 10, 5), subscriptions=1_000, events=6, worlds=3),
    full=grid(classes=(20, 15, 10, 8, 6, 5, 4, 3, 2), subscriptions=1_000, events=12, worlds=12),
    seconds=20,
)
def independent(classes: int, subscriptions: int, events: int, worlds: int) -> Row:
    drawn = (Workload(classes, planted=False, seed=1 + number) for number in range(worlds))
    return _row(["ops", "engine"], subscriptions, events, *drawn)


def _row(matchers: list[str], subscriptions: int, events: int, *worlds: Workload) -> Row:
    """The mean of some worlds."""
    rows = []
    for world in worlds:
        drawn = [world.subscription(f"{number:06}") for number in range(subscriptions)]
        rows.append(compared(matchers, world.model, drawn, [world.event(str(number)) for number in range(events)]))
    row = mean(rows)
    return row | {"nodes a tree": round(float(row["ops: nodes"] or 0) / subscriptions, 2)}


def _times(rows: list[Row], x: str, matchers: dict[str, str] = MATCHERS) -> list[Line]:
    return [Line(name, column(rows, x, key)) for key, name in matchers.items()]


WORK = {
    "ops: nodes": "nodes of matching trees, the paper's matcher",
    "engine: nodes visited": "nodes of the trie, the engine",
}


@figure(
    "ops-8a",
    "Figure 8(a): matching time and subscriptions",
    SECTION,
    ("ops-subscriptions",),
    "time is linear in the subscriptions, and 1.2 s at 10,000, of which 3% match.",
)
def figure_8a(rows: list[Row]) -> Drawn:
    x = Axis("subscriptions", "log")
    published = [
        Line("described: linear", [(500, 60), (10_000, 1200)], "described", 0),
        Line("OPS, as the text says", [(10_000, 1200)], "published", 0),
    ]
    power = exponent(column(rows, "subscriptions", "ops, ms"))
    work, engine = (exponent(column(rows, "subscriptions", name)) for name in WORK)
    last = ordered(rows, "subscriptions")[-1]
    return Drawn(
        (
            Panel("Published", x, TIME, published),
            Panel("Here", x, TIME, _times(rows, "subscriptions")),
            Panel("Here, counted work", x, Axis("nodes an event", "log"), _times(rows, "subscriptions", WORK)),
        ),
        f"The paper's matcher grows with the power {power:.2f} of the subscriptions, and the nodes of its trees with "
        f"{work:.2f}. {last['subscriptions']:,} subscriptions, of which {last['rate, %']:.1f}% match, take it "
        f"{last['ops, ms']:,.0f} ms. The engine takes {last['engine, ms']:.2f} ms, in batches "
        f"{last['batch, ms']:.3f} ms, and the nodes of its trie that it visits grow with the power {engine:.2f}.",
        "holds" if 0.8 <= power <= 1.2 else "does not hold",
    )


@figure(
    "ops-8b",
    "Figure 8(b): OPS and decomposition",
    SECTION,
    ("ops-decomposition",),
    "at 20 subscriptions decomposition takes 500 ms and OPS 1 ms; conventional graph matching does not scale.",
)
def figure_8b(rows: list[Row]) -> Drawn:
    x = Axis("subscriptions", "log", shown=(1, 20))
    published = [
        Line("OPS, as the text says", [(20, 1)], "published", 0),
        Line("decomposition, as the text says", [(20, 500)], "published", 3),
    ]
    few = min(rows, key=lambda row: abs(int(row["subscriptions"] or 0) - 20))
    times = [float(row["decomposition, ms"] or 0) / float(row["ops, ms"] or 1) for row in (few, rows[-1])]
    ours = _times(rows, "subscriptions")
    ours.append(Line("decomposition", column(rows, "subscriptions", "decomposition, ms"), colour=3))
    why = (
        " The paper does not tell how its decomposition was written. Ours keeps equal parts of all patterns as one, so "
        f"that an event has {few['decomposition: embeddings']:,.0f} embeddings to join, and no part is joined twice."
    )
    return Drawn(
        (Panel("Published", x, TIME, published), Panel("Here", x, TIME, ours)),
        f"At {few['subscriptions']} subscriptions decomposition takes {times[0]:.1f} times as long as OPS, not 500 "
        f"times, and at {rows[-1]['subscriptions']:,} {times[1]:.1f} times.{'' if times[0] >= 100 else why}",
        "holds" if times[0] >= 100 else "holds in part" if times[0] > 2 else "does not hold",
    )


@figure(
    "ops-8c",
    "Figure 8(c): matching time and classes",
    SECTION,
    ("ops-classes", "ops-unplanted"),
    "with 1,000 subscriptions time falls from 2500 ms at 2 classes to about 50 ms at 20, as the matching rate does.",
)
def figure_8c(rows: list[Row], unplanted: list[Row]) -> Drawn:
    x, rate = Axis("classes"), Axis("% of subscriptions that match")
    published = [
        Line("described: falls; how, the text does not say", [(2, 2500), (20, 50)], "described", 0),
        Line("OPS, as the text says", [(2, 2500), (20, 50)], "published", 0),
    ]
    rates = [
        Line("here", column(rows, "classes", "rate, %")),
        Line("here, drawn independently", column(unplanted, "classes", "rate, %"), colour=3),
        Line("OPS, as the text says", [(2, 23.8), (10, 3), (20, 1.3)], "published", 0),
    ]
    alone = Line("the paper's matcher, drawn independently", column(unplanted, "classes", "ops, ms"))
    (few, *_, many), (few_alone, *_, many_alone) = (ordered(some, "classes") for some in (rows, unplanted))
    falls = float(few["ops, ms"] or 0) / float(many["ops, ms"] or 1)
    by_itself = float(few_alone["ops, ms"] or 0) / float(many_alone["ops, ms"] or 1)
    return Drawn(
        (
            Panel("Published", x, TIME, published),
            Panel("Here", x, TIME, [*_times(rows, "classes"), alone]),
            Panel("Rate of matches", x, rate, rates),
        ),
        f"The paper's matcher takes {few['ops, ms']:,.0f} ms at {few['classes']} classes and {many['ops, ms']:,.0f} ms "
        f"at {many['classes']}, {falls:.0f} times less; {few['rate, %']:.1f}% and {many['rate, %']:.1f}% match. Where "
        f"graphs are drawn independently, next to none match ({few_alone['rate, %']:.2f}% and "
        f"{many_alone['rate, %']:.2f}%), and it still takes {by_itself:.0f} times less: "
        + (
            "so fewer partial mappings, not fewer matches, are a good part of the reason."
            if by_itself > 2
            else "so the rate is the reason, as the paper says."
        ),
        "holds" if falls >= 10 and by_itself <= 2 else "holds in part" if falls >= 2 else "does not hold",
    )


@figure(
    "ops-8d",
    "Figure 8(d): matching time and matching rate",
    SECTION,
    ("ops-classes",),
    "the same results against the matching rate: time is almost linear in it.",
)
def figure_8d(rows: list[Row]) -> Drawn:
    x, y = Axis("% of subscriptions that match"), Axis("ms an event")
    published = [
        Line("described: almost linear", [(1.3, 50), (23.8, 2500)], "described", 0),
        Line("OPS, as the text says", [(1.3, 50), (23.8, 2500)], "published", 0),
    ]
    ours, engine = (column(rows, "rate, %", name) for name in ("ops, ms", "batch, ms"))
    straight = correlation(ours)
    return Drawn(
        (
            Panel("Published", x, y, published),
            Panel("Here", x, y, [Line("the paper's matcher", ours)]),
            Panel("Here, the engine", x, y, [Line("the engine, in batches", engine, colour=2)]),
        ),
        f"A straight line fits the paper's matcher with a correlation of {straight:.2f}. From the least rate to the "
        f"largest it takes {ours[-1][1] / ours[0][1]:.0f} times as long, and the engine "
        f"{engine[-1][1] / engine[0][1]:.1f} times.",
        "holds" if straight >= 0.95 else "holds in part" if straight >= 0.8 else "does not hold",
    )


@figure(
    "ops-8e",
    "Figure 8(e): space and subscriptions",
    SECTION,
    ("ops-subscriptions",),
    "a matching tree has about 5 nodes, however many subscriptions there are, so space is linear in them.",
)
def figure_8e(rows: list[Row]) -> Drawn:
    x = Axis("subscriptions", "log")
    published = [Line("described: always around 5", [(500, 5), (10_000, 5)], "described")]
    nodes = column(rows, "subscriptions", "nodes a tree")
    power, average = exponent(nodes), sum(y for _, y in nodes) / len(nodes)
    return Drawn(
        (Panel("Published", x, NODES, published), Panel("Here", x, NODES, [Line("the paper's matcher", nodes)])),
        f"Trees have {average:.0f} nodes on average, and that changes with the power {power:.2f} of the subscriptions: "
        "the space is linear. How many nodes they have depends on the graphs, of which the paper tells too little to "
        "draw the same.",
        "holds" if abs(power) < 0.15 else "does not hold",
    )


@figure(
    "ops-8f",
    "Figure 8(f): space and matching rate",
    SECTION,
    ("ops-classes",),
    "from 1.3% to 23.8% of matches the nodes of a tree increase just a little: space is sub-linear in the rate.",
)
def figure_8f(rows: list[Row]) -> Drawn:
    x = Axis("% of subscriptions that match", shown=(25,))
    published = [
        Line("described: increases just a little", [(1.3, 5), (23.8, 7)], "described", 0),
    ]
    nodes = column(rows, "rate, %", "nodes a tree")
    power = exponent(nodes)
    return Drawn(
        (
            Panel("Published", x, Axis(NODES.label, numbers=False), published, "how little, the text does not say"),
            Panel("Here", x, NODES, [Line("the paper's matcher", nodes)]),
        ),
        f"From {nodes[0][0]:.1f}% to {nodes[-1][0]:.1f}% of matches the nodes of a tree grow from {nodes[0][1]:.0f} to "
        f"{nodes[-1][1]:.0f}, with the power {power:.2f} of the rate.",
        "holds" if power < 0.8 else "does not hold",
    )
