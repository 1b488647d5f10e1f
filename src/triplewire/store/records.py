"""What the store keeps, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

from triplewire.concepts.proposed import Proposal
from triplewire.lift.documents import read_json
from triplewire.store.terms import Terms

LOCAL = "local"
"""Whoever is not told apart from others."""


@dataclass(frozen=True)
class StoredEvent:
    """A line of the event log: the CloudEvent as JSON, at its position, and when it was accepted."""

    position: int
    source: str
    id: str
    body: str
    received: str = ""


@dataclass(frozen=True)
class Revision:
    """A subscription's record as it stood for the events with ``since < position`` and, once ended, ``< until``."""

    change: int
    id: str
    record: dict[str, Any]
    since: int
    until: int | None
    created: str
    owner: str

    def covers(self, position: int) -> bool:
        return self.since < position and (self.until is None or position < self.until)


@dataclass(frozen=True)
class Ontology:
    """A version of the ontology, valid for the events with ``since < position`` until the next version.

    ``documents`` are its files: ``{"name": …, "media_type": …, "text": …}``. ``author`` made it, for a ``reason``.
    """

    version: int
    since: int
    documents: list[dict[str, str]]
    author: str
    reason: str
    created: str


@dataclass(frozen=True)
class StoredProposal:
    """A proposal with who made it, where (``origin`` is a subscription or an event), and what came of it.

    ``state`` is open, accepted, merged or rejected. ``author`` decided so, for a ``reason``; an ontology ``version``
    says so unless it was rejected.
    """

    number: int
    proposal: Proposal
    proposer: str
    origin: str
    created: str
    state: str
    author: str
    reason: str
    version: int | None


class Outcome(NamedTuple):
    """A match that the pipeline found: an event, by its position and id, a subscription, and how they match.

    ``version`` names the index version that it was found with.
    """

    position: int
    event: str
    subscription: str
    score: float
    bindings: str
    version: str = ""


@dataclass(frozen=True)
class StoredLapse:
    """A subscription was given up on an event, for a reason."""

    position: int
    event: str
    subscription: str
    reason: str
    created: str = ""


@dataclass(frozen=True)
class Offer:
    """A suggestion that the pipeline makes: what is at a position is near to a subscription of a person."""

    position: int
    event: str
    person: str
    subscription: str
    score: float


@dataclass(frozen=True)
class StoredSuggestion:
    """An offer as it is told to the person, numbered in the order in which they were written."""

    number: int
    position: int
    event: str
    source: str
    body: str
    person: str
    subscription: str
    score: float
    created: str


@dataclass(frozen=True)
class Notification:
    """An outcome as it is told to the subscriber, numbered in the order in which they were written.

    ``sequence`` is its number among those of the subscription, without gaps. It is the ``owner``'s who had the
    subscription when the event came.
    """

    number: int
    position: int
    event: str
    source: str
    body: str
    subscription: str
    sequence: int
    score: float
    bindings: list[dict[str, str]]
    created: str
    version: str = ""
    owner: str = ""
    received: str = ""

    def as_dict(self) -> dict[str, Any]:
        """What the subscriber reads, with the event as it was published."""
        return self.as_head() | {"cloudevent": read_json(self.body) if self.body else None}

    def as_head(self) -> dict[str, Any]:
        """The same without the event itself."""
        return {
            "id": self.number,
            "event": self.event,
            "source": self.source,
            "position": self.position,
            "subscription": self.subscription,
            "sequence": self.sequence,
            "score": self.score,
            "bindings": self.bindings,
            "created": self.created,
        }


OPEN, DISMISSED, REPUBLISHED = "open", "dismissed", "republished"


@dataclass(frozen=True)
class Latest:
    """The newest notification of a subscription: its number, how many there are with it, and when it was made."""

    number: int
    count: int
    created: str


@dataclass(frozen=True)
class DeadLetter:
    """An event that was accepted into the log and could not be matched, with the reason.

    One that is dealt with is ``settled``: another event at the position ``republished`` took its place, or none did.
    """

    position: int
    reason: str
    source: str = ""
    id: str = ""
    body: str = ""
    created: str = ""
    publisher: str = ""
    settled: str | None = None
    republished: int | None = None

    @property
    def state(self) -> str:
        if self.settled is None:
            return OPEN
        return DISMISSED if self.republished is None else REPUBLISHED


@dataclass(frozen=True)
class Webhook:
    """Where a subscription's notifications are to be sent, signed with a secret, the event in an RDF ``format``."""

    channel: ClassVar[str] = "webhook"
    url: str
    secret: str = field(repr=False)
    format: str = "text/turtle"


@dataclass(frozen=True)
class Mailbox:
    """A mailbox that a subscription's notifications are to be sent to; by the secret its reader may stop them."""

    channel: ClassVar[str] = "email"
    url: str
    secret: str = field(repr=False)
    format: str = "text/turtle"


@dataclass(frozen=True)
class Callback:
    """An address that follows a feed, the ``topic``, until a moment; what it is sent is signed if there is a secret.

    It ends with the ``token`` that it was asked for with.
    """

    channel: ClassVar[str] = "websub"
    url: str
    secret: str = field(repr=False)
    topic: str
    until: str
    token: int | None = None


class Standing(IntEnum):
    """What is known of a receiver. The lowest are served first, so that the living never wait for the dead."""

    PROVEN = 0
    NEW = 1
    FAILING = 2


@dataclass(frozen=True)
class Delivery:
    """How far the notifications of a subscription have got to a place: those up to the number ``last`` are there.

    ``state`` is active, paused, unconfirmed (a mailbox whose reader has not agreed yet), stopped (given up after long
    failure) or ended (by the receiver). Of the next
    notification, so many ``attempts`` have failed, the first of them at ``tried_since``. ``undelivered`` were given up,
    and ``suppressed`` had the content of one before. ``secrets`` are those to sign with, the newest first.
    """

    number: int
    subscription: str
    channel: str
    url: str
    format: str
    state: str
    last: int
    attempts: int
    delivered: int
    undelivered: int
    suppressed: int
    sent: int
    tried_since: str | None
    failing_since: str | None
    reason: str
    last_success: str | None
    due: str
    until: str | None
    terms: Terms
    secrets: tuple[str, ...] = field(repr=False)

    @property
    def standing(self) -> Standing:
        if self.failing_since is not None:
            return Standing.FAILING
        return Standing.NEW if self.last_success is None else Standing.PROVEN


@dataclass(frozen=True)
class Due:
    """A delivery that has something to send, of somebody's subscription."""

    delivery: int
    subscription: str
    owner: str
    url: str
    standing: Standing


@dataclass(frozen=True)
class Portion:
    """The next so many notifications of a delivery; of those that arose ``before`` a moment, if one is given."""

    delivery: Delivery
    limit: int
    before: str | None = None


@dataclass(frozen=True)
class Omission:
    """A notification that a delivery leaves out: ``kind`` is undelivered or suppressed."""

    notification: int
    kind: str
    reason: str
    created: str = ""


@dataclass(frozen=True)
class Content:
    """What a notification tells, as a hash of its event's graph, and when the event was received."""

    hash: str
    notification: int
    received: str


@dataclass(frozen=True)
class Attempt:
    """What came of sending notifications up to a number at a moment, and when the next may be sent.

    Without a ``reason``, ``count`` of them were received, none if there was nothing to send. With a reason they are
    to be sent again, unless they are ``omitted``. ``state`` is what the delivery is in from now on. ``told`` is what is
    not to be told again for a while.
    """

    delivery: Delivery
    number: int
    moment: str
    due: str
    reason: str = ""
    state: str = "active"
    count: int = 1
    omitted: Sequence[Omission] = ()
    told: Sequence[Content] = ()


@dataclass(frozen=True)
class Endpoint:
    """All deliveries to one address together."""

    url: str
    subscriptions: int
    failing: int
    delivered: int
    undelivered: int
    sent: int
    pending: int
    failing_since: str | None
    reason: str
    last_success: str | None


@dataclass(frozen=True)
class User:
    """Somebody with a name, and what they may do."""

    name: str
    scopes: frozenset[str]
    created: str = ""


@dataclass(frozen=True)
class Bearer:
    """Whose a token is, what it is good for, and until when."""

    name: str
    scopes: frozenset[str]
    expires: str | None
    token: int


@dataclass(frozen=True)
class Token:
    """What is known of a token: whose it is, what for, when it was made, used last (to the hour), and ends.

    One for the ``feed`` of a subscription is good for reading that, and for nothing else.
    """

    number: int
    user: str
    name: str
    scopes: frozenset[str]
    created: str
    used: str | None
    expires: str | None
    revoked: str | None
    feed: str | None = None

    def as_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {"id": self.number, "user": self.user, "name": self.name, "scopes": sorted(self.scopes)}
        told |= {"created": self.created, "used": self.used, "expires": self.expires, "revoked": self.revoked}
        return told if self.feed is None else told | {"feed": self.feed}


@dataclass(frozen=True)
class Change:
    """Somebody changed something: ``what`` was done to the one of a ``kind`` that ``id`` names."""

    number: int
    created: str
    who: str
    kind: str
    id: str
    what: str


@dataclass(frozen=True)
class Source:
    """A feed that is read for a user. ``seen`` are the hashes of the entries that are known, by their ids.

    It is read when it is ``due``; ``pause``, in seconds, is how long it was left alone before.
    """

    number: int
    owner: str
    url: str
    state: str
    created: str
    due: str
    pause: int
    tag: str
    modified: str
    seen: tuple[str, ...]
    reads: int
    published: int
    failing_since: str | None
    reason: str
    last_success: str | None
    last_change: str | None
    last_read: str | None = None


@dataclass(frozen=True)
class Reading:
    """What came of reading a source: with a ``reason`` nothing; else so many entries were new, ``seen`` are known."""

    moment: str
    due: str
    pause: int
    reason: str = ""
    state: str = "active"
    tag: str = ""
    modified: str = ""
    seen: Sequence[str] = ()
    published: int = 0
