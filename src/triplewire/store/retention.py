"""Letting go of old events. Nothing that is being sent is cut, however old it is and however much there is.

An event that a notification, a suggestion or a dead letter tells of leaves its place, its source and its id.
Notifications go when they are too old themselves, and their events are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from triplewire.store.database import Part
from triplewire.store.marks import BEFORE, CUT, mark, set_mark
from triplewire.store.moments import last_position, moment_of
from triplewire.store.tables import dead_letters, events, exceptions, lapses, notifications, omissions, suggestions
from triplewire.store.waiting import first_waiting, pass_over

STEP = 1000
"""How many events are cut in one transaction; writers wait for so many."""


class Retention(Part):
    """What is kept of the log of a store, and what is not."""

    def cut_position(self) -> int:
        """The position up to which events are no longer kept."""
        with self._reading() as connection:
            return mark(connection, CUT)

    def trim(self, before: datetime | None = None, most: int | None = None) -> int:
        """Cut events that were accepted before a time, and the oldest of those that hold more than ``most`` characters.

        Returns the position up to which events are no longer kept. Never cut are the newest event, events that the
        pipeline may still read, and events that a delivery at work has yet to send. One that is paused, stopped, ended
        or not confirmed has what is cut put aside as undelivered. Notifications of events that are cut go if they were
        written before the time, but for the last of each subscription, from which its numbers go on.
        """
        surplus = 0 if most is None else self._size() - most
        date = "" if before is None else moment_of(before)
        while True:
            with self._writing() as connection:
                cut = upto = mark(connection, CUT)
                columns = events.c.position, events.c.received, func.length(events.c.body).label("size")
                query = select(*columns).where(events.c.position > cut, events.c.position <= _not_needed(connection))
                rows = connection.execute(query.order_by(events.c.position).limit(STEP)).all()
                for row in rows:
                    if row.received >= date and surplus <= 0:
                        break
                    upto, surplus = row.position, surplus - row.size
                _cut(connection, cut, upto)
            if not rows or upto < rows[-1].position:
                break
        forgotten: int | None = 0
        while date and forgotten is not None:
            forgotten = self._forget(date, upto, forgotten)
        if date:
            with self._writing() as connection:
                for table in (lapses, omissions):
                    connection.execute(delete(table).where(table.c.created < date))
        return upto

    def _forget(self, date: str, upto: int, after: int) -> int | None:
        """Delete some notifications of events up to a position; the last one's number, if there may be more after it.

        To begin where the last step ended keeps it from looking again and again at those that stay.
        """
        later = notifications.alias()
        same = (later.c.subscription == notifications.c.subscription) & (later.c.owner == notifications.c.owner)
        is_last = ~select(1).where(same, later.c.number > notifications.c.number).correlate(notifications).exists()
        old = (notifications.c.position <= upto) & (notifications.c.created < date) & (notifications.c.number > after)
        chosen = select(notifications.c.number, notifications.c.position).where(old, ~is_last)
        with self._writing() as connection:
            rows = connection.execute(chosen.order_by(notifications.c.number).limit(STEP)).all()
            numbers, positions = [row.number for row in rows], {row.position for row in rows}
            for table in (notifications, exceptions):
                connection.execute(delete(table).where(table.c.number.in_(numbers)))
            connection.execute(delete(events).where(events.c.position.in_(positions), events.c.body == "", *_untold()))
        return numbers[-1] if len(rows) == STEP else None

    def _size(self) -> int:
        with self._reading() as connection:
            return int(connection.scalar(select(func.sum(func.length(events.c.body)))) or 0)


def _not_needed(connection: Connection) -> int:
    """The position up to which nobody needs events any more."""
    first = first_waiting(connection)
    unsent = [] if first is None else [first - 1]
    return min(mark(connection, BEFORE), last_position(connection) - 1, *unsent)


def _cut(connection: Connection, after: int, upto: int) -> None:
    these = (events.c.position > after) & (events.c.position <= upto)
    pass_over(connection, upto)
    connection.execute(delete(events).where(these, *_untold()))
    connection.execute(update(events).where(these).values(body=""))
    set_mark(connection, CUT, upto)


def _untold() -> Iterator[ColumnElement[bool]]:
    """That nothing tells of an event."""
    for table in (notifications, dead_letters, suggestions):
        yield ~select(1).where(table.c.position == events.c.position).correlate(events).exists()
