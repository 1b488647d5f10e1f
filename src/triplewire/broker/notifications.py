"""Notifications, in pages and as a stream, and the dead letters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from triplewire.broker.bodies import ExactJSONResponse
from triplewire.broker.feed import Feed
from triplewire.broker.pages import After, Limit, page
from triplewire.broker.problems import ProblemError
from triplewire.broker.state import Shared
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.documents import read_json, write_json
from triplewire.lift.lower import lower
from triplewire.rdf.syntax import FORMATS
from triplewire.store import DeadLetter, Notification

HEARTBEAT = 15
LINE_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
"""Signs that some clients take for the end of a line, where JSON and server-sent events do not."""

router = APIRouter(tags=["notifications"])


@router.get("/v1/notifications")
def list_notifications(
    shared: Shared, after: After = 0, limit: Limit = 100, subscription: str | None = None
) -> ExactJSONResponse:
    """Notifications in the order in which they arose; of one subscription, if it is named."""
    rows = shared.store.notifications(after, limit + 1, subscription)
    return ExactJSONResponse(page(rows, limit, shown, lambda found: found.number))


@router.get("/v1/notifications/stream", response_class=EventSourceResponse)
async def stream_notifications(
    shared: Shared,
    after: After | None = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """Server-sent events, one per notification, its number as id.

    Begins after ``Last-Event-ID``, else after the number in ``after``, else with what comes new. So it does after a
    number that is yet to be given out: it was an earlier store's.
    """
    newest = await asyncio.to_thread(shared.store.last_notification)
    asked = _number(last_event_id)
    if asked is None:
        asked = after
    start = newest if asked is None else min(asked, newest)
    return EventSourceResponse(_messages(shared.feed, start), ping=HEARTBEAT)


@router.get("/v1/notifications/{number}/event", response_class=Response)
def show_event(
    shared: Shared, number: Annotated[int, Path(ge=0, lt=1 << 63)], accept: Annotated[str, Header()] = "*/*"
) -> Response:
    """The event that a notification tells of as RDF, in the syntax that ``Accept`` names, whatever was published."""
    found = shared.store.notification(number)
    if found is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no notification {number}")
    named = [kind.split(";")[0].strip().lower() for kind in accept.split(",")]
    media_type = next((kind for kind in named if kind in FORMATS), "text/turtle" if "*/*" in named else None)
    if media_type is None:
        raise ProblemError(HTTPStatus.NOT_ACCEPTABLE, f"events are told in {', '.join(FORMATS)}")
    [event] = [event for event in parse_events(found.body, shared.lifting) if event.id == found.event]
    return Response(lower(event.graph, media_type), media_type=media_type)


@router.get("/v1/dead-letters")
def list_dead_letters(shared: Shared, after: After = 0, limit: Limit = 100) -> ExactJSONResponse:
    """Events that were accepted and could not be matched, with the reason, in log order."""
    rows = shared.store.dead_letters(after, limit + 1)
    return ExactJSONResponse(page(rows, limit, shown_letter, lambda found: found.position))


async def _messages(feed: Feed, after: int) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(feed.follow(after)) as notifications:
        async for found in notifications:
            yield ServerSentEvent(id=str(found.number), data=write_json(shown(found)).translate(LINE_ENDS))


def _number(text: str | None) -> int | None:
    """A number that we gave out as an event id; anything else is no id of ours."""
    return min(int(text), (1 << 63) - 1) if text and text.isascii() and text.isdigit() and len(text) < 20 else None


def shown(found: Notification) -> dict[str, Any]:
    return {
        "id": found.number,
        "event": found.event,
        "source": found.source,
        "position": found.position,
        "subscription": found.subscription,
        "score": found.score,
        "bindings": found.bindings,
        "created": found.created,
        "cloudevent": read_json(found.body),
    }


def shown_letter(letter: DeadLetter) -> dict[str, Any]:
    return {
        "position": letter.position,
        "event": letter.id,
        "source": letter.source,
        "reason": letter.reason,
        "created": letter.created,
        "cloudevent": read_json(letter.body),
    }
