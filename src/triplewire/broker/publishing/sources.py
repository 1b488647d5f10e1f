"""Sources over HTTP: feeds that are read for a user, each new entry of which is published."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from math import ceil
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Publisher
from triplewire.broker.http.bodies import ExactJSONResponse, json_object
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.tags import IfMatch, IfNoneMatch, check_unchanged, tagged
from triplewire.broker.publishing.poller import SHORTEST
from triplewire.broker.state import Shared, State
from triplewire.errors import UsageError
from triplewire.store import Source
from triplewire.store.sources import ACTIVE, PAUSED

router = APIRouter(prefix="/v1/sources", tags=["sources"])

Body = Annotated[dict[str, Any], Depends(json_object)]
Number = Annotated[int, Path(ge=0, lt=1 << 63)]


@router.post("", status_code=HTTPStatus.CREATED)
def add_source(caller: Publisher, shared: Shared, body: Body, response: Response) -> dict[str, Any]:
    """Have an RSS or Atom feed be read: ``{"url": "https://…"}``. Each entry is published once, by its id.

    A feed that is read for the caller already stays as it is; the answer is then 200.
    """
    url = body.get("url")
    if set(body) - {"url", "owner"} or not isinstance(url, str):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "a source has a 'url', a text, and nothing else")
    owner = caller.acts_for(body.get("owner"))
    try:
        shared.addresses.check(url)
        found, new = shared.store.sources.add(owner, url)
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    response.headers["Location"] = f"{router.prefix}/{found.number}"
    if not new:
        response.status_code = HTTPStatus.OK
    return _shown(found)


@router.get("")
def list_sources(caller: Publisher, shared: Shared, page: Paged) -> ExactJSONResponse:
    """The caller's sources, and how it stands with each."""
    rows = shared.store.sources.listed(page.after, page.more, caller.only)
    return page.of(rows, _shown, lambda row: row.number)


@router.get("/{number}")
def read_source(caller: Publisher, shared: Shared, number: Number, if_none_match: IfNoneMatch = None) -> Response:
    """How it stands with a source: when it was read and will be, what came of it, since when it fails and why.

    ``state`` is active, paused, or gone, if the answer was 410. ``pause`` is how many seconds it is left alone between
    two readings, which depends on how often something is new. ``known`` entries are not published again.
    """
    return tagged(_shown(_found(caller, shared, number)), if_none_match)


@router.patch("/{number}")
def change_source(caller: Publisher, shared: Shared, number: Number, body: Body, if_match: IfMatch = None) -> Response:
    """Leave a source alone, or go on with it: ``{"paused": true}``."""
    paused = body.get("paused")
    if set(body) != {"paused"} or not isinstance(paused, bool):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "what can be changed is 'paused', true or false")
    shared.store.sources.pause(_found(caller, shared, number).number, paused, _check(caller, shared, number, if_match))
    return tagged(_shown(_found(caller, shared, number)), None)


@router.post("/{number}/read", status_code=HTTPStatus.ACCEPTED)
def read_now(caller: Publisher, shared: Shared, number: Number) -> dict[str, Any]:
    """Have a source be read at once, also one that was gone. At most once a minute, as its server has others to serve.

    What came of it is told by the source, once ``reads`` is one more.
    """
    source = _found(caller, shared, number)
    if source.state == PAUSED:
        raise ProblemError(HTTPStatus.CONFLICT, "it is paused; let it go on first")
    if source.last_read is not None:
        wait = datetime.fromisoformat(source.last_read) + SHORTEST - datetime.now(UTC)
        if wait > timedelta():
            seconds = ceil(wait.total_seconds())
            detail = f"it was read less than a minute ago; ask again in {seconds} seconds"
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Retry-After": str(seconds)})
    shared.store.sources.hurry(source.number)
    return _shown(_found(caller, shared, number))


@router.delete("/{number}", status_code=HTTPStatus.NO_CONTENT)
def remove_source(caller: Publisher, shared: Shared, number: Number, if_match: IfMatch = None) -> Response:
    """Read a source no more. What was published stays."""
    shared.store.sources.remove(_found(caller, shared, number).number, _check(caller, shared, number, if_match))
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _check(caller: Caller, shared: State, number: int, if_match: str | None) -> Callable[[], None]:
    """What refuses a change of a source that is not as the client saw it."""
    return lambda: check_unchanged(_shown(_found(caller, shared, number)), if_match)


def _found(caller: Caller, shared: State, number: int) -> Source:
    found = shared.store.sources.at(number)
    if found is None or not caller.sees(found.owner):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no source {number}")
    return found


def _shown(source: Source) -> dict[str, Any]:
    failing = {"since": source.failing_since, "reason": source.reason} if source.failing_since else None
    return {
        "id": source.number,
        "url": source.url,
        "owner": source.owner,
        "state": source.state,
        "created": source.created,
        "reads": source.reads,
        "published": source.published,
        "known": len(source.seen),
        "lastRead": source.last_read,
        "lastSuccess": source.last_success,
        "lastChange": source.last_change,
        "failing": failing,
        "next": source.due if source.due and source.state == ACTIVE else None,
        "pause": source.pause,
    }
