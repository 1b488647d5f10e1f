"""Lapses by their count, with the last of each subscription: one that is given up on every event had as many rows."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number, Text

revision = "018"
down_revision = "017"


def upgrade() -> None:
    op.execute(
        "CREATE TABLE lapses_before AS "
        "SELECT subscription, owner, counted, position, event, reason, created FROM lapses JOIN "
        "(SELECT max(number) AS latest, count(*) AS counted FROM lapses GROUP BY subscription, owner) AS totals "
        "ON number = latest"
    )
    op.drop_table("lapses")
    op.create_table(
        "lapses",
        Column("subscription", Text, primary_key=True),
        Column("owner", Text, primary_key=True),
        Column("count", Number, nullable=False),
        Column("position", Number, nullable=False),
        Column("event", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("created", Text, nullable=False),
    )
    op.execute("INSERT INTO lapses SELECT * FROM lapses_before")
    op.drop_table("lapses_before")
