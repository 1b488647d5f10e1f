"""Reading request bodies: their media type, their size, their JSON; and writing JSON without loss."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any, NoReturn

from fastapi import Request
from fastapi.responses import JSONResponse

from triplewire.broker.http.problems import ProblemError
from triplewire.lift.documents import write_json

MEBIBYTE = 1 << 20
PATIENCE, SLOWEST = 30.0, 1 << 16
"""Seconds that a body has to come, and the bytes for each of which it has another second, up to the limit."""
JSON_TYPES = ("application/json", "application/merge-patch+json")


class ExactJSONResponse(JSONResponse):
    """An answer whose numbers are written as they were read."""

    def render(self, content: Any) -> bytes:
        return write_json(content).encode()


def media_type(request: Request) -> str:
    """The body's media type, without its parameters."""
    return request.headers.get("content-type", "").split(";")[0].strip().lower()


async def read_body(request: Request, limit: int = MEBIBYTE) -> bytes:
    """The body, refused as soon as it is seen to be over the limit, and before it is sent if it says so itself.

    So is one that is packed, and one that takes longer than its size can excuse.
    """
    too_large = ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the limit is {limit:,} bytes")
    said = request.headers.get("content-length", "0")
    if said.isdecimal() and int(said[:20]) > limit:
        raise too_large
    if (packed := request.headers.get("content-encoding", "identity").lower()) != "identity":
        detail = f"a body is sent as it is, and not as {packed}"
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, {"Accept-Encoding": "identity"})
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE + limit / SLOWEST):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_large
    except TimeoutError:
        raise ProblemError(
            HTTPStatus.REQUEST_TIMEOUT, "the body did not come in time", {"Connection": "close"}
        ) from None
    return bytes(body)


async def json_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object.

    Only under a JSON media type: a form of some other web site cannot send one without being asked for leave.
    """
    found = media_type(request)
    if found not in JSON_TYPES:
        raise unsupported(found, JSON_TYPES[:1])
    value = parse_json(await read_body(request))
    if not isinstance(value, dict):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"the body should be a JSON object, not {type(value).__name__}")
    return value


def parse_json(body: bytes) -> Any:
    """A JSON value that can be written back as JSON: no NaN, no infinity, no broken Unicode, no bottomless nesting."""
    try:
        value = json.loads(body, parse_constant=_no_json)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from None
    return value


def text_of(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        detail = f"the body is not UTF-8: {error.reason} at byte {error.start}"
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None


def unsupported(found: str, known: tuple[str, ...]) -> ProblemError:
    said = f"{found} is not understood here" if found else "the Content-Type is missing"
    return ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"{said}; known are {', '.join(known)}")


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")
