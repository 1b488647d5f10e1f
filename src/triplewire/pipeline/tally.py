"""What subscriptions would have matched, counted: by day, with the first few as samples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from triplewire.matching.engine.index import Index

SAMPLES = 5
MATCHED, GAINED, LOST = "matched", "gained", "lost"
"""Kinds of pairs of event and subscription: matched by the first index; by the second alone, by the first alone."""

Sample = tuple[int, int, str]
"""An event by its position, entry and id."""


@dataclass
class Tally:
    """Counts, which add up in any order."""

    events: Counter[str] = field(default_factory=Counter)
    """By day; an event that tells no time is counted under the empty text."""
    refused: int = 0
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By kind, subscription and day."""
    samples: dict[tuple[str, str], list[Sample]] = field(default_factory=dict)
    """The first events of a kind and subscription."""

    def add(self, other: Tally) -> None:
        self.events.update(other.events)
        self.refused += other.refused
        self.counts.update(other.counts)
        for key, some in other.samples.items():
            self.samples[key] = list(islice(merge(self.samples.get(key, []), some), SAMPLES))

    def days(self, kind: str, subscription: str) -> dict[str, int]:
        """How many there are of a kind and subscription on each day that had events."""
        found = {day: self.counts[kind, subscription, day] for day in sorted(self.events)}
        return {day: count for day, count in found.items() if count}

    def as_json(self) -> str:
        counts = [[*key, count] for key, count in self.counts.items()]
        samples = [[*key, some] for key, some in self.samples.items()]
        return json.dumps([self.events, self.refused, counts, samples])

    @classmethod
    def of_json(cls, text: str) -> Tally:
        events, refused, counts, samples = json.loads(text)
        return cls(
            Counter(events),
            refused,
            Counter({(kind, one, day): count for kind, one, day, count in counts}),
            {(kind, one): [(p, e, i) for p, e, i in some] for kind, one, some in samples},
        )


def count_batch(batch: pa.RecordBatch, index: Index, against: Index | None = None) -> Tally:
    """What of a batch of lifted events an index matches; and what another one matches differently."""
    tally = Tally()
    days = pc.fill_null(batch["day"], "")
    tally.events.update(_counted(days))
    told = index.match_batch(batch)
    tally.refused += len(told.refused)
    events, names = _pairs(told.offsets), told.subscriptions
    found = [(MATCHED, events, names)]
    if against is not None:
        other = against.match_batch(batch)
        found += _differences(events, names, _pairs(other.offsets), other.subscriptions)
    for kind, events, names in found:
        for (name, day), count in _counted_pairs(names, days.take(pa.array(events))):
            tally.counts[kind, name, day] += count
        for name, sample in _first(batch, events, names):
            tally.samples.setdefault((kind, name), []).append(sample)
    return tally


def _pairs(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The event of each match."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _differences(
    events: NDArray[np.int64], names: pa.Array, other_events: NDArray[np.int64], other_names: pa.Array
) -> Iterator[tuple[str, NDArray[np.int64], pa.Array]]:
    """The pairs that only the second has, and those that only the first has."""
    words = pc.unique(pa.concat_arrays([names, other_names]))
    keys = [
        rows * max(len(words), 1) + pc.index_in(own, words).to_numpy(zero_copy_only=False).astype(np.int64)
        for rows, own in ((events, names), (other_events, other_names))
    ]
    gained, lost = ~np.isin(keys[1], keys[0]), ~np.isin(keys[0], keys[1])
    yield GAINED, other_events[gained], other_names.filter(pa.array(gained))
    yield LOST, events[lost], names.filter(pa.array(lost))


def _counted(values: pa.Array) -> dict[str, int]:
    return {row["values"]: row["counts"] for row in pc.value_counts(values).to_pylist()}


def _counted_pairs(names: pa.Array, days: pa.Array) -> Iterator[tuple[tuple[str, str], int]]:
    table = pa.table({"name": names, "day": days}).group_by(["name", "day"]).aggregate([([], "count_all")])
    for row in table.to_pylist():
        yield (row["name"], row["day"]), row["count_all"]


def _first(batch: pa.RecordBatch, events: NDArray[np.int64], names: pa.Array) -> Iterator[tuple[str, Sample]]:
    """The first few events of each subscription."""
    encoded = names.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    places = batch["entry"].to_numpy()[events], batch["position"].to_numpy()[events]
    order = np.lexsort((*places, codes))
    starts = np.searchsorted(codes[order], codes[order])
    words = encoded.dictionary.to_pylist()
    for row in order[np.arange(len(order)) - starts < SAMPLES].tolist():
        event = int(events[row])
        key = batch["position"][event].as_py(), batch["entry"][event].as_py(), batch["id"][event].as_py()
        yield words[codes[row]], key


def total(tallies: Iterable[Tally]) -> Tally:
    """All tallies as one."""
    whole = Tally()
    for tally in tallies:
        whole.add(tally)
    return whole


def result(tally: Tally, subscriptions: Iterable[str], compared: bool) -> dict[str, Any]:
    """A tally as it is told, subscription by subscription."""
    events = sum(tally.events.values())
    found = []
    for name in subscriptions:
        days = tally.days(MATCHED, name)
        matches = sum(days.values())
        row: dict[str, Any] = {"subscription": name, "matches": matches, "rate": matches / events if events else 0.0}
        row |= {"days": days, "samples": _ids(tally, MATCHED, name)}
        for kind in (GAINED, LOST) if compared else ():
            changed = tally.days(kind, name)
            row[kind] = {"matches": sum(changed.values()), "days": changed, "samples": _ids(tally, kind, name)}
        found.append(row)
    days = {day: tally.events[day] for day in sorted(tally.events)}
    return {"events": events, "refused": tally.refused, "days": days, "subscriptions": found}


def _ids(tally: Tally, kind: str, name: str) -> list[str]:
    return [id_ for _, _, id_ in tally.samples.get((kind, name), [])]
