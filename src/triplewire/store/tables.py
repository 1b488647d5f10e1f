"""The tables. A log position is an event's place in the log; everything else is dated by it.

Whoever changes a table adds a revision to ``migrations/versions``, which makes the same change where there are data.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy import Text as AnyText

metadata = MetaData()

Number = BigInteger().with_variant(Integer(), "sqlite")
"""Sixty-four bits. SQLite has one kind of integer, and counts rows by that name only."""


class AnySign(TypeDecorator[str]):
    """Texts of any signs in PostgreSQL, which has none with the number 0: it stands there as a mark and a ``0``."""

    impl = AnyText
    cache_ok = True
    mark = "\U0010ffff"

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or ("\x00" not in value and self.mark not in value):
            return value
        return value.replace(self.mark, f"{self.mark}1").replace("\x00", f"{self.mark}0")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or self.mark not in value:
            return value
        return value.replace(f"{self.mark}0", "\x00").replace(f"{self.mark}1", self.mark)


Text = AnyText().with_variant(AnySign(collation="C"), "postgresql")
"""Compared by code points, as SQLite does and Python, whatever the language of the database."""

events = Table(
    "events",
    metadata,
    Column("position", Number, primary_key=True),
    Column("source", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("received", Text, nullable=False),
    Column("publisher", Text, nullable=False, server_default="local"),
    UniqueConstraint("source", "id"),
    sqlite_autoincrement=True,
)

# A subscription's life is a series of revisions, each valid for the events with since < position < until, and of
# these for the ones that are received by the moment "expires".
revisions = Table(
    "revisions",
    metadata,
    Column("change", Number, primary_key=True),
    Column("id", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("since", Number, nullable=False),
    Column("until", Number, nullable=True),
    Column("created", Text, nullable=False),
    Column("expires", Text, nullable=True),
    Index("revisions_by_expires", "expires"),
    Index("revisions_by_id", "id"),
    Index("revisions_by_owner", "owner"),
    Index("revisions_by_since", "since"),
    Index("revisions_by_until", "until"),
    sqlite_autoincrement=True,
)

# An ontology version is valid for the events with since < position, until the next version.
ontologies = Table(
    "ontologies",
    metadata,
    Column("version", Number, primary_key=True),
    Column("since", Number, nullable=False),
    Column("documents", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created", Text, nullable=False),
    sqlite_autoincrement=True,
)

# The texts of the ontologies' documents, each once, however many versions have it.
documents = Table(
    "documents",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("text", Text, nullable=False),
)

# The statements that are learnt now, each with the version in which it came to be known.
learnt = Table(
    "learnt",
    metadata,
    Column("number", Number, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("line", Text, nullable=False),
    Column("version", Number, nullable=False),
    sqlite_autoincrement=True,
)

# A concept that somebody spoke of and no ontology version knew. What was decided is empty while it is open.
proposals = Table(
    "proposals",
    metadata,
    Column("number", Number, primary_key=True),
    Column("concept", Text, nullable=False),
    Column("word", Text, nullable=False),
    Column("relation", Text, nullable=False),
    Column("parent", Text, nullable=False),
    Column("proposer", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("author", Text, nullable=False, default=""),
    Column("reason", Text, nullable=False, default=""),
    Column("version", Number, nullable=True),
    UniqueConstraint("concept", "parent", "proposer"),
    Index("proposals_by_proposer", "proposer"),
    sqlite_autoincrement=True,
)

# What is at a position may hold several events, the entries of a feed or a table; "event" is the id of the one matched.
# It is its "owner"'s who had the subscription when the event came, whoever has the id now.
# "sequence" counts the notifications of an owner's subscription without gaps, in the order of their numbers.
notifications = Table(
    "notifications",
    metadata,
    Column("number", Number, primary_key=True),
    Column("position", Number, nullable=False),
    Column("event", Text, nullable=False),
    Column("subscription", Text, nullable=False),
    Column("owner", Text, nullable=False, server_default=""),
    Column("sequence", Number, nullable=False),
    Column("score", Float, nullable=False),
    Column("bindings", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("created", Text, nullable=False),
    UniqueConstraint("position", "event", "subscription"),
    Index("notifications_by_subscription", "subscription", "number"),
    Index("notifications_by_owner", "owner", "number"),
    sqlite_autoincrement=True,
)

# How far somebody has read: the notifications up to the number "upto" are read, and those after it are not; but for the
# exceptions, with which it is the other way round.
readers = Table(
    "readers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("upto", Number, nullable=False),
)

exceptions = Table(
    "exceptions",
    metadata,
    Column("reader", Text, primary_key=True),
    Column("number", Number, primary_key=True),
)

# On how many events a subscription was given up, as it was not found out in time whether they match, and the last of
# them. It is its "owner"'s, as a notification is.
lapses = Table(
    "lapses",
    metadata,
    Column("subscription", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("count", Number, nullable=False),
    Column("position", Number, nullable=False),
    Column("event", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created", Text, nullable=False),
)

# A person as they stood for the events with since < position < until.
people = Table(
    "people",
    metadata,
    Column("change", Number, primary_key=True),
    Column("id", Text, nullable=False),
    Column("knows", Text, nullable=False),
    Column("shares", Boolean, nullable=False),
    Column("declines", Boolean, nullable=False),
    Column("since", Number, nullable=False),
    Column("until", Number, nullable=True),
    Column("created", Text, nullable=False),
    Index("people_by_id", "id"),
    sqlite_autoincrement=True,
)

# An event that a person is offered, for one of their subscriptions that it comes near to.
suggestions = Table(
    "suggestions",
    metadata,
    Column("number", Number, primary_key=True),
    Column("position", Number, nullable=False),
    Column("event", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("subscription", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("created", Text, nullable=False),
    UniqueConstraint("position", "event", "person"),
    Index("suggestions_by_person", "person", "number"),
    sqlite_autoincrement=True,
)

# Where the notifications of a subscription are to be delivered. All up to the number "last" are there, or left out.
# Only those of events after the position "since" are the subscriber's. Not to be tried before "due", and not at all
# after "until". "tried_since" is when the one that is next was tried first, "failing_since" when the last one that
# failed was after a success. How they are sent (priority and what follows it) is said by the subscription's record.
# One that somebody else set up ends with their "token".
deliveries = Table(
    "deliveries",
    metadata,
    Column("number", Number, primary_key=True),
    Column("subscription", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("old_secret", Text, nullable=True),
    Column("old_until", Text, nullable=True),
    Column("state", Text, nullable=False),
    Column("since", Number, nullable=False),
    Column("last", Number, nullable=False),
    Column("due", Text, nullable=False),
    Column("until", Text, nullable=True),
    Column("attempts", Number, nullable=False, default=0),
    Column("delivered", Number, nullable=False, default=0),
    Column("undelivered", Number, nullable=False, default=0),
    Column("suppressed", Number, nullable=False, default=0),
    Column("sent", Number, nullable=False, default=0),
    Column("tried_since", Text, nullable=True),
    Column("failing_since", Text, nullable=True),
    Column("reason", Text, nullable=False, default=""),
    Column("last_success", Text, nullable=True),
    Column("priority", Number, nullable=False, default=0),
    Column("throttling", Number, nullable=False, default=0),
    Column("digest", Number, nullable=False, default=0),
    Column("duplicates", Number, nullable=False, default=0),
    Column("token", Number, nullable=True),
    UniqueConstraint("subscription", "channel", "url", name="deliveries_by_place"),
    sqlite_autoincrement=True,
)

# Notifications that a delivery has left out: given up after hours of refusal ("undelivered"), or of the same content
# as one that was told shortly before ("suppressed").
omissions = Table(
    "omissions",
    metadata,
    Column("delivery", Number, primary_key=True),
    Column("notification", Number, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created", Text, nullable=False),
)

# What was told of late by deliveries that suppress duplicates: a hash of the content, of which notification, and when
# its event was received.
contents = Table(
    "contents",
    metadata,
    Column("delivery", Number, primary_key=True),
    Column("content", Text, primary_key=True),
    Column("notification", Number, nullable=False),
    Column("received", Text, nullable=False),
)

# Addresses that users want mail to be sent to. Nothing is, but the question whether it may be, until that is confirmed.
mailboxes = Table(
    "mailboxes",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("address", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("asked", Text, nullable=False),
    Column("confirmed", Text, nullable=True),
)

# Feeds that are read, and what is known of each: what was in it last ("seen"), and how it was tagged; when it is to be
# read next ("due"), and how long after that ("pause", in seconds) if nothing is new.
sources = Table(
    "sources",
    metadata,
    Column("number", Number, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("due", Text, nullable=False),
    Column("pause", Number, nullable=False),
    Column("tag", Text, nullable=False),
    Column("modified", Text, nullable=False),
    Column("seen", Text, nullable=False),
    Column("reads", Number, nullable=False),
    Column("published", Number, nullable=False),
    Column("failing_since", Text, nullable=True),
    Column("reason", Text, nullable=False),
    Column("last_success", Text, nullable=True),
    Column("last_change", Text, nullable=True),
    Column("last_read", Text, nullable=True),
    UniqueConstraint("owner", "url", name="sources_by_place"),
    sqlite_autoincrement=True,
)

# Events that could not be matched. One that is dealt with is "settled" at a moment: "republished", mended, at another
# position, or else dismissed.
dead_letters = Table(
    "dead_letters",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("reason", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("publisher", Text, nullable=False, server_default="local"),
    Column("settled", Text, nullable=True),
    Column("republished", Number, nullable=True),
    Index("dead_letters_by_publisher", "publisher", "position"),
)

# What is known of users and their tokens. Of tokens and passwords only hashes are kept.
# A token for a "feed" is good for reading the feed of that subscription, and for nothing else.
users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("scopes", Text, nullable=False),
    Column("password", Text, nullable=True),
    Column("created", Text, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("number", Number, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("user", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("used", Text, nullable=True),
    Column("expires", Text, nullable=True),
    Column("revoked", Text, nullable=True),
    Column("feed", Text, nullable=True),
    Index("tokens_by_user", "user"),
    sqlite_autoincrement=True,
)

# What was answered to requests that have a key.
answers = Table(
    "answers",
    metadata,
    Column("caller", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request", Text, nullable=False),
    Column("status", Number, nullable=False),
    Column("headers", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created", Text, nullable=False),
    Index("answers_by_time", "created"),
)

# Who changed what. "id" names it among those of its kind.
audit = Table(
    "audit",
    metadata,
    Column("number", Number, primary_key=True),
    Column("created", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("what", Text, nullable=False),
    Index("audit_by_kind", "kind", "number"),
    Index("audit_by_who", "who", "number"),
    sqlite_autoincrement=True,
)

# One row of its kind each, such as how far the pipeline has got.
marks = Table(
    "marks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Number, nullable=False),
)
