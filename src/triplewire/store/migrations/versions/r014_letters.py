"""Whose dead letters are, and what became of them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number, Text

revision = "014"
down_revision = "013"


def upgrade() -> None:
    op.add_column("dead_letters", Column("publisher", Text, nullable=False, server_default="local"))
    op.add_column("dead_letters", Column("settled", Text, nullable=True))
    op.add_column("dead_letters", Column("republished", Number, nullable=True))
    op.create_index("dead_letters_by_publisher", "dead_letters", ["publisher", "position"])
    op.execute(
        "UPDATE dead_letters SET publisher = COALESCE("
        "(SELECT publisher FROM events WHERE events.position = dead_letters.position), publisher)"
    )
