"""Addresses for mail, and feeds that are read."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, UniqueConstraint

from triplewire.store.tables import Number, Text

revision = "010"
down_revision = "009"


def upgrade() -> None:
    op.create_table(
        "mailboxes",
        Column("owner", Text, primary_key=True),
        Column("address", Text, primary_key=True),
        Column("digest", Text, nullable=False, unique=True),
        Column("asked", Text, nullable=False),
        Column("confirmed", Text, nullable=True),
    )
    op.create_table(
        "sources",
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
        UniqueConstraint("owner", "url", name="sources_by_place"),
        sqlite_autoincrement=True,
    )
