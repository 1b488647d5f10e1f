"""Which subscriptions would match differently under another ontology: both are tried on the log's newest events."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from triplewire.broker.access.gate import Caller
from triplewire.broker.model import standing
from triplewire.broker.subscribing.trial import MOST_EVENTS, Log, Look, Recent
from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.rdf.graph import Event
from triplewire.store import Revision, Store
from triplewire.store.rights import ONTOLOGY, SUBSCRIBE
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription

MOST_SUBSCRIPTIONS, MOST_SECONDS = 5000, 5.0
"""So many subscriptions are compared, the longest unchanged first, or as many as can be read in half of this time."""
MOST_TOLD, SAMPLES = 100, 5
"""So many subscriptions are told of, and of each so many events."""
GAINED, LOST = "gained", "lost"


@dataclass
class Change:
    """What another ontology would change for a subscription.

    ``events`` are the newest that it would gain or lose. ``problem`` says why it could not be understood any more,
    ``mended`` why it cannot be now and could be then.
    """

    revision: Revision
    gained: int = 0
    lost: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    problem: str | None = None
    mended: str | None = None

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.problem or self.mended)

    def add(self, way: str, event: dict[str, Any]) -> None:
        self.gained += way == GAINED
        self.lost += way == LOST
        if len(self.events) < SAMPLES:
            self.events.append(event | {"change": way})

    def shown(self) -> dict[str, Any]:
        told = {"id": self.revision.id, "owner": self.revision.owner, "gained": self.gained, "lost": self.lost}
        problems = {name: why for name, why in (("problem", self.problem), ("mended", self.mended)) if why}
        return told | {"events": self.events} | problems


@dataclass
class Effect:
    """What came of comparing two ontologies: how much was looked at, and what changes, by subscription."""

    look: Look
    changes: dict[str, Change] = field(default_factory=dict)
    all_subscriptions: bool = True

    def shown(self, caller: Caller) -> dict[str, Any]:
        """What a caller is told: how many subscriptions are affected, and what changes for those that they see."""
        affected = [change for change in self.changes.values() if change]
        seen = sorted(
            (change for change in affected if caller.may(SUBSCRIBE) and caller.sees(change.revision.owner)),
            key=lambda one: (-one.gained - one.lost, one.revision.id),
        )
        return {
            "affected": len(affected),
            "subscriptions": [change.shown() for change in seen[:MOST_TOLD]],
            "compared": {
                "subscriptions": len(self.changes),
                "complete": self.all_subscriptions,
                "limits": {"subscriptions": MOST_SUBSCRIPTIONS, "told": MOST_TOLD},
            },
            "tried": self.look.shown(),
        }


def effect(
    revisions: Iterable[Revision],
    before: ConceptModel,
    after: ConceptModel,
    log: Log,
    seconds: float = MOST_SECONDS,
) -> Effect:
    """What subscriptions gain and lose of a log's events if one model takes the place of another."""
    from triplewire.matching.engine.index import Index  # which brings a compiler

    found, end = Effect(Look(MOST_EVENTS, seconds)), time.monotonic() + seconds
    sides: tuple[list[Subscription], list[Subscription]] = ([], [])
    for revision in revisions:
        if len(found.changes) >= MOST_SUBSCRIPTIONS or time.monotonic() > end - seconds / 2:
            found.all_subscriptions = False
            break
        change = found.changes[revision.id] = Change(revision)
        change.mended = _enter(revision, before, sides[0])
        change.problem = _enter(revision, after, sides[1])
        if change.mended and change.problem:
            change.mended = change.problem = None  # as it was
    if not found.changes or before.content_hash == after.content_hash:
        return found
    old, new = Index.build(sides[0], before), Index.build(sides[1], after)
    for stored, event in found.look.over(log, end):
        told = {"event": event.id, "source": stored.source, "position": stored.position}
        for id_, way in _differences(event, old, new):
            found.changes[id_].add(way, told)
    return found


def _enter(revision: Revision, model: ConceptModel, side: list[Subscription]) -> str | None:
    """Take a subscription as a model has it, or say why it cannot be understood."""
    try:
        side.append(parse_subscription(revision.record, model))
    except SubscriptionError as error:
        return str(error)
    return None


def _differences(event: Event, old: Any, new: Any) -> Iterator[tuple[str, str]]:
    before, after = ({match.subscription for match in index.match(event)} for index in (old, new))
    yield from ((id_, GAINED) for id_ in sorted(after - before))
    yield from ((id_, LOST) for id_ in sorted(before - after))


def effect_on(
    caller: Caller, before: ConceptModel, after: ConceptModel, store: Store, recent: Recent
) -> dict[str, Any]:
    """What a caller is told of the effect, on everybody's subscriptions if they may change the ontology.

    In turn with others who try something out, as it takes much of the processor.
    """
    owner = None if caller.may(ONTOLOGY) else caller.name
    theirs = standing(store, owner) if caller.may(ONTOLOGY) or caller.may(SUBSCRIBE) else ()
    with recent.turn():
        return effect(theirs, before, after, recent.newest()).shown(caller)
