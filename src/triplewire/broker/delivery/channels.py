"""Channels: the ways in which parcels are sent. Each can be prepared in any thread, and is then sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from triplewire.broker.delivery.connections import Connections
from triplewire.broker.delivery.parcels import Parcel, is_joined
from triplewire.broker.delivery.retries import Answer, answer_of
from triplewire.broker.delivery.webhooks import digest, digest_id, message, message_id, signed
from triplewire.lift.lifting import Lifting
from triplewire.store import Delivery


class Channel(Protocol):
    """A way of sending."""

    def prepare(self, delivery: Delivery, parcel: Parcel) -> Any:
        """What is to be sent; it may take its time."""

    async def send(self, delivery: Delivery, prepared: Any) -> Answer:
        """What the receiver says to it. An error means that there was no answer."""


@dataclass(frozen=True)
class Webhooks:
    """Standard Webhooks: a signed POST for a notification, or for several that go together."""

    connections: Connections
    lifting: Lifting
    clock: Callable[[], datetime]
    links: str

    def prepare(self, delivery: Delivery, parcel: Parcel) -> tuple[str, bytes]:
        """The message's id, and its body."""
        if is_joined(delivery):
            body = digest(parcel.notifications, delivery.format, self.lifting, self.clock(), self.links)
            return digest_id(parcel.notifications), body
        [found] = parcel.notifications
        return message_id(found), message(found, delivery.format, self.lifting, self.links)

    async def send(self, delivery: Delivery, prepared: tuple[str, bytes]) -> Answer:
        id_, body = prepared
        headers = signed(body, id_, int(self.clock().timestamp()), delivery.secrets)
        kind = {"Content-Type": "application/json"}
        return await post(self.connections, delivery.url, body, {**headers, **kind}, self.clock())


async def post(connections: Connections, url: str, body: bytes, headers: Mapping[str, str], now: datetime) -> Answer:
    """What the answer to a POST means."""
    status, again = await connections.post(url, body, headers)
    return answer_of(status, again, now)
