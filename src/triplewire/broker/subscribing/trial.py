"""Trying a subscription out before it is made: what it means, what covers it, and what it would have matched."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from pyoxigraph import Literal, NamedNode

from triplewire.broker.http.problems import ProblemError
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import word_for
from triplewire.errors import TriplewireError
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.documents import write_json
from triplewire.lift.lifting import Lifting
from triplewire.matching import make_matcher
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import RDF
from triplewire.store import Store, StoredEvent
from triplewire.subscriptions.covering import covers
from triplewire.subscriptions.english import sentence
from triplewire.subscriptions.pattern import Alternative, Interest, Pattern, Subscription
from triplewire.subscriptions.picture import picture

MOST_EVENTS, MOST_SECONDS = 1000, 1.0
"""So many events of the log are tried, or as many as can be in this time; both may be ``FURTHER`` times that."""
FURTHER = 10
MOST_COMPARING = 0.5
"""Seconds to compare a subscription with others of its owner's."""
SAMPLES = 10
LONGEST_SUMMARY = 160
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*:\S+")
LONGEST_LINK = 4000
PAGE = 100
AT_ONCE, MOST_WAITING, PATIENCE = 2, 6, 5.0
"""So many are tried at once, as it takes much of the processor; so many more may wait, each for so many seconds.

Whoever waits holds a thread, of which all other requests need some too.
"""
SMALL = 16 * 1024
"""Events up to this size are kept once they are lifted."""


Log = Iterable[tuple[StoredEvent, tuple[Event, ...] | None]]
"""Positions of the log, each with the events that are there; None where they cannot be read."""


class Recent:
    """The newest events of the log, lifted. Each is lifted once, unless it is large."""

    def __init__(self, store: Store, lifting: Lifting) -> None:
        self._store = store
        self._lifting = lifting
        self._lifted: dict[int, tuple[Event, ...] | None] = {}
        self._changing = threading.Lock()
        self._turns = threading.Semaphore(AT_ONCE)
        self._line = threading.Semaphore(AT_ONCE + MOST_WAITING)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Have one of the few turns to try something out; refused if there is none soon."""
        busy = ProblemError(HTTPStatus.TOO_MANY_REQUESTS, "others are trying things out", {"Retry-After": "2"})
        if not self._line.acquire(blocking=False):
            raise busy
        try:
            if not self._turns.acquire(timeout=PATIENCE):
                raise busy
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._line.release()

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
class Look:
    """A look at the newest events of the log, of so many positions and seconds at the most; and what it came to."""

    most: int
    seconds: float
    events: int = 0
    refused: int = 0
    complete: bool = True
    positions: list[int] = field(default_factory=list)

    def over(self, log: Log, end: float) -> Iterator[tuple[StoredEvent, Event]]:
        """The events of a log, each with where it stands, until a time by the clock that does not go back."""
        for stored, events in log:
            self.complete = time.monotonic() <= end
            if not self.complete:
                return
            self.positions.append(stored.position)
            self.refused += events is None
            for event in events or ():
                self.complete = time.monotonic() <= end
                if not self.complete:
                    return
                self.events += 1
                yield stored, event

    def shown(self) -> dict[str, Any]:
        return {
            "events": self.events,
            "refused": self.refused,
            "complete": self.complete,
            "limits": {"positions": self.most, "seconds": self.seconds},
            "from": min(self.positions, default=None),
            "to": max(self.positions, default=None),
        }


@dataclass
class Tried:
    """What came of trying: how much was looked at, and the matches, the newest first.

    Of an interest, ``concepts`` are those that its words were taken for, and ``scores`` tells all events that come near
    it, whatever its threshold; of anything else they are None.
    """

    look: Look
    matches: list[dict[str, Any]] = field(default_factory=list)
    missed: dict[str, Any] | None = None
    """The newest event that does not match."""
    concepts: list[dict[str, str]] | None = None
    scores: list[dict[str, Any]] | None = None


def tried(
    subscription: Subscription,
    model: ConceptModel,
    recent: Recent,
    seconds: float = MOST_SECONDS,
    most: int = MOST_EVENTS,
) -> Tried:
    """What a subscription would have matched of the newest events, under the model of today."""
    matcher, found, end = make_matcher("engine", model), Tried(Look(most, seconds)), time.monotonic() + seconds
    interest = _interest(subscription)
    if interest is not None:
        found.concepts, found.scores = list(_concepts(interest, model)), []
        nearest = replace(interest, threshold=min(0.0, interest.threshold))
        subscription = replace(subscription, alternatives=(_of(nearest),))
    matcher.add(subscription)
    for stored, event in found.look.over(recent.newest(most), end):
        match = next(iter(matcher.match(event, bindings=interest is None)), None)
        if match is None and found.missed is not None:
            continue
        told = {"event": event.id, "source": stored.source, "position": stored.position}
        told |= {"score": match.score if match else 0.0, "says": summary(event, model)}
        if match is not None and found.scores is not None:
            found.scores.append(told)
        if match is not None and (interest is None or match.score > interest.threshold):
            found.matches.append(told | {"bindings": match.bindings if interest is None else ({},)})
        elif found.missed is None:
            found.missed = told
    return found


def _interest(subscription: Subscription) -> Interest | None:
    """The interest that a subscription is, unless it is anything else."""
    for alternative in subscription.alternatives:
        interests = alternative.pattern.interests
        if len(interests) == 1 and subscription.alternatives == (_of(interests[0]),):
            return interests[0]
    return None


def _concepts(interest: Interest, model: ConceptModel) -> Iterator[dict[str, str]]:
    """The concepts of an interest; those that are new by their words, with what they are put under."""
    new = dict(interest.attached)
    for concept in interest.concepts:
        if concept in new:
            yield {"word": word_for(concept), "under": new[concept].value, "underLabel": model.label(new[concept])}
        else:
            yield {"concept": concept.value, "label": model.label(concept)}


def _of(interest: Interest) -> Alternative:
    return Alternative(Pattern(interests=(interest,)))


def summary(event: Event, model: ConceptModel) -> str:
    """An event in few words: what its home vertex is, and what that says, or else anything in it."""
    kinds, said = [], []
    for subject, property_, object_, *_ in event.graph.arcs:
        if isinstance(object_, Literal) and not _ADDRESS.fullmatch(object_.value):
            said.append((subject == event.graph.home, object_.value))
        elif property_ == RDF.type and subject == event.graph.home and isinstance(object_, NamedNode):
            kinds.append(model.label(object_))
    texts = dict.fromkeys([text for at_home, text in said if at_home] or [text for _, text in said])
    head = ", ".join(dict.fromkeys(kinds))
    whole = ": ".join(filter(None, [head, ", ".join(texts)]))
    return whole if len(whole) <= LONGEST_SUMMARY else f"{whole[:LONGEST_SUMMARY]}…"


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
    most: int = MOST_EVENTS,
) -> dict[str, Any]:
    """What there is to tell of a subscription that is not made yet."""
    seconds = MOST_SECONDS * max(1.0, most / MOST_EVENTS)
    with recent.turn():
        found, family = tried(subscription, model, recent, seconds, most), compared(subscription, others, model)
    samples = [one | {"explanation": link(record, one)} for one in found.matches[:SAMPLES]]
    return {
        "dryRun": True,
        "means": sentence(subscription, model),
        "warnings": list(subscription.warnings),
        **family,
        "tried": found.look.shown(),
        "matched": len(found.matches),
        "samples": samples,
        "missed": found.missed and found.missed | {"explanation": link(record, found.missed)},
        "concepts": found.concepts,
        "scores": found.scores,
        "picture": picture(subscription, model, record.get("prefixes")),
    }


def link(record: Mapping[str, Any], sample: Mapping[str, Any]) -> str | None:
    """Where it is explained why an event of the log would trip a subscription; nowhere, if it is too long to say."""
    text = write_json({name: value for name, value in record.items() if name != "id"})
    query = urlencode({"position": sample["position"], "event": sample["event"], "subscription": text})
    return f"/v1/explanations?{query}" if len(query) <= LONGEST_LINK else None
