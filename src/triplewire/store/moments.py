"""When something is written: the clock's time, and the newest event's position."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Column, ColumnElement, Connection, Table, func, select

from triplewire.store.tables import events


def last_position(connection: Connection) -> int:
    """The position of the newest event; 0 if there never was one."""
    return connection.scalar(select(func.max(events.c.position))) or 0


def valid_at(table: Table, position: int) -> ColumnElement[bool]:
    """The rows of a table of lives, from ``since`` to ``until``, that are valid for the event at a position."""
    alive: ColumnElement[bool] = table.c.until.is_(None) | (table.c.until > position)
    return (table.c.since < position) & alive


def first_since(connection: Connection, number: Column[int], moment: Column[str], asked: str) -> int:
    """The number of a table's first row of a moment or later, or the number that is to come next.

    Where rows are numbered in the order of time, halving finds it, without an index of moments.
    """
    low, high = 1, (connection.scalar(select(func.max(number))) or 0) + 1
    while low < high:
        middle = (low + high) // 2
        row = connection.execute(select(number, moment).where(number >= middle).order_by(number).limit(1)).one()
        if row[1] < asked:
            low = row[0] + 1
        else:
            high = middle
    return low


def now() -> str:
    return moment_of(datetime.now(UTC))


def moment_of(time: datetime) -> str:
    """A time as it is written, so that texts are in the order of time."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
