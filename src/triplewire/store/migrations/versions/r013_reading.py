"""How far everybody has read."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from triplewire.store.tables import Number, Text

revision = "013"
down_revision = "012"


def upgrade() -> None:
    op.create_table("readers", Column("name", Text, primary_key=True), Column("upto", Number, nullable=False))
    op.create_table("exceptions", Column("reader", Text, primary_key=True), Column("number", Number, primary_key=True))
