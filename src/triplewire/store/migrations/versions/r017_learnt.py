"""In which version each statement came to be known that was learnt, from now on."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number, Text

revision = "017"
down_revision = "016"


def upgrade() -> None:
    op.create_table(
        "learnt",
        Column("number", Number, primary_key=True),
        Column("digest", Text, nullable=False, unique=True),
        Column("line", Text, nullable=False),
        Column("version", Number, nullable=False),
        sqlite_autoincrement=True,
    )
