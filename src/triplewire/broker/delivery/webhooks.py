"""Webhooks: what they are told, and the signatures of it, as Standard Webhooks has them."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from triplewire.broker.delivery.addresses import Addresses
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.notifying.notifications import told
from triplewire.errors import UsageError
from triplewire.lift.documents import write_json
from triplewire.lift.lifting import Lifting
from triplewire.rdf.syntax import FORMATS
from triplewire.store import Delivery, Notification, Webhook, moment_of

CHANNEL = "webhook"
KIND, DIGEST = "triplewire.notification", "triplewire.digest"
PREFIX = "whsec_"
SECRET_BYTES = range(24, 65)
MEMBERS = ("channel", "url", "secret", "format")


def webhook(asked: dict[str, Any], known: Delivery | None, addresses: Addresses) -> Webhook:
    """The webhook that the member ``delivery`` of a subscription asks for; what it leaves out stays as it is known."""
    if unknown := sorted(set(asked) - set(MEMBERS)):
        raise _bad(f"'delivery' has no member {unknown[0]!r}; there are {', '.join(MEMBERS)}")
    before = {} if known is None else {"url": known.url, "secret": known.secrets[0], "format": known.format}
    members = {"format": "text/turtle"} | before | {name: asked[name] for name in MEMBERS[1:] if name in asked}
    url, secret, format_ = (members.get(name) for name in MEMBERS[1:])
    if not isinstance(url, str):
        raise _bad("'delivery' needs a 'url', a text")
    if not isinstance(secret, str) or not _is_secret(secret):
        raise _bad(f"'delivery' needs a 'secret': {PREFIX} and between 24 and 64 random bytes in base64")
    if format_ not in FORMATS:
        raise _bad(f"'format' should be one of {', '.join(FORMATS)}")
    try:
        addresses.check(url)
    except UsageError as error:
        raise _bad(f"'url': {error}") from None
    return Webhook(url, secret, format_)


def message(found: Notification, format_: str, lifting: Lifting, links: str = "") -> bytes:
    """What a receiver is told of one notification; its links lead to where we are reached."""
    whole = {"type": KIND, "timestamp": found.created, "data": told(found, format_, lifting, links)}
    return write_json(whole).encode()


def digest(several: Sequence[Notification], format_: str, lifting: Lifting, now: datetime, links: str = "") -> bytes:
    """What a receiver is told of several at once."""
    each = [told(one, format_, lifting, links) for one in several]
    whole = {"subscription": several[0].subscription, "notifications": each}
    return write_json({"type": DIGEST, "timestamp": moment_of(now), "data": whole}).encode()


def message_id(found: Notification) -> str:
    """The same for the same event and subscription, however often it is sent, and by whichever broker."""
    return f"msg_{sha256(write_json([found.source, found.event, found.subscription]).encode()).hexdigest()[:32]}"


def digest_id(several: Sequence[Notification]) -> str:
    """The same for the same notifications together."""
    return f"msg_{sha256(' '.join(map(message_id, several)).encode()).hexdigest()[:32]}"


def signed(body: bytes, id_: str, seconds: int, secrets: Iterable[str]) -> Mapping[str, str]:
    """The headers by which a receiver knows that a body is from us: a signature for each secret."""
    content = f"{id_}.{seconds}.".encode() + body
    signatures = (hmac.digest(_key(secret), content, "sha256") for secret in secrets)
    return {
        "webhook-id": id_,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{b64encode(one).decode()}" for one in signatures),
    }


def _is_secret(secret: str) -> bool:
    try:
        return secret.startswith(PREFIX) and len(_key(secret)) in SECRET_BYTES
    except ValueError:
        return False


def _key(secret: str) -> bytes:
    text = secret.removeprefix(PREFIX)
    return b64decode(text + "=" * (-len(text) % 4), validate=True)


def _bad(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def shown_webhook(delivery: Delivery) -> dict[str, Any]:
    """What a webhook was set up as, without its secret, which is told to nobody."""
    return {"channel": CHANNEL, "url": delivery.url, "format": delivery.format}
