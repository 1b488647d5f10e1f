"""Who changed what, from now on."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number, Text

revision = "011"
down_revision = "010"


def upgrade() -> None:
    op.create_table(
        "audit",
        Column("number", Number, primary_key=True),
        Column("created", Text, nullable=False),
        Column("who", Text, nullable=False),
        Column("kind", Text, nullable=False),
        Column("id", Text, nullable=False),
        Column("what", Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_by_kind", "audit", ["kind", "number"])
    op.create_index("audit_by_who", "audit", ["who", "number"])
