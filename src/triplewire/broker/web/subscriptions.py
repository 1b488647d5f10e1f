"""The caller's subscriptions: how they stand, and each with all that is known of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.notifying.inbox import wanted
from triplewire.broker.notifying.notifications import shown
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.standings import MOST_COUNTED, fitting, standings
from triplewire.broker.web.frame import render
from triplewire.errors import SubscriptionError
from triplewire.lift.documents import write_json
from triplewire.store.inbox import END
from triplewire.store.terms import MEMBERS
from triplewire.subscriptions.languages import LANGUAGES, parse_subscription
from triplewire.subscriptions.picture import picture

SHOWN = 30
NEWEST = 10
STATES = ("active", "paused", "expired")
TOLD = ("mapping", "threshold", *MEMBERS[1:])
Text = Annotated[str, Query(max_length=200)]

router = APIRouter(include_in_schema=False)


@router.get("/subscriptions", response_class=HTMLResponse)
def listed(
    caller: Subscriber, request: Request, shared: Shared, text: Text = "", language: Text = "", state: Text = ""
) -> HTMLResponse:
    """The subscriptions that were changed last, as they are filtered; the script reads on."""
    chosen = fitting(text, language or None, state or None)
    found, following = shared.store.newest_subscriptions(END, SHOWN, caller.only, chosen)
    return render(
        request,
        caller,
        "subscriptions.html",
        subscriptions=standings(found, shared),
        following=following,
        asked={"text": text, "language": language, "state": state},
        languages=LANGUAGES,
        states=STATES,
        most=MOST_COUNTED,
    )


@router.get("/subscriptions/{subscription_id:path}", response_class=HTMLResponse)
def one(caller: Subscriber, request: Request, shared: Shared, subscription_id: str) -> Response:
    """A subscription: what it asks for, what came of it, and where that goes."""
    try:
        revision = shared.subscription(subscription_id, caller)
    except ProblemError:
        return RedirectResponse("/subscriptions", HTTPStatus.SEE_OTHER)
    [told] = standings([revision], shared)
    newest, _ = shared.store.inbox.newest(wanted(caller, revision.id), END, NEWEST)
    read = shared.store.inbox.read(caller.name, (found.number for found in newest))
    pattern = revision.record["pattern"]
    lapses, lapse = shared.store.lapses(revision.id, revision.owner)
    return render(
        request,
        caller,
        "subscription.html",
        one=told,
        lapses=lapses,
        lapse=lapse,
        most=MOST_COUNTED,
        pattern=pattern if isinstance(pattern, str) else write_json(pattern),
        terms={name: revision.record[name] for name in TOLD if name in revision.record},
        prefixes=revision.record.get("prefixes", {}),
        picture=_drawn(revision.record, shared),
        feeds={kind: f"/v1/feeds/{kind}/{quote(revision.id, safe='')}" for kind in ("atom", "json")},
        newest=[shown(found) | {"read": found.number in read} for found in newest],
    )


def _drawn(record: dict[str, Any], shared: State) -> Markup | None:
    model = shared.models.current()
    try:
        drawn = picture(parse_subscription(record, model), model, record.get("prefixes"))
    except SubscriptionError:
        return None
    return Markup(drawn)  # noqa: S704 - made of elements, its texts escaped
