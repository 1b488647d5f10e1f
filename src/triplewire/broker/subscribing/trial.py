"""Trying a subscription out before it is made: what it means, what covers it, and what it would have matched."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from triplewire.broker.http.problems import ProblemError
from triplewire.concepts.model import ConceptModel
from triplewire.errors import TriplewireError
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.documents import write_json
from triplewire.lift.lifting import Lifting
from triplewire.matching import make_matcher
from triplewire.rdf.graph import Event
from triplewire.store import Store, StoredEvent
from triplewire.subscriptions.covering import covers
from triplewire.subscriptions.english import sentence
from triplewire.subscriptions.pattern import Subscription

MOST_EVENTS, MOST_SECONDS = 1000, 1.0
"""So many events of the log are tried, or as many as can be in this time."""
MOST_COMPARING = 0.5
"""Seconds to compare a subscription with others of its owner's."""
SAMPLES = 10
LONGEST_LINK = 4000
PAGE = 100
AT_ONCE, PATIENCE = 2, 5.0
"""So many are tried at once, and whoever comes besides waits so many seconds, as it takes much of the processor."""
SMALL = 16 * 1024
"""Events up to this size are kept once they are lifted."""


class Recent:
    """The newest events of the log, lifted. Each is lifted once, unless it is large."""

    def __init__(self, store: Store, lifting: Lifting) -> None:
        self._store = store
        self._lifting = lifting
        self._lifted: dict[int, tuple[Event, ...] | None] = {}
        self._changing = threading.Lock()
        self.turns = threading.Semaphore(AT_ONCE)

    def newest(self, most: int = MOST_EVENTS) -> Iterator[tuple[StoredEvent, tuple[Event, ...] | None]]:
        """What is in the log, the newest first, and the events in it; None if these cannot be read."""
        end = self._store.last_position()
        while end > 0 and most > 0:
            page = list(self._store.events(max(end - PAGE, 0), end))
            for stored in reversed(page[-most:]):
                yield stored, self._events(stored)
            most -= len(page)
            end -= PAGE

    def _events(self, stored: StoredEvent) -> tuple[Event, ...] | None:
        if stored.position not in self._lifted:
            try:
                found = tuple(parse_events(stored.body, self._lifting))
            except TriplewireError:
                found = None
            if len(stored.body) > SMALL:
                return found
            with self._changing:
                self._lifted[stored.position] = found
                for position in sorted(self._lifted)[: -2 * MOST_EVENTS]:
                    del self._lifted[position]
            return found
        return self._lifted.get(stored.position)


@dataclass
class Tried:
    """What came of trying: how many events, how many of them could not be read, and the matches, the newest first."""

    seconds: float = MOST_SECONDS
    events: int = 0
    refused: int = 0
    complete: bool = True
    positions: list[int] = field(default_factory=list)
    matches: list[dict[str, Any]] = field(default_factory=list)


def tried(subscription: Subscription, model: ConceptModel, recent: Recent, seconds: float = MOST_SECONDS) -> Tried:
    """What a subscription would have matched of the newest events, under the model of today."""
    matcher, found, end = make_matcher("engine", model), Tried(seconds), time.monotonic() + seconds
    matcher.add(subscription)
    for stored, events in recent.newest():
        if time.monotonic() > end:
            found.complete = False
            break
        found.positions.append(stored.position)
        found.refused += events is None
        for event in events or ():
            found.events += 1
            for match in matcher.match(event, bindings=True):
                told = {"event": event.id, "source": stored.source, "position": stored.position}
                found.matches.append(told | {"score": match.score, "bindings": match.bindings})
    return found


def compared(
    subscription: Subscription, others: Iterable[Subscription], model: ConceptModel, seconds: float = MOST_COMPARING
) -> dict[str, Any]:
    """Which others match the same events, which more, and which fewer, as far as there is time to ask."""
    told: dict[str, Any] = {"equal_to": [], "covered_by": [], "covers": []}
    count, end, complete = 0, time.monotonic() + seconds, True
    for other in others:
        if time.monotonic() > end:
            complete = False
            break
        count += 1
        above, below = covers(other, subscription, model), covers(subscription, other, model)
        if above or below:
            told["equal_to" if above and below else "covered_by" if above else "covers"].append(other.id)
    return told | {"compared": {"subscriptions": count, "complete": complete}}


def trial(
    record: Mapping[str, Any],
    subscription: Subscription,
    model: ConceptModel,
    others: Iterable[Subscription],
    recent: Recent,
) -> dict[str, Any]:
    """What there is to tell of a subscription that is not made yet."""
    if not recent.turns.acquire(timeout=PATIENCE):
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, "others are trying subscriptions out", {"Retry-After": "2"})
    try:
        found, family = tried(subscription, model, recent), compared(subscription, others, model)
    finally:
        recent.turns.release()
    samples = [one | {"explanation": link(record, one)} for one in found.matches[:SAMPLES]]
    return {
        "dryRun": True,
        "means": sentence(subscription, model),
        "warnings": list(subscription.warnings),
        **family,
        "tried": {
            "events": found.events,
            "refused": found.refused,
            "complete": found.complete,
            "limits": {"positions": MOST_EVENTS, "seconds": found.seconds},
            "from": min(found.positions, default=None),
            "to": max(found.positions, default=None),
        },
        "matched": len(found.matches),
        "samples": samples,
    }


def link(record: Mapping[str, Any], sample: Mapping[str, Any]) -> str | None:
    """Where it is explained why an event of the log would trip a subscription; nowhere, if it is too long to say."""
    text = write_json({name: value for name, value in record.items() if name != "id"})
    query = urlencode({"position": sample["position"], "event": sample["event"], "subscription": text})
    return f"/v1/explanations?{query}" if len(query) <= LONGEST_LINK else None
