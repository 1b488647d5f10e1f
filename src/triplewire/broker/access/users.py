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

from triplewire.broker.access.gate import EVERYBODY, Caller
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.store import ACTOR
from triplewire.store.rights import ADMIN, ONTOLOGY, PUBLISH, SUBSCRIBE
from triplewire.store.users import SESSION

READING = ("GET", "HEAD", "OPTIONS")
COOKIE = "triplewire-session"
OWN_SITE = ("same-origin", "none")

_bearer = HTTPBearer(auto_error=False, description="A token, as `triplewire token add` makes one.")

Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def caller(request: Request, shared: Shared, given: Credentials) -> Caller:
    """Whoever sends a request: by their token or, where none is needed, anybody on this machine."""
    found = _found(request, shared, given)
    request.state.caller = found.name  # for the log
    return found


async def caller_of(request: Request) -> Caller:
    """The same, where there is no route yet that asks for it."""
    return await run_in_threadpool(caller, request, request.app.state.shared, await _bearer(request))


def _found(request: Request, shared: State, given: HTTPAuthorizationCredentials | None) -> Caller:
    if given is not None:
        return _known(shared.gate.bearer(given.credentials, address_of(request)))
    if "authorization" in request.headers:
        raise unknown_caller("a token is needed: Authorization: Bearer tw_…")
    if (session := request.cookies.get(COOKIE)) is not None:
        check_site(request)
        found = _known(shared.gate.bearer(session, address_of(request)))
        # Who has given a password may make tokens that last; who has given a token, none that lasts longer.
        return replace(found, expires=None) if session.startswith(SESSION) else found
    if not (shared.gate.is_open() and _is_near(request)):
        raise unknown_caller("a token is needed: Authorization: Bearer tw_…")
    check_site(request)
    return EVERYBODY


def _is_near(request: Request) -> bool:
    """Whether a request comes from this machine, and not through a proxy on it from who knows where."""
    try:
        return ip_address(address_of(request)).is_loopback
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


def _with(scope: str) -> Callable[[Caller], Awaitable[Caller]]:
    async def scoped(found: Anybody) -> Caller:
        return _checked(found, scope)

    return scoped


def _checked(found: Caller, scope: str) -> Caller:
    if not found.may(scope):
        raise ProblemError(HTTPStatus.FORBIDDEN, f"this needs a token with the scope {scope!r}")
    return found


def reader(
    request: Request,
    shared: Shared,
    given: Credentials,
    subscription_id: str,
    token: str | None = None,
) -> Caller:
    """Whoever reads a feed: by a token for this feed in its address, as feed readers send no headers of ours."""
    if token is None:
        return _checked(caller(request, shared, given), SUBSCRIBE)
    found = _known(shared.gate.bearer(token, address_of(request), subscription_id))
    request.state.caller = found.name
    return found


Anybody = Annotated[Caller, Depends(caller)]
Publisher = Annotated[Caller, Depends(_with(PUBLISH))]
Subscriber = Annotated[Caller, Depends(_with(SUBSCRIBE))]
Ontologist = Annotated[Caller, Depends(_with(ONTOLOGY))]
Reader = Annotated[Caller, Depends(reader)]
Administrator = Annotated[Caller, Depends(_with(ADMIN))]


async def at_work(found: Anybody) -> None:
    """Have what a request changes be noted as its caller's."""
    ACTOR.set(found.name)
