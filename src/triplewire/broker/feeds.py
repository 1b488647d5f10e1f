"""A subscription's newest notifications as a feed, Atom or JSON Feed, for whoever would rather ask than be called."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote
from xml.etree import ElementTree

from fastapi import APIRouter, Depends, Header, Request, Response

from triplewire.broker.bodies import ExactJSONResponse
from triplewire.broker.gate import Caller
from triplewire.broker.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.broker.users import Reader
from triplewire.broker.webhooks import message_id
from triplewire.broker.words import line
from triplewire.store import Notification

ATOM, JSON_FEED = "application/atom+xml", "application/feed+json"
NAMESPACE = "http://www.w3.org/2005/Atom"
SHOWN = 50
NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot say, not even by an escape."""

router = APIRouter(prefix="/v1/feeds", tags=["feeds"])


@dataclass(frozen=True)
class Known:
    """What a client says that it has: by tags, or by its date."""

    if_none_match: Annotated[str | None, Header()] = None
    if_modified_since: Annotated[str | None, Header()] = None


Asked = Annotated[Known, Depends()]


@router.get("/atom/{subscription_id:path}", response_class=Response, responses={304: {}})
def atom_feed(caller: Reader, request: Request, shared: Shared, subscription_id: str, known: Asked) -> Response:
    """The newest notifications of a subscription as an Atom feed, newest first."""
    found = _found(caller, shared, subscription_id)
    return _answer(found, known, lambda: Response(_atom(found, request), media_type=ATOM))


@router.get("/json/{subscription_id:path}", response_class=Response, responses={304: {}})
def json_feed(caller: Reader, request: Request, shared: Shared, subscription_id: str, known: Asked) -> Response:
    """The newest notifications of a subscription as a JSON Feed, newest first."""
    found = _found(caller, shared, subscription_id)
    return _answer(found, known, lambda: ExactJSONResponse(_json(found, request), media_type=JSON_FEED))


@dataclass(frozen=True)
class _Feed:
    """What a feed shows, when it came to be so, and a tag that changes with it."""

    subscription: str
    entries: Sequence[Notification]
    updated: str
    tag: str


def _found(caller: Caller, shared: State, id_: str) -> _Feed:
    revision = shared.store.subscription(id_)
    if revision is None or not caller.sees(revision.owner):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no subscription {id_!r}")
    entries = shared.store.deliveries.newest(id_, SHOWN)
    if not entries:
        return _Feed(id_, (), revision.created, '"empty"')
    return _Feed(id_, entries, entries[0].created, f'"{entries[0].number}"')


def _answer(feed: _Feed, known: Known, made: Callable[[], Response]) -> Response:
    """The feed, unless the client has it as it is."""
    tags, since = known.if_none_match, known.if_modified_since
    updated = datetime.fromisoformat(feed.updated)
    headers = {"ETag": feed.tag, "Cache-Control": "no-cache"}
    over = datetime.now(UTC) - updated >= timedelta(seconds=1)  # else more may come that has the same date
    if over:
        headers["Last-Modified"] = format_datetime(updated.replace(microsecond=0), usegmt=True)
    if tags is not None:
        same = "*" in tags or feed.tag in (tag.strip().removeprefix("W/") for tag in tags.split(","))
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


def _atom(feed: _Feed, request: Request) -> bytes:
    root = ElementTree.Element("feed", xmlns=NAMESPACE)
    _say(root, "id", f"urn:triplewire:subscription:{quote(feed.subscription, safe='')}")
    _say(root, "title", feed.subscription)
    _say(root, "updated", feed.updated)
    _say(ElementTree.SubElement(root, "author"), "name", "Triplewire")
    ElementTree.SubElement(root, "link", rel="self", type=ATOM, href=str(request.url.remove_query_params("token")))
    for found in feed.entries:
        entry = ElementTree.SubElement(root, "entry")
        _say(entry, "id", f"urn:triplewire:{message_id(found)}")
        _say(entry, "title", found.event)
        _say(entry, "updated", found.created)
        _say(entry, "summary", line(found))
        ElementTree.SubElement(entry, "link", rel="alternate", href=_address(request, found, "explanation"))
        ElementTree.SubElement(entry, "link", rel="related", href=_address(request, found, "event"))
    written: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return written


def _json(feed: _Feed, request: Request) -> dict[str, Any]:
    items = [
        {
            "id": f"urn:triplewire:{message_id(found)}",
            "title": found.event,
            "url": _address(request, found, "explanation"),
            "external_url": _address(request, found, "event"),
            "content_text": line(found),
            "date_published": found.created,
            "_triplewire": {
                "sequence": found.sequence,
                "event": found.event,
                "source": found.source,
                "position": found.position,
                "score": found.score,
                "bindings": found.bindings,
            },
        }
        for found in feed.entries
    ]
    version = "https://jsonfeed.org/version/1.1"
    return {
        "version": version,
        "title": feed.subscription,
        "feed_url": str(request.url.remove_query_params("token")),
        "items": items,
    }


def _say(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = NO_XML.sub("\ufffd", text)


def _address(request: Request, found: Notification, what: str) -> str:
    return f"{request.base_url}v1/notifications/{found.number}/{what}"
