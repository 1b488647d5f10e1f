"""Tokens that are good for a single feed."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Text

revision = "008"
down_revision = "007"


def upgrade() -> None:
    op.add_column("tokens", Column("feed", Text, nullable=True))
