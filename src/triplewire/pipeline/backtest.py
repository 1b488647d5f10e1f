"""What would subscriptions have matched? Counted over history, in this process or on Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.matching.engine.index import Index
from triplewire.pipeline.history import History, Stretch
from triplewire.pipeline.tally import MATCHED, Tally, count_batch, total
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription

SAMPLE = 2000
"""So many events are looked at for an estimate."""
CERTAINTY = 1.96
"""Nineteen estimates in twenty are as near as they say."""

Record = Mapping[str, Any]
Progress = Callable[[Iterator[Stretch], float], Iterator[Stretch]]


def understood(records: Iterable[Record], model: ConceptModel) -> tuple[list[Subscription], list[dict[str, Any]]]:
    """Subscriptions under a model, and what was refused of them."""
    found: dict[str, Subscription] = {}
    refused = []
    for record in records:
        try:
            one = parse_subscription(record, model)
            if one.id in found:
                raise SubscriptionError(f"there is a subscription {one.id!r} already")
            found[one.id] = one
        except SubscriptionError as error:
            refused.append({"subscription": record.get("id")} | error.as_dict())
    return list(found.values()), refused


def estimate(history: History, index: Index, wanted: int = SAMPLE) -> dict[str, Any] | None:
    """From a sample, how often each subscription matches and how long it takes to count; None if it is not worth it.

    Of a subscription it tells the rate, and between which bounds the true one is expected. Events near each other may
    be alike, and then the true one may be further off.
    """
    began = time.monotonic()
    tally, size = Tally(), 0.0
    for stretch in history.sample(wanted):
        tally.add(count_stretch(stretch, index))
        size += stretch.size
    events = sum(tally.events.values())
    if not events or size * 2 > history.size:
        return None
    matches: dict[str, int] = {}
    for (kind, name, _), count in tally.counts.items():
        matches[name] = matches.get(name, 0) + (count if kind == MATCHED else 0)
    grown = history.size / size
    return {
        "sampled": events,
        "events": round(events * grown),
        "seconds": round((time.monotonic() - began) * grown, 1),
        "subscriptions": [_expected(name, matches[name], events, grown) for name in sorted(matches)],
    }


def count(history: History, index: Index, against: Index | None, progress: Progress) -> Tally:
    """All that the indexes match."""
    return total(count_stretch(stretch, index, against) for stretch in progress(history.read(), history.size))


def count_stretch(stretch: Stretch, index: Index, against: Index | None = None) -> Tally:
    tally = count_batch(stretch.events, index, against)
    tally.refused += stretch.refused
    return tally


def _expected(name: str, matches: int, events: int, grown: float) -> dict[str, Any]:
    low, high = wilson(matches, events)
    told = {"subscription": name, "matches": round(matches * grown), "rate": matches / events}
    return told | {"between": [low, high]}


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Between which rates the true one is, by Wilson's score."""
    rate, z = successes / trials, CERTAINTY**2 / trials
    middle = (rate + z / 2) / (1 + z)
    half = sqrt(rate * (1 - rate) * z + z * z / 4) / (1 + z)
    return min(max(middle - half, 0.0), rate), max(min(middle + half, 1.0), rate)


def indexes(records: Sequence[Record], models: Sequence[ConceptModel]) -> tuple[list[Index], list[dict[str, Any]]]:
    """The subscriptions under each model, and what was refused."""
    made, refused = [], []
    for model in models:
        subscriptions, bad = understood(records, model)
        made.append(Index.build(subscriptions, model))
        refused += [one for one in bad if one not in refused]
    return made, refused
