"""What was matched: the inbox, each notification with why it came, and why something did not."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.notifying.inbox import Moment, wanted
from triplewire.broker.notifying.notifications import Number, explained, notification, shown, tried
from triplewire.broker.publishing.events import logged
from triplewire.broker.state import Shared, State
from triplewire.broker.web.frame import SYNTAXES, render
from triplewire.errors import TriplewireError
from triplewire.lift.cloudevents import parse_events
from triplewire.matching.explanation import Explanation, picture
from triplewire.matching.explanation.text import Telling
from triplewire.store import Notification
from triplewire.store.inbox import END
from triplewire.subscriptions.english import sentence

SHOWN = 30
SUGGESTED = 50
RECENT_EVENTS = 30
MOST_ENTRIES = 200
Text = Annotated[str, Query(max_length=1500)]

router = APIRouter(include_in_schema=False)


@router.get("/notifications", response_class=HTMLResponse)
def inbox(
    caller: Subscriber,
    request: Request,
    shared: Shared,
    subscription: Text = "",
    text: Text = "",
    unread: bool = False,
    since: Moment = None,
    until: Moment = None,
) -> HTMLResponse:
    """The newest notifications, as they are filtered; the script reads on, and shows what comes."""
    asked = wanted(caller, subscription or None, text, unread, since or None, until or None)
    found, following = shared.store.inbox.newest(asked, END, SHOWN)
    read = shared.store.inbox.read(caller.name, (one.number for one in found))
    return render(
        request,
        caller,
        "notifications.html",
        notifications=[shown(one) | {"read": one.number in read} for one in found],
        following=following,
        newest=shared.store.last_notification(),
        asked={"subscription": subscription, "text": text, "unread": unread, "since": since, "until": until},
        subscriptions=_suggested(caller, shared),
        has_subscriptions=bool(shared.store.subscriptions(limit=1, owner=caller.only)),
    )


@router.get("/notifications/why-not", response_class=HTMLResponse)
def why_not(
    caller: Subscriber,
    request: Request,
    shared: Shared,
    subscription: Text = "",
    position: Annotated[int, Query(ge=0, lt=1 << 63)] = 0,
    event: Text = "",
    events: Annotated[int, Query(ge=1, le=200)] = RECENT_EVENTS,
) -> HTMLResponse:
    """Why an event of the log does not trip a subscription; or what there is to choose."""
    last = shared.store.last_position()
    recent = [logged(one) for one in shared.store.events(max(last - events, 0), last)]
    told: dict[str, Any] = {}
    if subscription and position:
        told = _why(caller, shared, subscription, position, event or None)
    return render(
        request,
        caller,
        "why_not.html",
        asked={"subscription": subscription, "position": position, "event": event},
        subscriptions=_suggested(caller, shared),
        recent=recent[::-1],
        **told,
    )


@router.get("/notifications/{number}", response_class=HTMLResponse)
def one(caller: Subscriber, request: Request, shared: Shared, number: Number) -> Response:
    """A notification, and why it was made."""
    try:
        found = notification(caller, shared, number)
    except ProblemError:
        return RedirectResponse("/notifications", HTTPStatus.SEE_OTHER)
    older, _ = shared.store.inbox.newest(wanted(caller), number, 1)
    newer = shared.store.notifications(number, 1, owner=caller.only)
    standing = shared.store.subscription(found.subscription)
    stands = standing is not None and standing.owner == found.owner
    return render(
        request,
        caller,
        "notification.html",
        found=shown(found),
        older=older[0].number if older else None,
        newer=newer[0].number if newer else None,
        read=bool(shared.store.inbox.read(caller.name, [number])),
        stands=stands,
        delivery=_delivery(found, shared) if stands else None,
        formats=SYNTAXES,
        **_told_of(found, shared),
    )


def _suggested(caller: Caller, shared: State) -> list[str]:
    """Some of the caller's subscriptions, to choose from."""
    return [one.id for one in shared.store.subscriptions(limit=SUGGESTED, owner=caller.only)]


def _why(caller: Caller, shared: State, subscription: str, position: int, event: str | None) -> dict[str, Any]:
    try:
        revision = shared.subscription(subscription, caller)
        told, prefixes = tried(revision.record, position, event, shared)
        [stored] = shared.store.events(position - 1, position)
        entries = [one.id for one in parse_events(stored.body, shared.lifting)][:MOST_ENTRIES]
        return _drawn(told, prefixes) | {"entries": entries, "entry": told.event.id}
    except (ProblemError, TriplewireError) as error:
        return {"problem": str(error)}


def _told_of(found: Notification, shared: State) -> dict[str, Any]:
    try:
        return _drawn(*explained(found, shared))
    except (ProblemError, TriplewireError) as error:
        return {"problem": str(error)}


def _drawn(told: Explanation, prefixes: dict[str, str]) -> dict[str, Any]:
    """An explanation in words and as a picture, whose conditions are told in words only."""
    telling = Telling(told, prefixes)
    return {
        "matched": told.matched,
        "verdict": telling.verdict(),
        "mapping": telling.mapping(),
        "means": sentence(told.subscription, told.model),
        "score": told.score,
        "conditions_told": [(line[0] == "✓", line[2:]) for line in telling.findings()],
        "picture": Markup(picture(told, prefixes, conditions=False)),  # noqa: S704 - made of elements, its texts escaped
    }


def _delivery(found: Notification, shared: State) -> dict[str, Any] | None:
    """What became of a notification, of those that are sent somewhere."""
    deliveries = shared.store.deliveries
    to = deliveries.of([found.subscription]).get(found.subscription)
    if to is None:
        return None
    told: dict[str, Any] = {"channel": to.channel, "state": "waiting", "reason": to.reason, "to": to.state}
    left_out = deliveries.omissions(to.number, found.number - 1, 1)
    if left_out and left_out[0].notification == found.number:
        return told | {"state": left_out[0].kind, "reason": left_out[0].reason}
    if found.number <= to.last:
        return told | {"state": "delivered", "reason": ""}
    return told | {"state": "failing" if to.failing_since else "waiting", "since": to.failing_since}
