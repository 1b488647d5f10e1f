"""Publishing: CloudEvents over HTTP in their three modes, or a bare RDF document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from secrets import token_hex
from typing import Any
from urllib.parse import unquote

from fastapi import APIRouter, Request
from starlette.datastructures import Headers

from triplewire.broker.bodies import MEBIBYTE, media_type, parse_json, read_body, text_of, unsupported
from triplewire.broker.problems import ProblemError
from triplewire.broker.state import Shared
from triplewire.errors import EventError
from triplewire.lift.cloudevents import REQUIRED, Envelope, parse_envelope
from triplewire.rdf.syntax import FORMATS

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
EVENT_LIMIT = MEBIBYTE
BATCH_LIMIT = 16 * MEBIBYTE
DEFAULTS = {"specversion": "1.0", "source": "urn:triplewire:broker", "type": "triplewire.published"}

router = APIRouter(tags=["events"])


@router.post("/v1/events", status_code=HTTPStatus.ACCEPTED)
async def publish(request: Request, shared: Shared) -> Any:
    """Publish a CloudEvent (structured, binary or batch) or a bare RDF document under its media type.

    The answer, the event's id and log position, comes once the event is durable. An event that was published before
    is accepted and changes nothing. Whether its data can be read is seen when it is matched; if not, it shows up in
    the dead letters.
    """
    if media_type(request) == BATCH:
        envelopes = _batch(parse_json(await read_body(request, BATCH_LIMIT)))
        return _receipts(envelopes, await shared.publisher.publish(envelopes))
    envelope = await _single(request)
    return _receipts([envelope], await shared.publisher.publish([envelope]))[0]


def _receipts(envelopes: Sequence[Envelope], positions: Sequence[int]) -> list[dict[str, Any]]:
    return [{"id": e.id, "source": e.source, "position": p} for e, p in zip(envelopes, positions, strict=True)]


async def _single(request: Request) -> Envelope:
    kind = media_type(request)
    if kind == STRUCTURED:
        return _envelope(parse_json(await read_body(request, EVENT_LIMIT)))
    if kind not in FORMATS:
        raise unsupported(kind, (STRUCTURED, BATCH, *FORMATS))
    if not (data := text_of(await read_body(request, EVENT_LIMIT))).strip():
        raise EventError("the body is empty")
    attributes = _attributes(request.headers)
    if not any(name in attributes for name in REQUIRED):
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        attributes = {**DEFAULTS, "id": token_hex(8), "time": now, **attributes}
    return parse_envelope({**attributes, "datacontenttype": kind, "data": data})


def _attributes(headers: Headers) -> dict[str, str]:
    """The context attributes that travel as ``ce-`` headers, percent-decoded as the HTTP binding has it."""
    return {name[3:]: unquote(value) for name, value in headers.items() if name.startswith("ce-")}


def _batch(value: Any) -> list[Envelope]:
    """A batch is accepted as a whole or not at all."""
    if not isinstance(value, list):
        raise EventError(f"a batch is a JSON array of CloudEvents, not {type(value).__name__}")
    return [_member(number, element) for number, element in enumerate(value, 1)]


def _member(number: int, element: Any) -> Envelope:
    try:
        envelope = _envelope(element)
    except EventError as error:
        raise EventError(f"event {number} of the batch: {error}") from None
    if len(envelope.as_json().encode()) > EVENT_LIMIT:
        detail = f"event {number} of the batch is over the limit of {EVENT_LIMIT:,} bytes"
        raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    return envelope


def _envelope(value: Any) -> Envelope:
    if not isinstance(value, Mapping):
        raise EventError(f"a CloudEvent is a JSON object, not {type(value).__name__}")
    return parse_envelope(value)
