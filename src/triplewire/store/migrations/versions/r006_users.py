"""Users and their tokens; who published an event, and whose a notification is."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, func, select, update

from triplewire.store.tables import Number, Text, notifications, revisions

revision = "006"
down_revision = "005"


def upgrade() -> None:
    op.create_table(
        "users",
        Column("name", Text, primary_key=True),
        Column("scopes", Text, nullable=False),
        Column("password", Text, nullable=True),
        Column("created", Text, nullable=False),
    )
    op.create_table(
        "tokens",
        Column("number", Number, primary_key=True),
        Column("digest", Text, nullable=False, unique=True),
        Column("user", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("scopes", Text, nullable=False),
        Column("created", Text, nullable=False),
        Column("used", Text, nullable=True),
        Column("expires", Text, nullable=True),
        Column("revoked", Text, nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("tokens_by_user", "tokens", ["user"])
    op.add_column("events", Column("publisher", Text, nullable=False, server_default="local"))
    op.add_column("notifications", Column("owner", Text, nullable=False, server_default=""))
    alive = revisions.c.until.is_(None) | (revisions.c.until > notifications.c.position)
    valid = (revisions.c.id == notifications.c.subscription) & (revisions.c.since < notifications.c.position) & alive
    owner = select(revisions.c.owner).where(valid).limit(1).scalar_subquery()
    op.execute(update(notifications).values(owner=func.coalesce(owner, "")))
    op.create_index("notifications_by_owner", "notifications", ["owner", "number"])
