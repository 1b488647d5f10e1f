"""What every request has: a host that is ours, an id, a line in the log, and an answer whatever goes wrong."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable
from http import HTTPStatus
from secrets import token_hex

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplewire.broker.http.problems import ProblemError
from triplewire.broker.operations.logs import request_id, tell
from triplewire.broker.operations.meters import Meters

HEADER = "X-Request-Id"
QUIET = ("/healthz", "/readyz", "/metrics", "/static", "/v1/activity")
"""Routes that are asked for all the time by machines and pages; they are logged if they fail."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_GIVEN = re.compile(r"[\w.:-]{1,100}", re.ASCII)

log = logging.getLogger(__name__)


class Requests:
    """Gives each request an id, ours or the client's, counts it, and logs it once it is answered.

    Neither tokens nor queries are logged: a route is told by its template, and the caller by name. An error that
    nobody foresaw is logged with its trace and answered with a problem document.
    """

    def __init__(self, app: ASGIApp, headers: dict[str, str], meters: Meters) -> None:
        self.app = app
        self.headers = headers
        self.meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        id_ = given if _GIVEN.fullmatch(given) else token_hex(8)
        began, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._count(scope, status, time.perf_counter() - began)
                headers = MutableHeaders(scope=message)
                headers.update({**self.headers, **headers, HEADER: id_})
            await send(message)

        token = request_id.set(id_)
        try:
            await (_refuse if _is_ambiguous(scope) else self.app)(scope, receive, answer)
        except ClientDisconnect:
            log.debug("a client went away before it had said all")
        except Exception:
            log.exception("a request failed unforeseen")
            if status:
                raise  # the answer has begun, and cannot be taken back
            problem = ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "something went wrong here; the log has it")
            await problem.response()(scope, receive, answer)
        finally:
            _tell(scope, status, time.perf_counter() - began)
            request_id.reset(token)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        method, route = scope["method"] if scope["method"] in METHODS else "other", _route(scope)
        self.meters.requests.labels(method, route, status).inc()
        self.meters.answers.labels(method, route).observe(seconds)


class Heads:
    """Answers HEAD as GET is answered, without the body: whoever looks whether something is there need not load it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                scope["route"] = asked.get("route")  # for the log
                await send(message)
                await send({"type": "http.response.body", "body": b""})  # and that is all, also of a stream

        await self.app(asked, receive, answer)


class Hosts:
    """Refuses requests to a host that is none of ours: some site may have its own name lead here."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and "*" not in self.hosts:
            host = re.sub(r":\d*$", "", Headers(scope=scope).get("host", "").lower())
            if host not in self.hosts:
                await ProblemError(HTTPStatus.BAD_REQUEST, f"there is no host {host!r} here").response()(
                    scope, receive, send
                )
                return
        await self.app(scope, receive, send)


def _route(scope: Scope) -> str:
    """The template of the route that was asked for; nothing, if there is none."""
    return getattr(scope.get("route"), "path", "")


def _is_ambiguous(scope: Scope) -> bool:
    """Whether it is said in two ways where the body ends: a proxy may see another request in the rest than we do."""
    names = {name for name, _ in scope["headers"]}
    return b"transfer-encoding" in names and b"content-length" in names


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    detail = "a body has a length or comes in chunks, not both"
    await ProblemError(HTTPStatus.BAD_REQUEST, detail, {"Connection": "close"}).response()(scope, receive, send)


def _tell(scope: Scope, status: int, seconds: float) -> None:
    route = _route(scope)
    level = logging.ERROR if status >= 500 else logging.INFO
    if level == logging.INFO and route.startswith(QUIET):
        level = logging.DEBUG
    if not log.isEnabledFor(level):
        return
    fields = {"method": scope["method"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
    caller = scope.get("state", {}).get("caller")
    tell(log, level, "request", **fields, **({"caller": caller.name} if caller else {}))
