"""A subscription's newest notifications as a feed, Atom or JSON Feed, for whoever would rather ask than be called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Request, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Reader
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.tags import is_among
from triplewire.broker.notifying.notifications import Syntax
from triplewire.broker.notifying.syndication import ATOM, JSON_FEED, TURTLE, Links, Syndicated, atom, json_items
from triplewire.broker.state import Shared, State

SHOWN = 50

router = APIRouter(prefix="/v1/feeds", tags=["feeds"])


@dataclass(frozen=True)
class Known:
    """What a client says that it has: by tags, or by its date."""

    if_none_match: Annotated[str | None, Header()] = None
    if_modified_since: Annotated[str | None, Header()] = None


Asked = Annotated[Known, Depends()]


@router.get("/atom/{subscription_id:path}", response_class=Response, responses={304: {}})
def atom_feed(
    caller: Reader, request: Request, shared: Shared, subscription_id: str, known: Asked, syntax: Syntax
) -> Response:
    """The newest notifications of a subscription as an Atom feed, newest first; events as Turtle, or as ``format``."""
    found, links = _found(caller, shared, subscription_id, syntax), _links(request)
    return _answer(found, known, links, lambda: Response(atom(found, links, shared.lifting), media_type=ATOM))


@router.get("/json/{subscription_id:path}", response_class=Response, responses={304: {}})
def json_feed(
    caller: Reader, request: Request, shared: Shared, subscription_id: str, known: Asked, syntax: Syntax
) -> Response:
    """The newest notifications of a subscription as a JSON Feed, newest first; events as Turtle, or as ``format``."""
    found, links = _found(caller, shared, subscription_id, syntax), _links(request)
    written = lambda: ExactJSONResponse(json_items(found, links, shared.lifting), media_type=JSON_FEED)  # noqa: E731
    return _answer(found, known, links, written)


def _links(request: Request) -> Links:
    """Where the feed is, and the hub. A token in the feed's address is told in the hub's: it is good for both."""
    token = request.query_params.get("token")
    hub = f"{request.base_url}v1/hub" + (f"?token={quote(token)}" if token else "")
    return Links(str(request.base_url), str(request.url.remove_query_params("token")), hub)


def _found(caller: Caller, shared: State, id_: str, syntax: str | None) -> Syndicated:
    revision = shared.subscription(id_, caller)
    entries = shared.store.deliveries.newest(id_, SHOWN)
    updated, number = (entries[0].created, str(entries[0].number)) if entries else (revision.created, "empty")
    tag = f'"{number}"' if syntax is None else f'"{number}:{syntax}"'
    return Syndicated(id_, entries, updated, tag, syntax or TURTLE)


def _answer(feed: Syndicated, known: Known, links: Links, made: Callable[[], Response]) -> Response:
    """The feed, unless the client has it as it is."""
    tags, since = known.if_none_match, known.if_modified_since
    updated = datetime.fromisoformat(feed.updated)
    headers = {"ETag": feed.tag, "Cache-Control": "no-cache", "Link": links.header()}
    over = datetime.now(UTC) - updated >= timedelta(seconds=1)  # else more may come that has the same date
    if over:
        headers["Last-Modified"] = format_datetime(updated.replace(microsecond=0), usegmt=True)
    if tags is not None:
        same = is_among(feed.tag, tags, weak=True)
    else:
        same = over and since is not None and _is_since(updated, since)
    response = Response(status_code=HTTPStatus.NOT_MODIFIED) if same else made()
    response.headers.update(headers)
    return response


def _is_since(updated: datetime, since: str) -> bool:
    """Whether nothing is newer than a date; no, if it is none."""
    try:
        return updated.replace(microsecond=0) <= parsedate_to_datetime(since).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return False
