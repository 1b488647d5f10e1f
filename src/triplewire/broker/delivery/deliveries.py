"""How deliveries stand, over HTTP; and pausing, resuming and repeating them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.bodies import ExactJSONResponse, json_object
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.tags import IfMatch, IfNoneMatch, check_unchanged, tagged
from triplewire.broker.http.times import time_of
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.places import shown_place
from triplewire.errors import UsageError
from triplewire.store import Delivery, Endpoint
from triplewire.store.terms import ACTIVE

DATE_TIME: dict[str, Any] = {"format": "date-time"}
MEMBERS = ("paused", "position")

router = APIRouter(tags=["deliveries"])

Body = Annotated[dict[str, Any], Depends(json_object)]


@router.get("/v1/deliveries")
def list_deliveries(caller: Subscriber, shared: Shared, page: Paged) -> ExactJSONResponse:
    """How the deliveries of all subscriptions that have one stand."""
    rows = shared.store.deliveries.listed(page.after, page.more, caller.only)
    pending = shared.store.deliveries.pending(row.subscription for row in rows)
    return page.of(rows, lambda row: status(row, pending.get(row.subscription, 0), shared), lambda row: row.number)


@router.get("/v1/deliveries/{subscription_id:path}/omissions")
def list_omissions(caller: Subscriber, shared: Shared, page: Paged, subscription_id: str) -> ExactJSONResponse:
    """The notifications that were left out: ``undelivered``, as they were refused for hours, or ``suppressed``.

    They are notifications like others, and can be sent again.
    """
    found = _delivery(caller, shared, subscription_id)
    rows = shared.store.deliveries.omissions(found.number, page.after, page.more)
    return page.of(rows, asdict, lambda row: row.notification)


@router.post("/v1/deliveries/{subscription_id:path}/redeliver", status_code=HTTPStatus.ACCEPTED)
def redeliver(
    caller: Subscriber,
    shared: Shared,
    subscription_id: str,
    position: Annotated[int | None, Query(alias="from", ge=0, lt=1 << 63, description="A log position.")] = None,
    since: Annotated[
        str | None, Query(description="A time instead.", json_schema_extra={"format": "date-time"})
    ] = None,
) -> dict[str, Any]:
    """Send again, at once and in order, what was matched of the events from a log position, or from a time, on.

    What waits to be sent for the first time is left as it is.
    """
    _delivery(caller, shared, subscription_id)
    if (position is None) == (since is None):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "either 'from', a log position, or 'since', a time, is needed")
    if since is not None:
        position = shared.store.position_before(time_of(since)) + 1
    _move(shared, subscription_id, position or 0, back=True)
    return _status(caller, shared, subscription_id)


@router.get("/v1/deliveries/{subscription_id:path}")
def read_delivery(
    caller: Subscriber, shared: Shared, subscription_id: str, if_none_match: IfNoneMatch = None
) -> Response:
    """How a subscription's delivery stands: delivered, pending, failing since when and why, last success, times sent.

    ``state`` is active, paused, unconfirmed (the mailbox's reader was asked), stopped (it failed for days; what waits
    is kept) or ended (the receiver said 410).
    ``undelivered`` counts what was refused for hours and put aside, ``suppressed`` what had the content of another.
    ``circuit`` tells of one that fails until when its host is left alone, as it was without an answer too often.
    """
    return tagged(_status(caller, shared, subscription_id), if_none_match)


@router.patch("/v1/deliveries/{subscription_id:path}")
def change_delivery(
    caller: Subscriber, shared: Shared, body: Body, subscription_id: str, if_match: IfMatch = None
) -> Response:
    """Pause with ``{"paused": true}``; with false go on, without loss, also after it was stopped or ended.

    With ``{"position": 17}`` go on with what is at this log position: repeat what came since, or leave out what came
    before.
    """
    paused, position = body.get("paused"), body.get("position")
    if not body or set(body) - set(MEMBERS) or not isinstance(paused, bool | None):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "'paused' (true or false) and 'position' may be changed")
    if position is not None and (
        isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < 1 << 63
    ):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'position' should be a log position, not {position!r}")
    _status(caller, shared, subscription_id)

    def check() -> None:
        check_unchanged(_status(caller, shared, subscription_id), if_match)

    if position is not None:
        _move(shared, subscription_id, position, check)
    try:
        if paused is not None:
            shared.store.pause(subscription_id, paused, check if position is None else lambda: None)
    except UsageError:
        raise _unknown(subscription_id) from None
    return tagged(_status(caller, shared, subscription_id), None)


@router.get("/v1/endpoints")
def list_endpoints(caller: Subscriber, shared: Shared, page: Paged) -> ExactJSONResponse:
    """How it stands with each address that something is delivered to, as far as the caller's subscriptions go."""
    found = shared.store.deliveries.endpoints(caller.only)
    return page.of_all(found, lambda one: _endpoint(one, shared))


def _move(
    shared: State, subscription: str, position: int, check: Callable[[], None] = lambda: None, back: bool = False
) -> None:
    try:
        shared.store.deliveries.move(subscription, position, check, back)
    except UsageError as error:  # what was there is no longer kept
        raise ProblemError(HTTPStatus.GONE, str(error)) from None


def _delivery(caller: Caller, shared: State, subscription: str) -> Delivery:
    """A delivery of one of the caller's subscriptions."""
    revision = shared.store.subscription(subscription)
    if revision is None or not caller.sees(revision.owner):
        raise _unknown(subscription)
    found = shared.store.deliveries.of([subscription]).get(subscription)
    if found is None:
        raise _unknown(subscription)
    return found


def _status(caller: Caller, shared: State, subscription: str) -> dict[str, Any]:
    found = _delivery(caller, shared, subscription)
    return status(found, shared.store.deliveries.pending([subscription]).get(subscription, 0), shared)


def status(found: Delivery, pending: int, shared: State) -> dict[str, Any]:
    """How a delivery stands, with so many notifications yet to be sent.

    Others may call the same host: nothing is told of it unless this delivery fails itself.
    """
    following = found.due if found.state == ACTIVE else None
    failing = {"since": found.failing_since, "reason": found.reason, "attempts": found.attempts, "next": following}
    return {
        "subscription": found.subscription,
        **shown_place(found),
        "state": found.state,
        "delivered": found.delivered,
        "undelivered": found.undelivered,
        "suppressed": found.suppressed,
        "pending": pending,
        "sent": found.sent,
        "lastSuccess": found.last_success,
        "failing": failing if found.failing_since else None,
        "circuit": shared.circuits.shown(found.url) if found.failing_since else None,
    }


def _endpoint(found: Endpoint, shared: State) -> dict[str, Any]:
    failing = {"subscriptions": found.failing, "since": found.failing_since, "reason": found.reason}
    return {
        "url": found.url,
        "subscriptions": found.subscriptions,
        "delivered": found.delivered,
        "undelivered": found.undelivered,
        "pending": found.pending,
        "sent": found.sent,
        "lastSuccess": found.last_success,
        "failing": failing if found.failing else None,
        "circuit": shared.circuits.shown(found.url) if found.failing else None,
    }


def _unknown(id_: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"nothing is delivered of a subscription {id_!r}")
