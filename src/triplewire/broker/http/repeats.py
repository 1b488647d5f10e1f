"""Requests that may be sent again: under the same key, the same request is answered as it was the first time.

A client that hears no answer cannot know whether it was heard. With a header ``Idempotency-Key``, it may simply send
the request again, for a day. The answer is kept once everything is done. Should we be gone before that, the request
is carried out again, and comes to the same: an id that we make is made from both (``fresh_id``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from hashlib import sha256
from http import HTTPStatus
from secrets import token_hex
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.routing import APIRoute
from starlette.types import Message

from triplewire.broker.access.users import caller_of
from triplewire.broker.http.bodies import MEBIBYTE, read_body
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import State
from triplewire.store import Answer

HEADER = "Idempotency-Key"
KEPT_HEADERS = ("content-type", "location", "etag")
MADE = (HTTPStatus.CREATED, HTTPStatus.ACCEPTED)
"""What was made is kept; what was only tried out is not, and may be made under the same key."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


async def _documented(
    idempotency_key: Annotated[
        str | None,
        Header(min_length=1, max_length=255, description="Sent again under the same key, it is done once. For a day."),
    ] = None,
) -> None:
    """The header as a parameter, so that it is checked and documented."""


WITH_KEY = Depends(_documented)


def repeatable(limit: Callable[[State], int] = lambda _: MEBIBYTE) -> type[APIRoute]:
    """The class of routes whose POST requests, up to a size, may be sent again under a key."""

    class Repeatable(APIRoute):
        def get_route_handler(self) -> Handler:
            handle = super().get_route_handler()

            async def repeated(request: Request) -> Response:
                key = request.headers.get(HEADER)
                if not key or len(key) > 255 or request.method != "POST":
                    return await handle(request)
                return await _once(request, key, handle, limit(request.app.state.shared))

            return repeated

    return Repeatable


def fresh_id(request: Request) -> str:
    """A new id; for the same request under the same key always the same one."""
    known: tuple[str, ...] | None = getattr(request.state, "key", None)
    return sha256("\n".join(known).encode()).hexdigest()[:16] if known else token_hex(8)


def is_repeatable(request: Request) -> bool:
    """Whether the request may have been carried out before, without an answer."""
    return getattr(request.state, "key", None) is not None


async def _once(request: Request, key: str, handle: Handler, limit: int) -> Response:
    shared: State = request.app.state.shared
    known = ((await caller_of(request)).name, key)
    body = await read_body(request, limit)
    digest = _digest(request, body)
    if known in shared.under_way:
        detail = f"a request with the {HEADER} {key!r} is being carried out"
        raise ProblemError(HTTPStatus.CONFLICT, detail, {"Retry-After": "1"})
    shared.under_way.add(known)
    try:
        before = await asyncio.to_thread(shared.store.answers.find, *known)
        if before is not None:
            return _again(before, digest, key)
        request.state.key = (*known, digest)  # a key may be used for something else, a day later
        response = await handle(Request(request.scope, _replayed(body)))
        if response.status_code in MADE:
            headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
            answer = Answer(digest, response.status_code, headers, bytes(response.body).decode())
            await asyncio.to_thread(shared.store.answers.keep, known[0], known[1], answer)
        return response
    finally:
        shared.under_way.discard(known)


def _again(before: Answer, digest: str, key: str) -> Response:
    if before.request != digest:
        detail = f"the {HEADER} {key!r} was used for another request; take a new one for each"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    return Response(before.body, before.status, before.headers)


def _digest(request: Request, body: bytes) -> str:
    """What makes a request this one: all of it but what differs each time it is sent."""
    headers = sorted((n, v) for n, v in request.headers.items() if n == "content-type" or n.startswith("ce-"))
    told = repr((request.method, request.url.path, request.url.query, headers)).encode()
    return sha256(told + b"\n" + body).hexdigest()


def _replayed(body: bytes) -> Callable[[], Coroutine[Any, Any, Message]]:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
