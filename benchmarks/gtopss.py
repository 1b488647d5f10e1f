"""The G-ToPSS matcher on the workload of its paper's Table 1, Figures 9(b) and 9(e): more subscriptions, more edges.

Vertices are drawn from 2,000 names in 93 topics of 50. A subscription is a connected multigraph of five vertices, two
of which become variables in nine of ten; half of the subscriptions have the graph of an earlier one. An event of 90
arcs is put together from subscriptions' graphs of one topic, and filled up at random.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import NamedNode

from benchmarks.report import report
from triplewire.concepts.model import ConceptModel
from triplewire.matching import BruteForce, Matcher
from triplewire.matching.papers.gtopss import GToPSS
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import Alternative, Arc, Pattern, Scope, Subscription, Variable

NAMES = [NamedNode(f"http://example.org/n{n}") for n in range(2000)]
PROPERTIES = [NamedNode(f"http://example.org/p{n}") for n in range(40)]
TOPICS, TOPIC_NAMES = 93, 50
EVENT_NAMES, EVENT_ARCS = 35, 90

Multigraph = frozenset[Triple]


@dataclass(frozen=True)
class Workload:
    subscriptions: list[Subscription]
    events: list[Event]


def workload(subscriptions: int, edges: int, events: int = 10, seed: int = 1) -> Workload:
    rng = random.Random(seed)
    topics = [rng.sample(NAMES, TOPIC_NAMES) for _ in range(TOPICS)]
    graphs: list[tuple[int, Multigraph]] = []
    made = []
    for number in range(subscriptions):
        if not graphs or rng.random() < 0.5:
            topic = rng.randrange(TOPICS)
            graphs.append((topic, _multigraph(rng, rng.sample(topics[topic], 5), edges)))
        made.append(_subscription(rng, f"{number:06}", rng.choice(graphs)[1]))
    return Workload(made, [_event(rng, f"e{n}", topics, graphs) for n in range(events)])


def _multigraph(rng: random.Random, names: list[NamedNode], arcs: int) -> Multigraph:
    drawn = {_arc(rng, names[number], names[rng.randrange(number)]) for number in range(1, len(names))}
    while len(drawn) < arcs:
        drawn.add(_arc(rng, *rng.sample(names, 2)))
    return frozenset(drawn)


def _arc(rng: random.Random, one: NamedNode, other: NamedNode) -> Triple:
    subject, object_ = (one, other) if rng.random() < 0.5 else (other, one)
    return Triple(subject, rng.choice(PROPERTIES), object_)


def _subscription(rng: random.Random, id_: str, graph: Multigraph) -> Subscription:
    names = sorted({end for arc in graph for end in (arc.subject, arc.object)}, key=lambda name: name.value)
    chosen = rng.sample(names, 2) if rng.random() < 0.9 else []
    stands_for = dict(zip(chosen, (Variable("x"), Variable("y")), strict=False))
    parts = sorted(((stands_for.get(s, s), p, stands_for.get(o, o)) for s, p, o in graph), key=_values)
    return Subscription(id_, (Alternative(Pattern(tuple(Arc(s, p, o, Scope.ASSERTED) for s, p, o in parts))),))


def _values(parts: Iterable[Variable | NamedNode]) -> list[str]:
    return [part.name if isinstance(part, Variable) else part.value for part in parts]


def _event(rng: random.Random, id_: str, topics: list[list[NamedNode]], graphs: list[tuple[int, Multigraph]]) -> Event:
    topic = rng.randrange(TOPICS)
    planted = [graph for of, graph in graphs if of == topic]
    rng.shuffle(planted)
    arcs: set[Triple] = set()
    for graph in planted:
        ends = {end for arc in arcs | graph for end in (arc.subject, arc.object)}
        if len(arcs | graph) <= EVENT_ARCS and len(ends) <= EVENT_NAMES:
            arcs |= graph
    named = sorted({end for arc in arcs for end in (arc.subject, arc.object)} or set(topics[topic]), key=str)
    while len(arcs) < EVENT_ARCS:
        arcs.add(_arc(rng, *rng.sample(named, 2)))
    return Event("benchmark", id_, Graph(arcs))


def measure(subscriptions: int, edges: int) -> dict[str, object]:
    """A row of the table."""
    given = workload(subscriptions, edges)
    matcher = GToPSS(ConceptModel())
    start = time.process_time()
    _add(matcher, given.subscriptions)
    added = time.process_time() - start
    times, matches = [], 0
    for event in given.events:
        start = time.process_time()
        matches += len(matcher.match(event, bindings=True))
        times.append(time.process_time() - start)
    each = len(given.events)
    return {
        "subscriptions": f"{subscriptions:,}",
        "edges": edges,
        "edges of GM": f"{sum(1 for _ in matcher.graph):,}",
        "µs to add one": f"{added / subscriptions * 1e6:.0f}",
        "ms an event (median)": f"{sorted(times)[each // 2] * 1000:.1f}",
        "longest": f"{max(times) * 1000:.1f}",
        **{name: f"{matcher.work[name] / each:,.0f}" for name in ("hits", "candidates", "joins")},
        "matches": f"{matches / each:.1f}",
    }


def check(subscriptions: int = 1000, edges: int = 6) -> None:
    """Brute force finds the same."""
    given = workload(subscriptions, edges, events=2)
    matcher, brute = GToPSS(ConceptModel()), BruteForce(ConceptModel())
    for one in (matcher, brute):
        _add(one, given.subscriptions)
    for event in given.events:
        assert matcher.match(event, bindings=True) == brute.match(event, bindings=True)


def _add(matcher: Matcher, subscriptions: list[Subscription]) -> None:
    for subscription in subscriptions:
        matcher.add(subscription)


def main(most: int = 30_000) -> None:
    check()
    sizes = [(most // 6, 5), (most // 3, 5), (most, 5)]
    sweep = [(most, edges) for edges in (4, 8, 16, 25, 35)]
    rows = [measure(*size) for size in sizes + sweep]
    told = (
        "Events of 90 arcs among at most 35 vertices, with bindings, pure Python. "
        "Times are the process's own; counts are per event."
    )
    report("gtopss", told, rows)


if __name__ == "__main__":
    main()
