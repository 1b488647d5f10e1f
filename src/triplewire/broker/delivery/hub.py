"""A WebSub hub over the feeds: whoever follows one is sent what is new in it.

https://www.w3.org/TR/websub/. Whoever asks is asked back at the address that is to be called, so that nobody has us
call strangers. Who may follow a feed is who may read it: by a token in the hub's address, as the feed tells it, or by a
user's own.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from secrets import token_urlsafe
from typing import Annotated
from urllib.parse import parse_qs, quote, unquote

import httpx
from fastapi import APIRouter, Depends, Request, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Credentials, reader
from triplewire.broker.delivery.channels import post
from triplewire.broker.delivery.connections import Connections
from triplewire.broker.delivery.parcels import Parcel
from triplewire.broker.delivery.retries import Answer
from triplewire.broker.http.bodies import media_type, read_body, text_of, unsupported
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.notifying.syndication import ATOM, JSON_FEED, TURTLE, Links, Syndicated, atom, json_items
from triplewire.broker.state import Shared, State
from triplewire.errors import UsageError
from triplewire.lift.documents import write_json
from triplewire.lift.lifting import Lifting
from triplewire.rdf.syntax import FORMATS
from triplewire.store import Callback, Delivery, moment_of

FORM = "application/x-www-form-urlencoded"
FEEDS = "v1/feeds/"
KINDS = {"atom": ATOM, "json": JSON_FEED}
SHORTEST, USUAL, LONGEST = timedelta(minutes=5), timedelta(days=10), timedelta(days=30)
MOST_READ, TIMEOUT = 4096, httpx.Timeout(15, connect=5)
LONGEST_SECRET = 199
MOST_VERIFYING, MOST_OF_ONE = 100, 10
"""So many callbacks are asked at once, and so many to whom one user's notifications are to go."""

router = APIRouter(tags=["feeds"])
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wish:
    """What is asked of the hub."""

    mode: str
    topic: str
    subscription: str
    callback: str
    secret: str
    lease: timedelta


async def _wish(request: Request, shared: Shared) -> Wish:
    """What the form says, if it makes sense."""
    if (kind := media_type(request)) != FORM:
        raise unsupported(kind, (FORM,))
    form = {name: values[-1] for name, values in parse_qs(text_of(await read_body(request, 64 * 1024))).items()}
    mode, topic, callback = (form.get(f"hub.{name}", "") for name in ("mode", "topic", "callback"))
    if mode not in ("subscribe", "unsubscribe"):
        raise _bad(f"'hub.mode' should be subscribe or unsubscribe, not {mode!r}")
    path = topic.partition("?")[0].removeprefix(f"{request.base_url}{FEEDS}")
    kind, _, subscription = path.partition("/")
    if kind not in KINDS or not subscription or not _is_address(topic):
        raise _bad(f"'hub.topic' should be the address of one of our feeds, {request.base_url}{FEEDS}…")
    if _format(topic) not in FORMATS:
        raise _bad(f"'format' in 'hub.topic' should be one of {', '.join(FORMATS)}")
    try:
        shared.addresses.check(callback)
    except UsageError as error:
        raise _bad(f"'hub.callback': {error}") from None
    secret, lease = form.get("hub.secret", ""), form.get("hub.lease_seconds", "")
    if len(secret.encode()) > LONGEST_SECRET:
        raise _bad(f"'hub.secret' should have less than {LONGEST_SECRET + 1} bytes")
    return Wish(mode, topic, unquote(subscription), callback, secret, _lease(lease))


def _is_address(text: str) -> bool:
    try:
        return bool(httpx.URL(text).host)
    except (httpx.InvalidURL, UnicodeError):
        return False


def _lease(asked: str) -> timedelta:
    seconds = timedelta(seconds=int(asked[:9])) if asked.isascii() and asked.isdigit() else USUAL
    return max(SHORTEST, min(seconds, LONGEST))


@router.post("/v1/hub", status_code=HTTPStatus.ACCEPTED)
async def follow(
    request: Request,
    shared: Shared,
    given: Credentials,
    wish: Annotated[Wish, Depends(_wish)],
    token: str | None = None,
) -> Response:
    """Follow a feed, or no longer: WebSub's ``hub.mode``, ``hub.topic``, ``hub.callback``, and what goes with them.

    The answer says that it was understood. Whether it is meant is asked at the callback.
    """
    token = token or httpx.URL(wish.topic).params.get("token")
    caller = await reader(request, shared, given, wish.subscription, token)
    revision = await asyncio.to_thread(shared.subscription, wish.subscription, caller)
    if wish.mode == "subscribe":
        known = await asyncio.to_thread(shared.store.deliveries.is_followed, wish.subscription, wish.callback)
        await asyncio.to_thread(shared.allowance.check_subscriptions, caller, 0, webhooks=int(not known))
    asked = list(shared.verifying.values())
    if len(asked) >= MOST_VERIFYING or asked.count(revision.owner) >= MOST_OF_ONE:
        detail = "many callbacks are being asked whether they are meant"
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Retry-After": "30"})
    task = asyncio.create_task(_verify(wish, shared, caller, revision.owner))
    shared.verifying[task] = revision.owner
    task.add_done_callback(shared.verifying.pop)
    return Response(status_code=HTTPStatus.ACCEPTED)


async def _verify(wish: Wish, shared: State, caller: Caller, owner: str) -> None:
    """Ask at the callback whether it is meant; if it is, do it."""
    try:
        if not await _is_meant(wish, shared):
            return
        if wish.mode == "unsubscribe":
            await asyncio.to_thread(shared.store.deliveries.unfollow, wish.subscription, wish.callback)
            return
        if not await asyncio.to_thread(shared.gate.still_knows, caller):
            return
        until = moment_of(datetime.now(UTC) + wish.lease)
        format_, until = _format(wish.topic), min(until, caller.expires or until)
        topic = wish.topic.partition("?")[0] + (f"?format={quote(format_, safe='')}" if format_ != TURTLE else "")
        callback = Callback(wish.callback, wish.secret, topic, until, caller.token)
        await asyncio.to_thread(shared.store.deliveries.follow, wish.subscription, callback, owner)
    except Exception as error:  # whoever asked will ask again
        log.info("a callback could not be verified: %s", type(error).__name__)


async def _is_meant(wish: Wish, shared: State) -> bool:
    challenge = token_urlsafe(24)
    asked = {"hub.mode": wish.mode, "hub.topic": wish.topic, "hub.challenge": challenge}
    if wish.mode == "subscribe":
        asked["hub.lease_seconds"] = str(int(wish.lease.total_seconds()))
    url = httpx.URL(wish.callback)
    body = b""
    async with asyncio.timeout(30), shared.addresses.client(timeout=TIMEOUT) as client:
        plain = {"Accept-Encoding": "identity"}
        async with client.stream("GET", url.copy_merge_params(asked), headers=plain) as answer:
            async for chunk in answer.aiter_raw():
                body += chunk
                if len(body) > MOST_READ:
                    return False
        return answer.is_success and hmac.compare_digest(body.strip(), challenge.encode())


@dataclass(frozen=True)
class WebSub:
    """The channel: the new entries as a feed, signed if there is a secret."""

    connections: Connections
    lifting: Lifting

    def prepare(self, delivery: Delivery, parcel: Parcel) -> bytes:
        entries = parcel.notifications[::-1]
        feed = Syndicated(delivery.subscription, entries, entries[0].created, format=_format(delivery.format))
        links, kind = _followed(delivery.format)
        if kind == ATOM:
            return atom(feed, links, self.lifting)
        return write_json(json_items(feed, links, self.lifting)).encode()

    async def send(self, delivery: Delivery, prepared: bytes) -> Answer:
        links, kind = _followed(delivery.format)
        headers = {"Content-Type": kind, "Link": links.header()}
        if secret := delivery.secrets[0]:
            headers["X-Hub-Signature"] = f"sha256={hmac.new(secret.encode(), prepared, 'sha256').hexdigest()}"
        return await post(self.connections, delivery.url, prepared, headers, datetime.now(UTC))


def _followed(topic: str) -> tuple[Links, str]:
    """Where things are, by the address of a feed of ours; and what kind it is."""
    base, _, path = topic.partition(FEEDS)
    return Links(base, topic, f"{base}v1/hub"), KINDS[path.partition("/")[0]]


def _format(topic: str) -> str:
    """The RDF syntax that a feed's address asks for."""
    return str(httpx.URL(topic).params.get("format", TURTLE))


def _bad(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.BAD_REQUEST, detail)
