"""When a feed was read last, whatever came of it."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Text

revision = "015"
down_revision = "014"


def upgrade() -> None:
    op.add_column("sources", Column("last_read", Text, nullable=True))
