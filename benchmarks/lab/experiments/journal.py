"""OPS in its journal version: what it says of the algorithm's complexity, against the work that was counted."""

from __future__ import annotations

from benchmarks.lab.chart import Axis, Line, Panel
from benchmarks.lab.experiment import Row
from benchmarks.lab.figure import Drawn, Section, column, figure
from benchmarks.lab.fit import exponent

SECTION = Section(
    15,
    "OPS: the journal version's complexity",
    "It says that an event takes O(TS·D·W·SP): TS its typed-statements, D the meta-statements that one implies, W the "
    "patterns that wait at a meta-statement, SP the patterns that follow one in a matching tree. With n "
    "subscriptions of sp patterns and m meta-statements, W is about n·sp/m. So the time is linear in the "
    "subscriptions, and falls as there are more meta-statements. Counted here are the nodes of matching trees.",
)


@figure(
    "ops-complexity",
    "O(TS·D·W·SP)",
    SECTION,
    ("ops-subscriptions", "ops-classes"),
    "work is linear in the subscriptions, and inverse to the meta-statements, of which there are two for each class; "
    "TS does not depend on either.",
)
def figure_complexity(by_subscriptions: list[Row], by_classes: list[Row]) -> Drawn:
    grown = column(by_subscriptions, "subscriptions", "ops: nodes")
    shrunk = sorted(column(by_classes, "classes", "ops: nodes"))
    statements = {row["ops: statements"] for row in (*by_subscriptions, *by_classes)}
    up, down = exponent(grown), exponent(shrunk)
    panels = (
        Panel("Subscriptions", Axis("subscriptions", "log"), Axis("nodes an event", "log"), [Line("counted", grown)]),
        Panel("Classes", Axis("classes", "log"), Axis("nodes an event", "log"), [Line("counted", shrunk)]),
    )
    linear, inverse = 0.9 <= up <= 1.1, -1.1 <= down <= -0.9
    why = (
        ""
        if inverse
        else " It falls more slowly than 1/m, as a pattern that waits elsewhere has other patterns after it."
    )
    return Drawn(
        panels,
        f"The nodes grow with the power {up:.2f} of the subscriptions, and with {down:.2f} of the classes. Events have "
        f"{'the same' if len(statements) == 1 else 'about the same'} number of typed-statements throughout.{why}",
        "holds" if linear and inverse and len(statements) == 1 else "holds in part" if linear else "does not hold",
    )
