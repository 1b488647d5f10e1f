"""What was answered to requests that have a key."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number, Text

revision = "009"
down_revision = "008"


def upgrade() -> None:
    op.create_table(
        "answers",
        Column("caller", Text, primary_key=True),
        Column("key", Text, primary_key=True),
        Column("request", Text, nullable=False),
        Column("status", Number, nullable=False),
        Column("headers", Text, nullable=False),
        Column("body", Text, nullable=False),
        Column("created", Text, nullable=False),
    )
    op.create_index("answers_by_time", "answers", ["created"])
