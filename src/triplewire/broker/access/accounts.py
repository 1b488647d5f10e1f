"""Users and their tokens over HTTP.

A token can make and revoke only such as may do no more than itself, and for no longer.
"""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Administrator, Anybody
from triplewire.broker.http.bodies import ExactJSONResponse, json_object
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.tags import IfMatch, IfNoneMatch, check_unchanged, tagged
from triplewire.broker.state import Shared, State
from triplewire.errors import UsageError
from triplewire.store import User, moment_of
from triplewire.store.rights import SUBSCRIBE, USUAL

router = APIRouter(tags=["users"])

Body = Annotated[dict[str, Any], Depends(json_object)]
Number = Annotated[int, Path(ge=1, lt=1 << 63)]


@router.get("/v1/users")
def list_users(_: Administrator, shared: Shared, page: Paged) -> ExactJSONResponse:
    """All users, by name."""
    return page.of_all(shared.store.users.listed(), _shown)


@router.post("/v1/users", status_code=HTTPStatus.CREATED)
def add_user(_: Administrator, shared: Shared, body: Body) -> dict[str, Any]:
    """Add a user with a ``name``, who may do what ``scopes`` says; publish and subscribe, if it is left out."""
    name = _text(body, "name")
    if shared.store.users.found(name) is not None:
        raise ProblemError(HTTPStatus.CONFLICT, f"there is a user {name!r} already")
    scopes = _scopes(body)
    try:
        return _shown(shared.store.users.add(name, USUAL if scopes is None else scopes))
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None


@router.get("/v1/users/{name:path}")
def read_user(caller: Anybody, shared: Shared, name: str, if_none_match: IfNoneMatch = None) -> Response:
    """A user: the caller or, for an administrator, anybody."""
    return tagged(_content(caller, shared, name), if_none_match)


def _content(caller: Caller, shared: State, name: str) -> dict[str, Any]:
    """What a GET shows of a user."""
    found = shared.store.users.found(name)
    if found is None or not caller.sees(name):
        raise _no_user(name)
    return _shown(found)


@router.patch("/v1/users/{name:path}")
def change_user(caller: Administrator, shared: Shared, body: Body, name: str, if_match: IfMatch = None) -> Response:
    """Change what a user, and so each of their tokens, may do: ``{"scopes": []}`` shuts them out.

    Who may not subscribe is sent nothing, and for who may not publish no feed is read, until they may again.
    """
    if (scopes := _scopes(body)) is None or set(body) != {"scopes"}:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "'scopes' may be changed, and nothing else")
    _content(caller, shared, name)

    def check() -> None:
        check_unchanged(_content(caller, shared, name), if_match)

    try:
        return tagged(_shown(shared.store.users.change(name, scopes, check)), None)
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None


@router.get("/v1/tokens")
def list_tokens(caller: Anybody, shared: Shared, page: Paged) -> ExactJSONResponse:
    """The caller's tokens or, for an administrator, everybody's; the texts themselves are nowhere kept."""
    return page.of_all(shared.store.users.tokens(caller.only), lambda token: token.as_dict())


@router.post("/v1/tokens", status_code=HTTPStatus.CREATED)
def issue_token(caller: Anybody, shared: Shared, body: Body) -> dict[str, Any]:
    """Make a token. Its text, in ``token``, is told this once.

    ``name`` tells what it is for; ``scopes`` and ``expires`` (a time) limit it. An administrator may make one for
    another ``user``. With ``feed``, a subscription's id, it is good for reading that feed as
    ``/v1/feeds/atom/{id}?token=…``, and for nothing else.
    """
    if "feed" in body:
        return _feed_token(caller, shared, body)
    user = caller.acts_for(body.get("user"))
    scopes = _scopes(body)
    if not caller.is_admin:
        scopes = sorted(caller.scopes) if scopes is None else scopes
        if more := sorted(set(scopes) - caller.scopes):
            raise ProblemError(HTTPStatus.FORBIDDEN, f"your token may not {more[0]}, so it can make none that may")
    try:
        token, text = shared.store.users.issue(user, _name(body), scopes, _expires(body, caller))
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    return token.as_dict() | {"token": text}


def _feed_token(caller: Caller, shared: State, body: dict[str, Any]) -> dict[str, Any]:
    feed = _text(body, "feed")
    if not caller.may(SUBSCRIBE):
        raise ProblemError(HTTPStatus.FORBIDDEN, f"this needs a token with the scope {SUBSCRIBE!r}")
    revision = shared.subscription(feed, caller)
    try:
        token, text = shared.store.users.issue(revision.owner, _name(body), (), _expires(body, caller), feed)
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    return token.as_dict() | {"token": text}


@router.delete("/v1/tokens/{number}")
def revoke_token(caller: Anybody, shared: Shared, number: Number) -> dict[str, Any]:
    """Have a token be good for nothing from now on."""
    token = next((one for one in shared.store.users.tokens(caller.only) if one.number == number), None)
    if token is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no token {number}")
    if not caller.is_admin and token.scopes - caller.scopes:
        raise ProblemError(HTTPStatus.FORBIDDEN, "your token may do less than this one, so it cannot revoke it")
    return shared.store.users.revoke(number).as_dict()


def _shown(user: User) -> dict[str, Any]:
    return {"name": user.name, "scopes": sorted(user.scopes), "created": user.created}


def _scopes(body: dict[str, Any]) -> list[str] | None:
    scopes = body.get("scopes")
    if scopes is not None and not (isinstance(scopes, list) and all(isinstance(one, str) for one in scopes)):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'scopes' should be a list of texts, not {scopes!r}")
    return scopes


def _text(body: dict[str, Any], member: str) -> str:
    found = body.get(member)
    if not isinstance(found, str) or not found.strip():
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'{member}' should be a text, not {found!r}")
    return found


def _name(body: dict[str, Any]) -> str:
    return _text(body, "name") if "name" in body else ""


def _expires(body: dict[str, Any], caller: Caller) -> str | None:
    """When a token is to end: as asked, and not after the one that it is made with."""
    asked = body.get("expires")
    if asked is None:
        return caller.expires
    try:
        time = datetime.fromisoformat(asked)
        if time.tzinfo is None:
            raise ValueError
        moment = moment_of(time)
    except (TypeError, ValueError, OverflowError):
        detail = f"'expires' should be a time such as 2027-01-31T12:00:00Z, not {asked!r}"
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None
    return min(moment, caller.expires or moment)


def _no_user(name: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"there is no user {name!r}")
