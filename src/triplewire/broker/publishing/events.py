"""Publishing: CloudEvents over HTTP in their three modes, or a bare RDF document."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Publisher, Subscriber
from triplewire.broker.http.bodies import ExactJSONResponse, media_type, read_body, text_of, unsupported
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.repeats import WITH_KEY, fresh_id, repeatable
from triplewire.broker.publishing.letters import check_mended
from triplewire.broker.publishing.preview import preview
from triplewire.broker.publishing.publisher import check
from triplewire.broker.state import Shared, State
from triplewire.errors import EventError
from triplewire.lift.cloudevents import REQUIRED, Envelope, parse_envelope
from triplewire.lift.documents import read_json, write_json
from triplewire.lift.formats import LIFTERS, PDF
from triplewire.lift.markup import xml_text
from triplewire.lift.places import place_in
from triplewire.rdf.syntax import FORMATS
from triplewire.store import StoredEvent

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
BATCH_LIMIT = 16
"""A batch may be so many times as large as an event."""
DEFAULTS = {"specversion": "1.0", "source": "urn:triplewire:broker", "type": "triplewire.published"}

DryRun = Annotated[bool, Query(alias="dry-run", description="Publish nothing; tell what would come of it.")]
Mends = Annotated[int | None, Query(ge=1, lt=1 << 63, description="The position of the dead letter that it mends.")]


def _most(shared: State) -> int:
    return BATCH_LIMIT * shared.allowance.quotas.event


router = APIRouter(tags=["events"], route_class=repeatable(_most))


@router.post("/v1/events", status_code=HTTPStatus.ACCEPTED, dependencies=[WITH_KEY])
async def publish(
    caller: Publisher, request: Request, shared: Shared, dry_run: DryRun = False, mends: Mends = None
) -> JSONResponse:
    """Publish a CloudEvent (structured, binary or batch) or a bare RDF document under its media type.

    Within a CloudEvent, the data may be in any format that events are lifted from. A feed or a table holds several
    events, at one position of the log.

    The answer, the event's id and log position, comes once the event is durable. An event that was published before
    is accepted and changes nothing. Whether its data can be read is seen when it is matched; if not, it shows up in
    the dead letters. With ``mends``, that dead letter is marked as republished.

    With ``dry-run=true`` nothing is published: it is told, under the same limits, whether the data can be read and if
    not why and where; the graph that it is lifted to, as a picture and as Turtle, with its home vertex and the concepts
    that it speaks of; and which of the caller's own subscriptions it would trip.
    """
    shared.allowance.check_events(caller)
    limit = shared.allowance.quotas.event
    batch = media_type(request) == BATCH
    if batch:
        envelopes = _batch(_parse_exact(await read_body(request, _most(shared))), limit)
    else:
        envelopes = [await _single(request, limit)]
    if mends is not None:
        await asyncio.to_thread(check_mended, mends, envelopes, caller, shared)
    await shared.pressure.check(shared.publisher, len(envelopes))
    shared.allowance.count_events(caller, len(envelopes))
    if dry_run:
        check(envelopes)
        return JSONResponse(await run_in_threadpool(preview, envelopes, caller, shared))
    receipts = await _published(envelopes, caller, shared)
    if mends is not None:
        await asyncio.to_thread(shared.store.settle_letter, mends, receipts[0]["position"])
    return JSONResponse(receipts if batch else receipts[0], HTTPStatus.ACCEPTED)


async def _published(envelopes: Sequence[Envelope], caller: Caller, shared: State) -> list[dict[str, Any]]:
    """The receipts of events that are now durable."""
    positions = await shared.publisher.publish(envelopes, caller.name)
    return [{"id": e.id, "source": e.source, "position": p} for e, p in zip(envelopes, positions, strict=True)]


async def _single(request: Request, limit: int) -> Envelope:
    kind = media_type(request)
    if kind == STRUCTURED:
        return _envelope(_parse_exact(await read_body(request, limit)))
    attributes = _attributes(request.headers)
    bare = not any(name in attributes for name in REQUIRED)
    known = FORMATS if bare else LIFTERS
    if kind not in known:
        raise unsupported(kind, (STRUCTURED, BATCH, *known))
    if not (body := await read_body(request, limit)).strip():
        raise EventError("the body is empty")
    if bare:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        attributes = {**DEFAULTS, "id": fresh_id(request), "time": now, **attributes}
    return parse_envelope({**attributes, "datacontenttype": kind, **_content(kind, body)})


@router.get("/v1/events")
def list_events(_: Subscriber, shared: Shared, page: Paged) -> ExactJSONResponse:
    """What is in the log, the newest first: where it is, what it is called, whence it came and when.

    Every subscriber may see it: it is what subscriptions are for.
    """
    end = min(page.after - 1 if page.after else shared.store.last_position(), shared.store.last_position())
    begin = max(end - page.limit, shared.store.cut_position(), 0)
    found = reversed(list(shared.store.events(begin, end)))
    return page.told([logged(one) for one in found], begin + 1 if begin > shared.store.cut_position() else None)


def logged(stored: StoredEvent) -> dict[str, Any]:
    """A line of the log without what it says."""
    told = {"position": stored.position, "id": stored.id, "source": stored.source}
    return told | {"type": str(read_json(stored.body).get("type", "")), "received": stored.received}


def _content(kind: str, body: bytes) -> dict[str, str]:
    """The body as text where it is one; XML as its declaration says, or as it is if that is wrong."""
    if kind.endswith("xml"):
        with suppress(EventError):
            return {"data": xml_text(body)}
    elif kind != PDF:
        return {"data": text_of(body)}
    return {"data_base64": b64encode(body).decode()}


def _parse_exact(body: bytes) -> Any:
    """A JSON value with its numbers as they were written, and without half characters."""
    try:
        value = read_json(body)
        write_json(value).encode()
    except (EventError, ValueError, RecursionError) as error:
        reason = str(error).removeprefix("not JSON: ")
        place = place_in({"data": body.decode("utf-8", "replace")}, reason)
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {reason}", **place) from None
    return value


def _attributes(headers: Headers) -> dict[str, str]:
    """The context attributes that travel as ``ce-`` headers, percent-decoded as the HTTP binding has it."""
    return {name[3:]: unquote(value) for name, value in headers.items() if name.startswith("ce-")}


def _batch(value: Any, limit: int) -> list[Envelope]:
    """A batch is accepted as a whole or not at all."""
    if not isinstance(value, list):
        raise EventError(f"a batch is a JSON array of CloudEvents, not {type(value).__name__}")
    return [_member(number, element, limit) for number, element in enumerate(value, 1)]


def _member(number: int, element: Any, limit: int) -> Envelope:
    try:
        envelope = _envelope(element)
    except EventError as error:
        raise EventError(f"event {number} of the batch: {error}") from None
    if len(envelope.as_json().encode()) > limit:
        detail = f"event {number} of the batch is over the limit of {limit:,} bytes"
        raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    return envelope


def _envelope(value: Any) -> Envelope:
    if not isinstance(value, Mapping):
        raise EventError(f"a CloudEvent is a JSON object, not {type(value).__name__}")
    return parse_envelope(value)
