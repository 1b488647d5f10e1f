"""The OPS matcher on the workload of the paper's Figure 8, beside decomposition, its baseline.

8(a) and 8(e): time and tree nodes as subscriptions grow. 8(b): both matchers on few subscriptions. 8(c), 8(d) and 8(f):
the same as classes grow, and with them fewer subscriptions match.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from benchmarks.report import report
from benchmarks.workloads.ops import Workload
from triplewire.concepts.closure import close
from triplewire.concepts.model import ConceptModel
from triplewire.matching import Match, Matcher
from triplewire.matching.papers.decomposition import Decomposition
from triplewire.matching.papers.eventgraph import EventGraph
from triplewire.matching.papers.ops.matcher import OPS
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription

EVENTS = 30

M = TypeVar("M", bound=Matcher)


def main() -> None:
    report(
        "papers-ops",
        f"Figure 8(a) and 8(e): C = 10 classes, mean of {EVENTS} events, pure Python, processor time. The paper: 1.2 s "
        "at 10,000 subscriptions of which 3% match, and about 5 nodes a tree, linear and constant.",
        [_grown(subscriptions, classes=10) for subscriptions in (1_000, 2_000, 5_000, 10_000)],
    )
    report(
        "papers-decomposition",
        f"Figure 8(b): C = 10 classes, mean of {EVENTS} events, processor time. Preparing an event (its closure, and "
        "numbers for its vertices) is the same for both, and left out. The paper: 500 times at 20 subscriptions.",
        [_compared(subscriptions) for subscriptions in (1, 2, 5, 10, 15, 20, 100, 1_000)],
    )
    report(
        "papers-classes",
        f"Figure 8(c), 8(d) and 8(f): 1,000 subscriptions, mean of {EVENTS} events, processor time. Since events and "
        "subscriptions are cut out of the same graphs, the rate hardly depends on the classes; in the paper it falls.",
        [_grown(1_000, classes) for classes in (5, 10, 15, 20)],
    )


def _grown(subscriptions: int, classes: int) -> dict[str, object]:
    workload = Workload(classes)
    matcher = _filled(OPS, workload.model, (workload.subscription(f"{number:06}") for number in range(subscriptions)))
    events = [workload.event(str(number)) for number in range(EVENTS)]
    matcher.match(events[0])
    matcher.work.clear()
    times, matches = _timed(matcher, events)
    rate = sum(map(len, matches)) / subscriptions / EVENTS
    return {
        "classes": classes,
        "subscriptions": f"{subscriptions:,}",
        "matching": f"{rate:.1%}",
        "ms an event": f"{statistics.mean(times):.0f}",
        "at most": f"{max(times):.0f}",
        "µs a subscription": f"{statistics.mean(times) / subscriptions * 1000:.1f}",
        "nodes a tree": f"{matcher.work['nodes'] / subscriptions / EVENTS:.1f}",
        "trees verified": f"{matcher.work['verified'] / subscriptions / EVENTS:.1%}",
    }


def _compared(subscriptions: int) -> dict[str, object]:
    workload = Workload()
    drawn = [workload.subscription(f"{number:06}") for number in range(subscriptions)]
    events = [workload.event(str(number)) for number in range(EVENTS)]
    ops, decomposition = (_filled(make, workload.model, drawn) for make in (OPS, Decomposition))
    assert [ops.match(event) for event in events] == [decomposition.match(event) for event in events]
    preparing = _mean_best(lambda event: EventGraph(close(event.graph, workload.model)), events)
    mine, yours = (_mean_best(matcher.match, events) - preparing for matcher in (ops, decomposition))
    return {
        "subscriptions": f"{subscriptions:,}",
        "OPS, ms": f"{mine:.2f}",
        "decomposition, ms": f"{yours:.2f}",
        "decomposition / OPS": f"{yours / mine:.1f}",
        "preparing either, ms": f"{preparing:.2f}",
    }


def _filled(make: Callable[[ConceptModel], M], model: ConceptModel, subscriptions: Iterable[Subscription]) -> M:
    matcher = make(model)
    for subscription in subscriptions:
        matcher.add(subscription)
    gc.collect()
    gc.freeze()  # as a long-running process does: what stays is not looked through for garbage again and again
    return matcher


def _timed(matcher: Matcher, events: list[Event]) -> tuple[list[float], list[list[Match]]]:
    """Milliseconds of processor time for each event, and its matches."""
    times, matches = [], []
    for event in events:
        start = time.process_time()
        matches.append(matcher.match(event))
        times.append((time.process_time() - start) * 1000)
    return times, matches


def _mean_best(call: Callable[[Event], object], events: list[Event]) -> float:
    """The mean over events of the least of three times, in milliseconds of processor time."""

    def best(event: Event) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            call(event)
            times.append(time.process_time() - start)
        return min(times) * 1000

    return statistics.mean(map(best, events))


if __name__ == "__main__":
    main()
