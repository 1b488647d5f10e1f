"""Callbacks that end with the token that they were set up with."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number

revision = "012"
down_revision = "011"


def upgrade() -> None:
    op.add_column("deliveries", Column("token", Number, nullable=True))
