"""Signing in: a session is a token that the browser keeps in a cookie, out of reach of scripts.

Whoever signs in with a password is given one of its own. Whoever has a token has the cookie hold that: it may do as
much, and is good for as long.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from triplewire.broker.access.users import COOKIE, Anybody, address_of, check_site, unknown_caller
from triplewire.broker.http.bodies import json_object
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.errors import UsageError
from triplewire.store import moment_of
from triplewire.store.users import SESSION

LASTS = timedelta(hours=12)
LONGEST = 1000

router = APIRouter(prefix="/v1/session", tags=["users"])


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[Depends(check_site)])
def sign_in(
    request: Request, shared: Shared, body: Annotated[dict[str, Any], Depends(json_object)], response: Response
) -> dict[str, Any]:
    """Sign in with ``name`` and ``password``, or with a ``token``.

    The cookie is good for twelve hours, for requests of our own pages.
    """
    name, scopes, text = _signed_in(shared, body, address_of(request))
    secure = request.url.scheme == "https"
    seconds = int(LASTS.total_seconds())
    response.set_cookie(COOKIE, text, max_age=seconds, httponly=True, samesite="strict", secure=secure)
    return {"name": name, "scopes": sorted(scopes)}


def _signed_in(shared: State, body: dict[str, Any], address: str) -> tuple[str, frozenset[str], str]:
    """Who has signed in, with what they may do and what their cookie is to hold."""
    given = [body.get(member) for member in (("token",) if "token" in body else ("name", "password"))]
    texts = [value for value in given if isinstance(value, str) and len(value) <= LONGEST]
    if len(texts) < len(given):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "'name' and 'password' should be texts, or 'token' alone")
    if "token" in body:
        [token] = texts
        caller = shared.gate.bearer(token, address)
        if caller is None:
            raise unknown_caller("this token is not known, or not any more")
        return caller.name, caller.scopes, token
    name, password = texts
    user = shared.gate.with_password(name, password, address)
    if user is None:
        raise unknown_caller("there is nobody with this name and password")
    ends = moment_of(datetime.now(UTC) + LASTS)
    try:
        session = shared.store.users.issue(user.name, "session", expires=ends, prefix=SESSION)[1]
    except UsageError as error:
        raise ProblemError(HTTPStatus.FORBIDDEN, str(error)) from None
    return user.name, user.scopes, session


@router.get("")
def read_session(caller: Anybody) -> dict[str, Any]:
    """Who is calling, and what they may do."""
    return {"name": caller.name, "scopes": sorted(caller.scopes)}


@router.delete("", status_code=HTTPStatus.NO_CONTENT)
def sign_out(caller: Anybody, request: Request, shared: Shared, response: Response) -> None:
    """Sign out. What a password was given for is good for nothing from now on; a token stays what it was."""
    is_session = request.cookies.get(COOKIE, "").startswith(SESSION) and "authorization" not in request.headers
    if is_session and caller.token is not None:
        shared.store.users.revoke(caller.token)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
