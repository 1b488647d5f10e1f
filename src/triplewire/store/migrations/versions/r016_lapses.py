"""Subscriptions that were given up on an event."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, UniqueConstraint

from triplewire.store.tables import Number, Text

revision = "016"
down_revision = "015"


def upgrade() -> None:
    op.create_table(
        "lapses",
        Column("number", Number, primary_key=True),
        Column("position", Number, nullable=False),
        Column("event", Text, nullable=False),
        Column("subscription", Text, nullable=False),
        Column("owner", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("created", Text, nullable=False),
        UniqueConstraint("position", "event", "subscription"),
        sqlite_autoincrement=True,
    )
    op.create_index("lapses_by_subscription", "lapses", ["subscription", "number"])
