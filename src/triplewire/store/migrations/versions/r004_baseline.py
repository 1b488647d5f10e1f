"""The tables as they were when migrations began. Stores that were made before have them already."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, Float, UniqueConstraint

from triplewire.store.tables import Number, Text

revision = "004"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "events",
        Column("position", Number, primary_key=True),
        Column("source", Text, nullable=False),
        Column("id", Text, nullable=False),
        Column("body", Text, nullable=False),
        Column("received", Text, nullable=False),
        UniqueConstraint("source", "id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "revisions",
        Column("change", Number, primary_key=True),
        Column("id", Text, nullable=False),
        Column("owner", Text, nullable=False),
        Column("record", Text, nullable=False),
        Column("since", Number, nullable=False),
        Column("until", Number, nullable=True),
        Column("created", Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("revisions_by_id", "revisions", ["id"])
    op.create_index("revisions_by_owner", "revisions", ["owner"])
    op.create_index("revisions_by_since", "revisions", ["since"])
    op.create_index("revisions_by_until", "revisions", ["until"])
    op.create_table(
        "ontologies",
        Column("version", Number, primary_key=True),
        Column("since", Number, nullable=False),
        Column("documents", Text, nullable=False),
        Column("author", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("created", Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "documents",
        Column("digest", Text, primary_key=True),
        Column("text", Text, nullable=False),
    )
    op.create_table(
        "proposals",
        Column("number", Number, primary_key=True),
        Column("concept", Text, nullable=False),
        Column("word", Text, nullable=False),
        Column("relation", Text, nullable=False),
        Column("parent", Text, nullable=False),
        Column("proposer", Text, nullable=False),
        Column("origin", Text, nullable=False),
        Column("created", Text, nullable=False),
        Column("state", Text, nullable=False),
        Column("author", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("version", Number, nullable=True),
        UniqueConstraint("concept", "parent", "proposer"),
        sqlite_autoincrement=True,
    )
    op.create_index("proposals_by_proposer", "proposals", ["proposer"])
    op.create_table(
        "notifications",
        Column("number", Number, primary_key=True),
        Column("position", Number, nullable=False),
        Column("event", Text, nullable=False),
        Column("subscription", Text, nullable=False),
        Column("sequence", Number, nullable=False),
        Column("score", Float, nullable=False),
        Column("bindings", Text, nullable=False),
        Column("version", Text, nullable=False),
        Column("created", Text, nullable=False),
        UniqueConstraint("position", "event", "subscription"),
        sqlite_autoincrement=True,
    )
    op.create_index("notifications_by_subscription", "notifications", ["subscription", "number"])
    op.create_table(
        "people",
        Column("change", Number, primary_key=True),
        Column("id", Text, nullable=False),
        Column("knows", Text, nullable=False),
        Column("shares", Boolean, nullable=False),
        Column("declines", Boolean, nullable=False),
        Column("since", Number, nullable=False),
        Column("until", Number, nullable=True),
        Column("created", Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("people_by_id", "people", ["id"])
    op.create_table(
        "suggestions",
        Column("number", Number, primary_key=True),
        Column("position", Number, nullable=False),
        Column("event", Text, nullable=False),
        Column("person", Text, nullable=False),
        Column("subscription", Text, nullable=False),
        Column("score", Float, nullable=False),
        Column("created", Text, nullable=False),
        UniqueConstraint("position", "event", "person"),
        sqlite_autoincrement=True,
    )
    op.create_index("suggestions_by_person", "suggestions", ["person", "number"])
    op.create_table(
        "deliveries",
        Column("number", Number, primary_key=True),
        Column("subscription", Text, nullable=False, unique=True),
        Column("url", Text, nullable=False),
        Column("format", Text, nullable=False),
        Column("secret", Text, nullable=False),
        Column("old_secret", Text, nullable=True),
        Column("old_until", Text, nullable=True),
        Column("state", Text, nullable=False),
        Column("since", Number, nullable=False),
        Column("last", Number, nullable=False),
        Column("due", Text, nullable=False),
        Column("attempts", Number, nullable=False),
        Column("delivered", Number, nullable=False),
        Column("sent", Number, nullable=False),
        Column("failing_since", Text, nullable=True),
        Column("reason", Text, nullable=False),
        Column("last_success", Text, nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "dead_letters",
        Column("position", Number, primary_key=True, autoincrement=False),
        Column("reason", Text, nullable=False),
        Column("created", Text, nullable=False),
    )
    op.create_table(
        "marks",
        Column("name", Text, primary_key=True),
        Column("value", Number, nullable=False),
    )
