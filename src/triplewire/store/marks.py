"""Marks: single numbers with a name, such as how far the pipeline has got."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from triplewire.store.tables import marks

PIPELINE, BEFORE = "pipeline", "pipeline before"
"""The position up to which the pipeline is done, and was before its last batch, which it may be made to repeat."""
CUT = "cut"
"""The position up to which events are no longer kept."""


def mark(connection: Connection, name: str) -> int:
    """What a mark says; 0 if it was never set."""
    return connection.scalar(select(marks.c.value).where(marks.c.name == name)) or 0


def set_mark(connection: Connection, name: str, value: int) -> None:
    changed = connection.execute(update(marks).where(marks.c.name == name).values(value=value))
    if changed.rowcount == 0:
        connection.execute(insert(marks).values(name=name, value=value))
