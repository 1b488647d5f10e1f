"""OPS: Figure 8 of Wang, Jin and Li, An Ontology-Based Publish/Subscribe System (Middleware 2004)."""

from __future__ import annotations

from benchmarks.lab.chart import Axis, Line, Panel
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, column, figure
from benchmarks.lab.fit import exponent
from benchmarks.lab.timing import compared
from benchmarks.workloads.ops import Workload

SECTION = Section(
    10,
    "OPS: Figure 8",
    "The paper measured Java 1.4 on a Pentium IV of 1.6 GHz; ours is Python. Shown are the paper's matcher, mended, "
    "its baseline, and the engine that Triplewire uses, asked for one event at a time, and in batches as the pipeline "
    "asks it.",
)
SUBSCRIPTIONS = Axis("subscriptions")
TIME = Axis("ms an event", "log")


@experiment(
    "ops-subscriptions",
    "Figures 8(a) and 8(e): the OPS matcher and the engine as subscriptions grow; ten classes, about 3% match.",
    tiny=grid(subscriptions=(20, 40), events=2),
    normal=grid(subscriptions=(500, 1_000, 2_000, 5_000, 10_000), events=10),
    full=grid(subscriptions=(500, 1_000, 2_000, 5_000, 10_000, 20_000), events=30),
    seconds=60,
)
def subscriptions_grow(subscriptions: int, events: int) -> Row:
    workload = Workload()
    drawn = [workload.subscription(f"{number:06}") for number in range(subscriptions)]
    return compared(["ops", "engine"], workload.model, drawn, [workload.event(str(n)) for n in range(events)])


@figure(
    "ops-8a",
    "Figure 8(a): matching time and subscriptions",
    SECTION,
    ("ops-subscriptions",),
    "time is linear in the subscriptions, and 1.2 s at 10,000, of which 3% match.",
)
def figure_8a(rows: list[Row]) -> Drawn:
    ops = column(rows, "subscriptions", "ops, ms")
    published = Panel(
        "Published",
        SUBSCRIPTIONS,
        Axis("s an event"),
        [
            Line("OPS, the number in the text", [(10_000, 1.2)], "published"),
            Line("described: linear", [(500, 0.06), (10_000, 1.2)], "described", 0),
        ],
    )
    ours = Panel(
        "Here",
        Axis("subscriptions", "log"),
        TIME,
        [
            Line("the paper's matcher", ops),
            Line("the engine, an event at a time", column(rows, "subscriptions", "engine, ms")),
            Line("the engine, in batches", column(rows, "subscriptions", "batch, ms")),
        ],
    )
    power = exponent(ops)
    last = rows[-1]
    return Drawn(
        (published, ours),
        f"The paper's matcher grows with the power {power:.2f} of the subscriptions. {last['subscriptions']:,} of "
        f"them, of which {last['rate, %']:.1f}% match, take {last['ops, ms']:,.0f} ms; the engine takes "
        f"{last['engine, ms']:.2f} ms, in batches {last['batch, ms']:.3f} ms.",
        "holds" if 0.8 <= power <= 1.2 else "does not hold",
    )
