"""The caller's notifications as a person reads them: the newest first, read and unread."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.times import time_of
from triplewire.broker.notifying.notifications import Number, notification, shown
from triplewire.broker.state import Shared, State
from triplewire.store import moment_of
from triplewire.store.inbox import END, MOST_COUNTED, Wanted

LONGEST_TEXT = 200
DATE_TIME: dict[str, Any] = {"format": "date-time"}
FOR_EVER = "9999"
Moment = Annotated[str | None, Query(description="A time; UTC's, unless it has a zone.", json_schema_extra=DATE_TIME)]

router = APIRouter(prefix="/v1/inbox", tags=["notifications"])


@router.get("")
def list_inbox(
    caller: Subscriber,
    shared: Shared,
    page: Paged,
    subscription: str | None = None,
    text: Annotated[str, Query(max_length=LONGEST_TEXT, description="Is in the event, or its id.")] = "",
    unread: Annotated[bool, Query(description="Only what is not read yet.")] = False,
    since: Moment = None,
    until: Moment = None,
) -> ExactJSONResponse:
    """Notifications, the newest first, each with ``read``; of one subscription, with a text, of a period, or unread.

    A text is searched for in some thousands at a time: there may be a next page though this one is not full.
    """
    asked = wanted(caller, subscription, text, unread, since, until)
    found, following = shared.store.inbox.newest(asked, page.after or END, page.limit)
    read = shared.store.inbox.read(caller.name, (one.number for one in found))
    return page.told([shown(one) | {"read": one.number in read} for one in found], following)


def wanted(
    caller: Caller,
    subscription: str | None = None,
    text: str = "",
    unread: bool = False,
    since: str | None = None,
    until: str | None = None,
) -> Wanted:
    """Those of the caller's notifications that are asked for."""
    reader = caller.name if unread else None
    return Wanted(caller.only, subscription, text.strip(), reader, _moment(since), _moment(until))


@router.get("/unread")
def count_unread(caller: Subscriber, shared: Shared) -> dict[str, int]:
    """How many notifications the caller has not read, counted up to ``most``."""
    return _unread(caller, shared)


@router.post("/read")
def read_all(caller: Subscriber, shared: Shared, upto: Annotated[int, Query(ge=0, lt=1 << 63)]) -> dict[str, int]:
    """Have all notifications up to one count as read."""
    newest = shared.store.last_notification()
    shared.store.inbox.mark_all(caller.name, min(upto, newest))
    return _unread(caller, shared)


@router.put("/{number}/read")
def read_one(caller: Subscriber, shared: Shared, number: Number) -> dict[str, Any]:
    """Have a notification count as read."""
    return _mark(caller, shared, number, read=True)


@router.delete("/{number}/read")
def unread_one(caller: Subscriber, shared: Shared, number: Number) -> dict[str, Any]:
    """Have a notification count as not read."""
    return _mark(caller, shared, number, read=False)


def _mark(caller: Caller, shared: State, number: int, read: bool) -> dict[str, Any]:
    found = notification(caller, shared, number)
    shared.store.inbox.mark(caller.name, found.number, read, caller.only)
    return {"id": found.number, "read": read} | _unread(caller, shared)


def _unread(caller: Caller, shared: State) -> dict[str, int]:
    return {"unread": shared.store.inbox.unread(caller.name, caller.only), "most": MOST_COUNTED}


def _moment(given: str | None) -> str | None:
    if given is None:
        return None
    time = time_of(given)
    try:
        return moment_of(time)
    except OverflowError:  # at an end of time
        return FOR_EVER if time.year > 1 else ""
