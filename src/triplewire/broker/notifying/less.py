"""Less like this: changes of a subscription by which it would not have matched an event, and what else would go."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from fastapi import APIRouter

from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.patches import merged
from triplewire.broker.http.tags import tag_of
from triplewire.broker.notifying.notifications import Number, event_of, kept, notification
from triplewire.broker.state import Shared
from triplewire.broker.subscribing.subscriptions import content
from triplewire.broker.subscribing.trial import MOST_SECONDS, Recent
from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.matching import make_matcher
from triplewire.matching.explanation import Explanation, explain
from triplewire.matching.explanation.closeness import InterestReason
from triplewire.matching.matcher import Matcher
from triplewire.subscriptions.english import sentence
from triplewire.subscriptions.exclusions import THRESHOLD, Less, Seen, exclusions
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription

MOST_WAYS = 12
SAMPLES = 5
NOW = "now"

router = APIRouter(tags=["notifications"])


@router.get("/v1/notifications/{number}/less")
def show_less(caller: Subscriber, shared: Shared, number: Number) -> dict[str, Any]:
    """How the subscription of today could be changed so that it would not match the event any more.

    Each way has its ``patch``, what the subscription would mean then, and how many of its matches among the newest
    events it ``keeps`` and ``drops``. ``tag`` is what to send along as ``If-Match``. Nothing is changed.
    """
    found = kept(notification(caller, shared, number))
    revision = shared.subscription(found.subscription, caller)
    model, record = shared.models.current(), revision.record
    subscription = parse_subscription(record, model)
    told = explain(subscription, event_of(found, shared.lifting), model)
    ways: dict[str, tuple[Less, Subscription]] = {}
    if told.matched:
        for less in exclusions(record, _seen(told)):
            with suppress(SubscriptionError):
                changed = parse_subscription(merged(record, dict(less.patch)) | {"id": str(len(ways))}, model)
                if not explain(changed, told.event, model).matched:
                    ways[changed.id] = less, changed
            if len(ways) == MOST_WAYS:
                break
    with shared.recent.turn():
        recent = _Recently(model, subscription, [changed for _, changed in ways.values()], shared.recent)
    return {
        "subscription": record["id"],
        "matches": told.matched,
        "means": sentence(subscription, model),
        "tag": tag_of(content(caller, shared, record["id"])),
        "recent": {"events": recent.events, "matched": len(recent.matched[NOW]), "complete": recent.complete},
        "ways": sorted(
            (
                {"kind": less.kind, "says": less.says, "patch": dict(less.patch), "means": sentence(changed, model)}
                | recent.kept_by(id_)
                for id_, (less, changed) in ways.items()
            ),
            key=lambda way: (way["keeps"] == 0, way["kind"] != THRESHOLD, way["drops"]),
        ),
    }


def _seen(told: Explanation) -> Seen:
    reasons = (f.reason for f in told.findings if isinstance(f.reason, InterestReason))
    concepts = [one for reason in reasons for one in reason.concepts]
    near = dict.fromkeys(one.closest for one in concepts if one.closest not in (None, one.concept))
    mapping = {str(variable): term for variable, term in told.mapping}
    asked = tuple(one.concept for one in concepts)
    return Seen(told.event.graph, mapping, told.score, asked, tuple(concept for concept in near if concept))


class _Recently:
    """What a subscription, and others in its place, match of the newest events, as far as there is time to look."""

    def __init__(self, model: ConceptModel, now: Subscription, others: list[Subscription], recent: Recent) -> None:
        matcher: Matcher = make_matcher("engine", model)
        self.matched: dict[str, list[dict[str, Any]]] = {id_: [] for id_ in (NOW, *(one.id for one in others))}
        self.events, self.complete = 0, True
        matcher.add(Subscription(NOW, now.alternatives, (), now.bindings, now.answer))
        for other in others:
            matcher.add(other)
        end = time.monotonic() + MOST_SECONDS
        for stored, events in recent.newest():
            if time.monotonic() > end:
                self.complete = False
                break
            for event in events or ():
                self.events += 1
                for match in matcher.match(event):
                    told = {"event": event.id, "source": stored.source, "position": stored.position}
                    self.matched[match.subscription].append(told | {"score": match.score})

    def kept_by(self, id_: str) -> dict[str, Any]:
        """How many matches are left, and which go."""
        left = {(one["position"], one["event"]) for one in self.matched[id_]}
        gone = [one for one in self.matched[NOW] if (one["position"], one["event"]) not in left]
        return {"keeps": len(left), "drops": len(gone), "samples": gone[:SAMPLES]}
