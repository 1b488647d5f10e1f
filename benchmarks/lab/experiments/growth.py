"""Growth: what an event costs as subscriptions, events, ontologies, match rates and cores grow."""

from __future__ import annotations

import time
from itertools import pairwise
from random import Random

import numpy as np
from pyoxigraph import BlankNode, NamedNode

from benchmarks.engine import few
from benchmarks.lab.chart import Axis, Line, Panel
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, column, figure
from benchmarks.lab.fit import exponent
from benchmarks.lab.timing import in_batch
from benchmarks.workloads.encoded import Sizes, workload
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.encoded import EncodedEvents, EncodedPatterns
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.trie import Scratch, build_trie, expand, match_batch
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import RDF, Triple, Vocabulary
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, ClassConstraint, Pattern, Subscription, Variable

SECTION = Section(
    50,
    "Growth",
    "How the cost of an event grows. Unless told otherwise, an encoded event goes in and groups of subscriptions come "
    "out, in batches on one core, the best of several runs. The exponent is the slope on logarithmic axes: "
    "1 is linear, 0 no growth. Nodes are the trie's nodes that were looked at, the same on every machine.",
)
EX = Vocabulary("http://example.org/")


def _measured(patterns: EncodedPatterns, events: EncodedEvents, repetitions: int = 5) -> Row:
    build_trie(few(patterns, min(len(patterns), 100)))  # compiles what is not compiled yet
    start = time.perf_counter()
    trie = build_trie(patterns)
    built = time.perf_counter() - start
    scratch = Scratch(trie)
    offsets, groups = match_batch(trie, events, scratch)
    nodes = scratch.visits / len(events)
    matches = sum(len(expand(trie, groups[start:end])) for start, end in pairwise(offsets)) / len(events)
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        match_batch(trie, events, scratch)
        times.append(time.process_time() - start)
    return {
        "µs": round(min(times) / len(events) * 1e6, 2),
        "nodes": round(nodes, 1),
        "matches": round(matches, 2),
        "rate, %": round(100 * matches / len(patterns), 3),
        "built, s": round(built, 2),
    }


@experiment(
    "growth-subscriptions",
    "Matching as subscriptions grow from 1,000 to 10,000,000 (a million, unless in full); about 3% match.",
    tiny=grid(subscriptions=(100, 200), events=2),
    normal=grid(subscriptions=(1_000, 10_000, 100_000, 1_000_000), events=50),
    full=grid(subscriptions=(1_000, 10_000, 100_000, 1_000_000, 10_000_000), events=50),
    seconds=30,
)
def subscriptions_grow(subscriptions: int, events: int) -> Row:
    return _measured(*workload(subscriptions, events))


@experiment(
    "growth-event",
    "Matching as events grow from 10 to 10,000 arcs; 10,000 subscriptions of five arcs.",
    tiny=grid(arcs=(10, 100), subscriptions=50, events=2),
    normal=grid(arcs=(10, 30, 100, 300, 1_000, 3_000, 10_000), subscriptions=10_000, events=10),
    seconds=8,
)
def events_grow(arcs: int, subscriptions: int, events: int) -> Row:
    """Large graphs have a tenth more than what is cut out of them."""
    vertices = arcs * 9 // 10
    sizes = Sizes((5, 5), (vertices, arcs), (vertices + max(vertices // 10, 1), arcs + max(arcs // 5, 3)), 5)
    return _measured(*workload(subscriptions, events, sizes), repetitions=3)


@experiment(
    "growth-rate",
    "Matching as none to 20% of 100,000 subscriptions match.",
    tiny=grid(share=(0.0, 1.0), subscriptions=50, events=2),
    normal=grid(share=(0.0, 0.01, 0.03, 0.06, 0.12, 0.18, 0.27, 0.36), subscriptions=100_000, events=30),
    seconds=15,
)
def rates_grow(share: float, subscriptions: int, events: int) -> Row:
    """All events are cut out of one large graph; a share of the subscriptions is cut out of the same."""
    return _measured(*workload(subscriptions, events, Sizes(bases=1), share))


@experiment(
    "growth-ontology",
    "Matching as the ontology grows from 10 to 50,000 classes; 2,000 subscriptions that name classes at all levels.",
    tiny=grid(classes=(10, 100), subscriptions=50, events=3),
    normal=grid(classes=(10, 100, 1_000, 10_000, 50_000), subscriptions=2_000, events=100),
    seconds=10,
)
def ontologies_grow(classes: int, subscriptions: int, events: int) -> Row:
    """From events as RDF, in batches. A class's parent is drawn from those before it."""
    rng = Random(1)
    names = [EX[f"C{number}"] for number in range(classes)]
    parent = [0, *(rng.randrange(number) for number in range(1, classes))]
    model = ConceptModel({names[number]: frozenset({names[parent[number]]}) for number in range(1, classes)})

    def above(number: int) -> NamedNode:
        line = [number]
        while line[-1]:
            line.append(parent[line[-1]])
        return names[rng.choice(line)]

    drawn = [
        _subscription(f"{number:06}", [above(rng.randrange(classes)) for _ in range(3)])
        for number in range(subscriptions)
    ]
    start = time.perf_counter()
    index = Index.build(drawn, model)
    built = time.perf_counter() - start
    given = [_event(str(number), [rng.choice(names) for _ in range(8)]) for number in range(events)]
    spent = in_batch(index, given, 2) * 1000
    index.work.clear()
    matches = sum(len(index.match(event)) for event in given) / events
    nodes = index.work["nodes visited"] / events
    return {"µs": round(spent, 2), "nodes": round(nodes, 1), "matches": matches, "built, s": round(built, 2)}


def _subscription(id_: str, classes: list[NamedNode]) -> Subscription:
    """A path of two arcs from home, each vertex with a class."""
    vertices = (HOME, Variable("a"), Variable("b"))
    arcs = tuple(Arc(s, EX.p, o) for s, o in pairwise(vertices))
    return Subscription(id_, (Alternative(Pattern(arcs, tuple(map(ClassConstraint, vertices, classes)))),))


def _event(id_: str, classes: list[NamedNode]) -> Event:
    """A tree of arcs under home, two below each."""
    nodes = [BlankNode(f"n{number}") for number in range(len(classes))]
    arcs = [Triple(nodes[(number - 1) // 2], EX.p, nodes[number]) for number in range(1, len(nodes))]
    types = [Triple(node, RDF.type, cls) for node, cls in zip(nodes, classes, strict=True)]
    return Event("lab", id_, Graph(arcs + types, nodes[0]))


def _grown(rows: list[Row], by: str, label: str, what: str) -> Drawn:
    times, nodes = column(rows, by, "µs"), column(rows, by, "nodes")
    panels = [Panel("Time", Axis(label, "log"), Axis("µs an event", "log"), [Line("measured", times)])]
    if nodes:
        panels.append(Panel("Work", Axis(label, "log"), Axis("nodes looked at", "log"), [Line("counted", nodes)]))
    counted = f", the nodes looked at with the power {exponent(nodes):.2f}" if nodes else ""
    first, last = rows[0], rows[-1]
    told = (
        f"From {first[by]:,} to {last[by]:,} {what} the time grows with the power {exponent(times):.2f}{counted}: "
        f"{first['µs']:,.4g} to {last['µs']:,.4g} µs an event."
    )
    return Drawn(tuple(panels), told)


@figure(
    "growth-subscriptions",
    "Growth with subscriptions",
    SECTION,
    ("growth-subscriptions",),
    "time grows more slowly than the subscriptions, as many begin alike and many are the same.",
)
def figure_subscriptions(rows: list[Row]) -> Drawn:
    drawn = _grown(rows, "subscriptions", "subscriptions", "subscriptions")
    return Drawn(drawn.panels, drawn.sentence, _below_one(column(rows, "subscriptions", "µs")))


def _below_one(points: list[tuple[float, float]]) -> str:
    return "holds" if exponent(points) < 1 else "does not hold"


@figure(
    "growth-event",
    "Growth with the size of events",
    SECTION,
    ("growth-event",),
    "time grows no faster than events do, once all of an event is looked at.",
)
def figure_events(rows: list[Row]) -> Drawn:
    return _grown(rows, "arcs", "arcs of an event", "arcs")


@figure(
    "growth-ontology",
    "Growth with the ontology",
    SECTION,
    ("growth-ontology",),
    "an ontology's size hardly matters: what counts is how many classes are above those of an event.",
)
def figure_ontologies(rows: list[Row]) -> Drawn:
    return _grown(rows, "classes", "classes", "classes")


@figure(
    "growth-rate",
    "Growth with the match rate",
    SECTION,
    ("growth-rate",),
    "time is about linear in what is found, above what it takes to find nothing.",
)
def figure_rates(rows: list[Row]) -> Drawn:
    times, nodes = column(rows, "rate, %", "µs"), column(rows, "rate, %", "nodes")
    panels = (
        Panel("Time", Axis("match rate, %"), Axis("µs an event"), [Line("measured", times)]),
        Panel("Work", Axis("match rate, %"), Axis("nodes looked at"), [Line("counted", nodes)]),
    )
    slope, least = np.polyfit(*np.array(times).T, 1)
    told = (
        f"With nothing found an event takes {times[0][1]:,.4g} µs, at {times[-1][0]:.1f}% {times[-1][1]:,.4g} µs: "
        f"about {slope:,.3g} µs for each percent, above {least:,.3g}."
    )
    return Drawn(panels, told)
