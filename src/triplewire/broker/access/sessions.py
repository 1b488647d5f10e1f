"""Signing in by a password: a session is a token that the browser keeps in a cookie, out of reach of scripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from triplewire.broker.access.users import COOKIE, Anybody, address_of, check_site, unknown_caller
from triplewire.broker.http.bodies import json_object
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared
from triplewire.store import moment_of

LASTS = timedelta(hours=12)
LONGEST_PASSWORD = 1000

router = APIRouter(prefix="/v1/session", tags=["users"])


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[Depends(check_site)])
def sign_in(
    request: Request, shared: Shared, body: Annotated[dict[str, Any], Depends(json_object)], response: Response
) -> dict[str, Any]:
    """Sign in with ``name`` and ``password``. The cookie is good for twelve hours, for requests of our own pages."""
    name, password = body.get("name"), body.get("password")
    if not isinstance(name, str) or not isinstance(password, str) or len(password) > LONGEST_PASSWORD:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "'name' and 'password' should be texts")
    user = shared.gate.with_password(name, password, address_of(request))
    if user is None:
        raise unknown_caller("there is nobody with this name and password")
    _, text = shared.store.users.issue(name, "session", expires=moment_of(datetime.now(UTC) + LASTS))
    secure = request.url.scheme == "https"
    seconds = int(LASTS.total_seconds())
    response.set_cookie(COOKIE, text, max_age=seconds, httponly=True, samesite="strict", secure=secure)
    return {"name": user.name, "scopes": sorted(user.scopes)}


@router.get("")
def read_session(caller: Anybody) -> dict[str, Any]:
    """Who is calling, and what they may do."""
    return {"name": caller.name, "scopes": sorted(caller.scopes)}


@router.delete("", status_code=HTTPStatus.NO_CONTENT)
def sign_out(caller: Anybody, request: Request, shared: Shared, response: Response) -> None:
    """Sign out: the cookie is good for nothing from now on."""
    if "authorization" not in request.headers and caller.token is not None:
        shared.store.users.revoke(caller.token)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
