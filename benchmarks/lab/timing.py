"""Matchers on the same subscriptions and events: compared first, then timed, with the work they count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from zlib import crc32

import pyarrow as pa

from benchmarks.lab.experiment import Row
from triplewire.concepts.model import ConceptModel
from triplewire.matching import MATCHERS, Matcher
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import write
from triplewire.subscriptions.pattern import Subscription


def compared(
    names: Sequence[str],
    model: ConceptModel,
    subscriptions: Sequence[Subscription],
    events: Sequence[Event],
    bindings: bool = False,
) -> Row:
    """A row on matchers, by their names: milliseconds an event, and their work an event, as ``NAME: WORK``.

    All must find the same, of which ``found`` is a digest. ``batch, ms`` is the engine's time for an event among
    others, from N-Quads to ids, without bindings.
    """
    row: Row = {}
    found: list[list[object]] = []
    for name in names:
        start = time.process_time()
        matcher = filled(name, model, subscriptions)
        row[f"{name}, µs to add"] = round((time.process_time() - start) / len(subscriptions) * 1e6, 1)
        found.append([matcher.match(event, bindings) for event in events])
        if found[-1] != found[0]:
            raise AssertionError(f"{name} and {names[0]} do not find the same")
        matcher.work.clear()
        row[f"{name}, ms"] = milliseconds(lambda event, of=matcher: of.match(event, bindings), events)  # type: ignore[misc]
        row |= {f"{name}: {what}": round(count / len(events), 2) for what, count in matcher.work.items()}
        if isinstance(matcher, Index):
            row["batch, ms"] = in_batch(matcher, events, 20 if float(row["engine, ms"] or 0) < 10 else 2)
        del matcher
    row["matches"] = sum(map(len, found[0])) / len(events)  # type: ignore[arg-type]
    row["rate, %"] = round(100 * row["matches"] / len(subscriptions), 3)
    row["found"] = crc32(repr(found[0]).encode())
    return row


def filled(name: str, model: ConceptModel, subscriptions: Sequence[Subscription]) -> Matcher:
    """A matcher with subscriptions, as a long-running process has it: what stays is not looked through for garbage."""
    if name == "engine":
        matcher: Matcher = Index.build(subscriptions, model)
    else:
        matcher = MATCHERS[name](model)
        for subscription in subscriptions:
            matcher.add(subscription)
    gc.collect()
    gc.freeze()
    return matcher


def milliseconds(match: Callable[[Event], object], events: Sequence[Event]) -> float:
    """The mean processor time of an event."""
    start = time.process_time()
    for event in events:
        match(event)
    return round((time.process_time() - start) / len(events) * 1000, 4)


def in_batch(index: Index, events: Sequence[Event], times: int) -> float:
    """The mean processor time of an event in a batch, in which it is some times, in milliseconds, the best of three."""
    rows = list(events) * times
    batch = pa.record_batch(
        {
            "id": [event.id for event in rows],
            "home": [str(event.graph.home) if event.graph.home else None for event in rows],
            "data": [write(event.graph.triples) for event in rows],
        }
    )
    index.match_batch(batch)
    spent = []
    for _ in range(3):
        start = time.process_time()
        index.match_batch(batch)
        spent.append(time.process_time() - start)
    return round(min(spent) / len(rows) * 1000, 4)


def mean(rows: Sequence[Row]) -> Row:
    """Rows of the same columns as one, for instance of several worlds that differ in nothing but their seed."""
    return {name: round(sum(float(row.get(name) or 0) for row in rows) / len(rows), 4) for name in rows[0]}
