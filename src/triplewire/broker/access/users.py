"""The caller of a route, and what they may do.

Every route but those of health, of metrics and of links in mail has a caller, whether it asks for one or not: see
``app``. Those that show or change something of somebody's take the caller by one of the names below, as their first
parameter, and show only what ``caller.sees``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from triplewire.broker.access.gate import Caller
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.store import ACTOR
from triplewire.store.rights import ADMIN, ONTOLOGY, PUBLISH, SUBSCRIBE
from triplewire.store.users import SESSION

READING = ("GET", "HEAD", "OPTIONS")
COOKIE = "triplewire-session"
OWN_SITE = ("same-origin", "none")
NEEDED = "a token is needed: Authorization: Bearer tw_…"

_bearer = HTTPBearer(auto_error=False, description="A token, as `triplewire token add` makes one.")

Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


async def caller_of(request: Request) -> Caller:
    """Whoever sends a request: by their token or, where none is needed, anybody on this machine. Found once."""
    known: Caller | None = getattr(request.state, "caller", None)
    if known is None:
        known = request.state.caller = await _found(request, request.app.state.shared)
    return known


async def caller(request: Request, _: Credentials) -> Caller:
    """The same, for routes that take anybody."""
    return await caller_of(request)


async def _found(request: Request, shared: State) -> Caller:
    given = await _bearer(request)
    address = address_of(request)
    if given is not None:
        return _known(await shared.gate.let_in(given.credentials, address))
    if "authorization" in request.headers:
        raise unknown_caller(NEEDED)
    if (session := request.cookies.get(COOKIE)) is not None:
        check_site(request)
        found = _known(await shared.gate.let_in(session, address))
        # Who has given a password may make tokens that last; who has given a token, none that lasts longer.
        return replace(found, expires=None) if session.startswith(SESSION) else found
    anybody = await shared.gate.let_in(None, address)
    if anybody is None or not _is_near(address):
        raise unknown_caller(NEEDED)
    check_site(request)
    return anybody


def _is_near(address: str) -> bool:
    """Whether a request comes from this machine, and not through a proxy on it from who knows where."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def check_site(request: Request) -> None:
    """Refuse changes that some other site has a browser ask for; a token would tell that it is meant.

    Whoever comes with a cookie is a browser, and says where the request comes from.
    """
    if request.method in READING:
        return
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")
    silent = origin is None and site is None and COOKIE in request.cookies
    if foreign or silent or (site or "none") not in OWN_SITE:
        raise ProblemError(HTTPStatus.FORBIDDEN, "a page of another site may not change anything here")


def _known(found: Caller | None) -> Caller:
    if found is None:
        raise unknown_caller("this token is not known, or not any more")
    return found


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


def unknown_caller(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": "Bearer"})


def _with(scope: str) -> Callable[[Request], Awaitable[Caller]]:
    async def scoped(request: Request) -> Caller:
        return _checked(await caller_of(request), scope)

    return scoped


def _checked(found: Caller, scope: str) -> Caller:
    if not found.may(scope):
        raise ProblemError(HTTPStatus.FORBIDDEN, f"this needs a token with the scope {scope!r}")
    return found


async def reader(
    request: Request, shared: Shared, _: Credentials, subscription_id: str, token: str | None = None
) -> Caller:
    """Whoever reads a feed: by a token for this feed in its address, as feed readers send no headers of ours."""
    if token is None:
        return _checked(await caller_of(request), SUBSCRIBE)
    found = _known(await run_in_threadpool(shared.gate.bearer, token, address_of(request), subscription_id))
    request.state.caller = found
    return found


Anybody = Annotated[Caller, Depends(caller)]
Publisher = Annotated[Caller, Depends(_with(PUBLISH))]
Subscriber = Annotated[Caller, Depends(_with(SUBSCRIBE))]
Ontologist = Annotated[Caller, Depends(_with(ONTOLOGY))]
Reader = Annotated[Caller, Depends(reader)]
Administrator = Annotated[Caller, Depends(_with(ADMIN))]


async def at_work(request: Request, _: Credentials) -> None:
    """Have what a request changes be noted as its caller's."""
    ACTOR.set((await caller_of(request)).name)
