"""Benchmarks whose results are tables, each a command of its own as well: ``python -m benchmarks.NAME``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import (
    canonical,
    concepts,
    engine_filters,
    index,
    interests,
    matching,
    quads,
    reading,
    relatives,
    start,
    stw,
    subscriptions,
)
from benchmarks.lab.experiment import experiment, grid
from benchmarks.report import taken


def _register(name: str, shows: str, rows: Callable[..., Any], seconds: float, **points: Any) -> None:
    experiment(name, shows, seconds=seconds, **points)(rows)


def _of(main: Callable[..., None]) -> Callable[..., Any]:
    return lambda **parameters: taken(main, **parameters)


_register(
    "canonical",
    "What the canonical form of a pattern costs, of ordinary patterns and of very regular ones.",
    _of(canonical.main),
    15,
    tiny=grid(most_arcs=0),
    normal=grid(most_arcs=5_000),
)
_register(
    "concepts",
    "Loading an ontology with its closures: one of 45,000 classes, and DBpedia's where it is present.",
    _of(concepts.main),
    10,
    tiny=grid(classes=250),
    normal=grid(classes=45_000),
)
_register(
    "reading",
    "Reading and checking an event beside pyoxigraph's own parser.",
    _of(reading.main),
    5,
    tiny=grid(rounds=1),
    normal=grid(rounds=5),
)
_register(
    "subscriptions",
    "How fast texts of subscriptions are understood.",
    _of(subscriptions.main),
    12,
    tiny=grid(count=8),
    normal=grid(count=2_000),
)
_register(
    "relatives",
    "Who covers whom in a file of subscriptions, and how few pairs are asked about.",
    lambda count: taken(relatives.main, counts=(count,)),
    6,
    tiny=grid(count=5),
    normal=grid(count=(100, 300, 1_000)),
)
_register(
    "matching",
    "Brute force beside one ASK for each subscription, in Oxigraph and in rdflib.",
    _of(matching.main),
    20,
    tiny=grid(subscriptions=3, events=2),
    normal=grid(subscriptions=200, events=20),
)
_register(
    "filters-encoded",
    "The engine's trie on many filters, as numbers.",
    lambda number, events: engine_filters.measure(number, events),
    10,
    tiny=grid(number=20, events=3),
    normal=grid(number=(10_000, 100_000), events=100),
    full=grid(number=(10_000, 100_000, 1_000_000), events=100),
)
_register(
    "changes",
    "How fast subscriptions are added to an index and removed from it, in memory and in a folder.",
    lambda size, changed: index.changes(size, changed),
    30,
    tiny=grid(size=10, changed=5),
    normal=grid(size=(1_000, 10_000), changed=3_000),
    full=grid(size=(1_000, 10_000, 100_000), changed=3_000),
)
_register(
    "opening",
    "How fast an index of any size is opened.",
    lambda first, last: index.opening((first, last)),
    10,
    tiny=grid(first=100, last=10_000_000),
    normal=grid(first=10_000, last=10_000_000),
)
_register(
    "quads",
    "From N-Quads to matched ids in batch: what each part of the way costs an event.",
    _of(quads.main),
    6,
    tiny=grid(events=10, rounds=1),
    normal=grid(events=5_000, rounds=7),
)
_register(
    "spotting",
    "Labels found in texts.",
    _of(interests.spotting),
    10,
    tiny=grid(labels=50),
    normal=grid(labels=100_000),
)
_register(
    "interests",
    "Many interests over the STW thesaurus, matched exactly.",
    lambda count: taken(interests.matching, model=stw.model(), interests=count),
    20,
    tiny=grid(count=50),
    normal=grid(count=(10_000, 100_000, 1_000_000)),
    absent=stw.absent,
)
_register(
    "start",
    "From nothing to the first match: where the time goes when a process starts.",
    _of(start.main),
    30,
    tiny=grid(size=10, runs=1),
    normal=grid(size=10_000, runs=9),
)
