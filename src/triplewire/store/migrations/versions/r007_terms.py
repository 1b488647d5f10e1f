"""The terms that notifications are sent on, several deliveries of one subscription, and what they leave out."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number, Text

revision = "007"
down_revision = "006"

UNNAMED = {"uq": "%(table_name)s_%(column_0_name)s_key"}
"""As PostgreSQL names what has no name."""
COUNTS = ("undelivered", "suppressed", "priority", "throttling", "digest", "duplicates")


def upgrade() -> None:
    op.add_column("revisions", Column("expires", Text, nullable=True))
    op.create_index("revisions_by_expires", "revisions", ["expires"])
    counting = {"sqlite_autoincrement": True}
    with op.batch_alter_table("deliveries", naming_convention=UNNAMED, table_kwargs=counting) as batch:
        batch.drop_constraint("deliveries_subscription_key", type_="unique")
        batch.add_column(Column("channel", Text, nullable=False, server_default="webhook"))
        batch.add_column(Column("until", Text, nullable=True))
        batch.add_column(Column("tried_since", Text, nullable=True))
        for name in COUNTS:
            batch.add_column(Column(name, Number, nullable=False, server_default="0"))
    with op.batch_alter_table("deliveries", table_kwargs=counting) as batch:
        batch.create_unique_constraint("deliveries_by_place", ["subscription", "channel", "url"])
        for name in ("channel", *COUNTS):
            batch.alter_column(name, server_default=None)
    op.create_table(
        "omissions",
        Column("delivery", Number, primary_key=True),
        Column("notification", Number, primary_key=True),
        Column("kind", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("created", Text, nullable=False),
    )
    op.create_table(
        "contents",
        Column("delivery", Number, primary_key=True),
        Column("content", Text, primary_key=True),
        Column("notification", Number, nullable=False),
        Column("received", Text, nullable=False),
    )
