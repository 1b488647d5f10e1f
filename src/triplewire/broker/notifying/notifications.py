"""Notifications, in pages and as a stream."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing
from functools import lru_cache
from http import HTTPStatus
from time import monotonic
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Depends, Header, Path, Query, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.bodies import ExactJSONResponse, parse_json
from triplewire.broker.http.pages import After, Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.notifying.feed import Batch
from triplewire.broker.state import Shared, State
from triplewire.errors import EventError
from triplewire.lift.cloudevents import parse_events, prefixes_of
from triplewire.lift.documents import read_json, write_json
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.lift.lower import lower
from triplewire.matching.explanation import Explanation, as_dict, as_text, explain, picture
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import FORMATS
from triplewire.store import Notification
from triplewire.subscriptions.languages import parse_subscription

HEARTBEAT = 15
LOOK_AGAIN = 30.0
"""So many seconds after a token was revoked, streams that were opened with it may go on."""
AGAIN, LATER = 2_000, 60_000
"""Milliseconds after which a client whose stream we end is to come back; and one that has too many."""
LINE_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
"""Signs that some clients take for the end of a line, where JSON and server-sent events do not."""
RECENT = 16
"""So many events are kept as they were last written."""
EXPLANATIONS = ("application/json", "image/svg+xml", "text/plain")
Number = Annotated[int, Path(ge=0, lt=1 << 63)]


async def _syntax(
    format: Annotated[str | None, Query(description="A media type of RDF.")] = None,  # noqa: A002
) -> str | None:
    if format is not None and format not in FORMATS:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'format' should be one of {', '.join(FORMATS)}")
    return format


Syntax = Annotated[str | None, Depends(_syntax)]

router = APIRouter(tags=["notifications"])


@router.get("/v1/notifications")
def list_notifications(
    caller: Subscriber, shared: Shared, page: Paged, syntax: Syntax, subscription: str | None = None
) -> ExactJSONResponse:
    """Notifications in the order in which they arose; of one subscription, if it is named.

    With ``format``, a media type of RDF, each has its event in it as ``rdf``.
    """
    rows = shared.store.notifications(page.after, page.more, subscription, caller.only)
    return page.of(rows, lambda found: told(found, syntax, shared.lifting), lambda found: found.number)


@router.get("/v1/notifications/stream", response_class=EventSourceResponse)
async def stream_notifications(
    caller: Subscriber,
    shared: Shared,
    syntax: Syntax,
    after: After | None = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """Server-sent events, one per notification, its number as id. With ``format``, each has its event as ``rdf``.

    Begins after ``Last-Event-ID``, else after the number in ``after``, else with what comes new. So it does after a
    number that is yet to be given out: it was an earlier store's.
    """
    shared.allowance.check_streams(caller)
    newest = await asyncio.to_thread(shared.store.last_notification)
    asked = _number(last_event_id)
    if asked is None:
        asked = after
    start = newest if asked is None else min(asked, newest)
    messages = _messages(shared, start, caller, syntax)
    return EventSourceResponse(messages, ping=HEARTBEAT, shutdown_event=anyio.Event(), shutdown_grace_period=1)


@router.get("/v1/notifications/{number}/event", response_class=Response)
def show_event(
    caller: Subscriber, shared: Shared, number: Number, accept: Annotated[str, Header()] = "*/*"
) -> Response:
    """The event that a notification tells of as RDF, in the syntax that ``Accept`` names, whatever was published."""
    found = kept(notification(caller, shared, number))
    media_type = _acceptable(accept, tuple(FORMATS), "text/turtle")
    return Response(lower(event_of(found, shared.lifting).graph, media_type), media_type=media_type)


@router.get("/v1/notifications/{number}/explanation", response_class=Response)
def show_explanation(
    caller: Subscriber, shared: Shared, number: Number, accept: Annotated[str, Header()] = "*/*"
) -> Response:
    """Why the event tripped the subscription, as JSON, as a picture or as text, whichever ``Accept`` names.

    The subscription and the ontology are those that were in force at the event's position.
    """
    found = kept(notification(caller, shared, number))
    media_type = _acceptable(accept, EXPLANATIONS, EXPLANATIONS[0])
    return _explained(*explained(found, shared), media_type)


def explained(found: Notification, shared: State) -> tuple[Explanation, dict[str, str]]:
    """Why a notification was made, by what was in force then, and the prefixes to tell it with."""
    event = event_of(kept(found), shared.lifting)
    revision = shared.store.subscription_at(found.subscription, found.position)
    if revision is None:
        raise ProblemError(
            HTTPStatus.NOT_FOUND, f"there was no subscription {found.subscription!r} at {found.position}"
        )
    model = shared.models.at(found.position)
    told = explain(parse_subscription(revision.record, model), event, model)
    return told, prefixes_of(read_json(found.body)) | revision.record.get("prefixes", {})


@router.get("/v1/explanations", response_class=Response)
def explain_trial(
    _: Subscriber,
    shared: Shared,
    position: Annotated[int, Query(ge=1, lt=1 << 63, description="The log position of the event.")],
    subscription: Annotated[str, Query(max_length=8192, description="A subscription as JSON; it needs no id.")],
    event: Annotated[str | None, Query(description="Of several events at the position, the one with this id.")] = None,
    accept: Annotated[str, Header()] = "*/*",
) -> Response:
    """Why an event of the log would trip a subscription that need not be there, under the ontology of today.

    As JSON, as a picture or as text, whichever ``Accept`` names. Dry runs link here.
    """
    media_type = _acceptable(accept, EXPLANATIONS, EXPLANATIONS[0])
    record = parse_json(subscription.encode("utf-8", "surrogatepass"))
    if not isinstance(record, dict):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "'subscription' should be a JSON object")
    return _explained(*tried({"id": "as written", **record}, position, event, shared), media_type)


def tried(
    record: dict[str, Any], position: int, event: str | None, shared: State
) -> tuple[Explanation, dict[str, str]]:
    """Why an event of the log would trip a subscription or would not, today, and the prefixes to tell it with."""
    model = shared.models.current()
    parsed = parse_subscription(record, model)
    stored = next(iter(shared.store.events(position - 1, position)), None)
    at = [] if stored is None else parse_events(stored.body, shared.lifting)
    chosen = next((one for one in at if event in (None, one.id)), None)
    if stored is None or chosen is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no such event at position {position}")
    return explain(parsed, chosen, model), prefixes_of(read_json(stored.body)) | record.get("prefixes", {})


def _explained(told: Explanation, prefixes: dict[str, str], media_type: str) -> Response:
    if media_type == "text/plain":
        return Response(as_text(told, prefixes), media_type=media_type)
    if media_type == "image/svg+xml":
        return Response(picture(told, prefixes), media_type=media_type)
    return ExactJSONResponse(as_dict(told, prefixes))


def notification(caller: Caller, shared: State, number: int) -> Notification:
    """A notification, if the caller may see it; else it is as if there were none."""
    found = shared.store.notification(number)
    if found is None or not caller.sees(found.owner):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no notification {number}")
    return found


def kept(found: Notification) -> Notification:
    """A notification whose event is still there; whatever rests on the event is gone otherwise."""
    if not found.body:
        gone = f"the event {found.event!r} is no longer kept, nor can it be explained what it matched"
        raise ProblemError(HTTPStatus.GONE, gone)
    return found


def event_of(found: Notification, lifting: Lifting) -> Event:
    """The event that a notification tells of; an error if it cannot be read, or is no longer kept."""
    return _event(found.body, found.event, lifting)


def _event(body: str, id_: str, lifting: Lifting) -> Event:
    [event] = [event for event in parse_events(body, lifting) if event.id == id_]
    return event


def rdf_of(found: Notification, format_: str, lifting: Lifting) -> str | None:
    """The event that a notification tells of as RDF, unless it cannot be read by the settings of today."""
    try:
        return _rdf(found.body, found.event, format_, lifting)
    except (EventError, ValueError):
        return None


@lru_cache(RECENT)
def _rdf(body: str, id_: str, format_: str, lifting: Lifting) -> str:
    """An event as RDF, written once for all who are told of it."""
    return lower(_event(body, id_, lifting).graph, format_)


def _acceptable(accept: str, offered: tuple[str, ...], default: str) -> str:
    """The media type that is asked for most and offered; among equals the first that is asked for by its full name."""
    asked = [_weighed(part) for part in accept.split(",")]
    unwanted = {kind for kind, weight in asked if weight <= 0}
    for kind, weight in sorted(asked, key=lambda one: (-one[1], one[0].endswith("/*"))):
        fitting = [one for one in (default, *offered) if one not in unwanted and _within(one, kind)]
        if fitting and weight > 0:
            return fitting[0]
    raise ProblemError(HTTPStatus.NOT_ACCEPTABLE, f"it is told in {', '.join(offered)}")


def _weighed(part: str) -> tuple[str, float]:
    """A media type, or a range of them, with its weight: ``text/*;q=0.5``. A weight that is no number counts as 1."""
    kind, *parameters = (one.strip().lower() for one in part.split(";"))
    given = next((one[2:] for one in parameters if one.startswith("q=")), "1")
    return kind, float(given) if re.fullmatch(r"[01](\.\d{0,3})?", given) else 1.0


def _within(kind: str, range_: str) -> bool:
    return range_ in (kind, "*/*", f"{kind.partition('/')[0]}/*")


async def _messages(shared: State, after: int, caller: Caller, syntax: str | None) -> AsyncIterator[bytes]:
    """What comes for a caller, as long as they are let in; what is there together is sent together."""
    looked = monotonic()
    with ExitStack() as counted:
        try:
            counted.enter_context(shared.allowance.streaming(caller))
        except ProblemError as error:  # many came at once, and the answer has begun
            yield ServerSentEvent(retry=LATER, comment=error.detail).encode()
            return
        async with aclosing(shared.feed.follow(after)) as batches:
            async for batch in batches:
                told = _told(batch, caller, syntax, shared.lifting)
                if told and monotonic() - looked > LOOK_AGAIN:
                    looked = monotonic()
                    if not await asyncio.to_thread(shared.gate.still_knows, caller):
                        return
                if told:
                    yield told
    yield ServerSentEvent(retry=AGAIN, comment="the broker is going down").encode()


def _told(batch: Batch, caller: Caller, syntax: str | None, lifting: Lifting) -> bytes:
    """What a caller is told of a batch, written once for all who see the same."""
    seen = caller.only, syntax
    if seen in batch.written:
        return batch.written[seen]
    own = [found for found in batch.notifications if caller.sees(found.owner)]
    told = b"".join(_message(found, syntax, lifting) for found in own)
    if own:
        batch.written[seen] = told
    return told


def _message(found: Notification, syntax: str | None, lifting: Lifting) -> bytes:
    """A notification as it is told, its event written once for all who are told of it. JSON has no ends of lines."""
    head = _in_a_line(write_json(_with_links(found, found.as_head(), syntax, lifting)))
    text = f'{head[:-1]},"cloudevent":{_published(found.body)}}}'
    return f"id: {found.number}\r\ndata: {text}\r\n\r\n".encode()


@lru_cache(RECENT)
def _published(body: str) -> str:
    return _in_a_line(write_json(read_json(body) if body else None))


def _in_a_line(text: str) -> str:
    return text if text.isascii() else text.translate(LINE_ENDS)


def _number(text: str | None) -> int | None:
    """A number that we gave out as an event id; anything else is no id of ours."""
    return min(int(text), (1 << 63) - 1) if text and text.isascii() and text.isdigit() and len(text) < 20 else None


def shown(found: Notification) -> dict[str, Any]:
    return _with_links(found, found.as_dict())


def told(found: Notification, format_: str | None, lifting: Lifting, links: str = "") -> dict[str, Any]:
    """A notification as it is shown, with its event as RDF if a format is named, and if it can still be read.

    Whoever did not ask us is told where we are: ``links``.
    """
    return _with_links(found, found.as_dict(), format_, lifting, links)


def _with_links(
    found: Notification, whole: dict[str, Any], format_: str | None = None, lifting: Lifting = DEFAULT, links: str = ""
) -> dict[str, Any]:
    """A notification with what leads on from it: its explanation, and its event as RDF."""
    whole["explanation"] = f"{links}/v1/notifications/{found.number}/explanation"
    if format_ is not None and (text := rdf_of(found, format_, lifting)) is not None:
        whole["rdf"] = {"format": format_, "text": text}
    return whole
