"""Notifications as a person reads them: the newest first, read and unread.

Whatever is asked, the rows that are looked at are few, however many there are: they are found by an index, and a search
for a text goes only so far back at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, func, insert, or_, select, true, update

from triplewire.store.database import Part, insert_new
from triplewire.store.moments import first_since
from triplewire.store.notifications import notification_of, notified, of_subscription
from triplewire.store.records import Notification
from triplewire.store.tables import events, exceptions, notifications, readers, revisions

SEARCHED = 2000
"""So many notifications are searched for a text at a time."""
MOST_COUNTED = 1000
END = (1 << 63) - 1
"""Above every number."""

_number = notifications.c.number


@dataclass(frozen=True)
class Wanted:
    """Which notifications: an owner's, of a subscription, with a text in the event, yet to be read by somebody.

    Those that were made from the moment ``since`` on, and before ``until``.
    """

    owner: str | None = None
    subscription: str | None = None
    text: str = ""
    unread_by: str | None = None
    since: str | None = None
    until: str | None = None


class Inbox(Part):
    """The notifications of a store, and how far they are read."""

    def newest(self, wanted: Wanted, before: int, limit: int) -> tuple[list[Notification], int | None]:
        """Notifications below a number, the newest first, and below which number to go on, if there may be more.

        There may be more even if there are fewer than ``limit``: a text is searched for in so many at a time.
        """
        asked = SEARCHED if wanted.text else limit + 1
        with self._reading() as connection:
            if wanted.subscription is not None and wanted.owner is not None:
                before = min(before, _end(connection, wanted.subscription, wanted.owner))
            numbers = _numbers(connection, wanted, before, asked)
            query = notified().where(_number.in_(numbers), _saying(wanted.text)).order_by(_number.desc())
            found = [notification_of(row) for row in connection.execute(query.limit(limit + 1))]
        if len(found) > limit:
            return found[:limit], found[limit - 1].number
        return found, numbers[-1] if len(numbers) == asked else None

    def read(self, reader: str, numbers: Iterable[int]) -> set[int]:
        """Those of some notifications that somebody has read."""
        asked = set(numbers)
        with self._reading() as connection:
            upto = _upto(connection, reader)
            own = (exceptions.c.reader == reader) & exceptions.c.number.in_(asked)
            other = set(connection.scalars(select(exceptions.c.number).where(own)))
        return {number for number in asked if (number <= upto) != (number in other)}

    def unread(self, reader: str, owner: str | None, most: int = MOST_COUNTED) -> int:
        """How many notifications somebody has not read, counted up to ``most``."""
        with self._reading() as connection:
            return len(_unread(connection, Wanted(owner, unread_by=reader), (0, END), most))

    def mark(self, reader: str, number: int, read: bool = True, owner: str | None = None) -> None:
        """Have a notification count as read, or as not, by somebody who is told of an owner's."""
        with self._writing() as connection:
            upto = _upto(connection, reader)
            if (number <= upto) == read:
                same = (exceptions.c.reader == reader) & (exceptions.c.number == number)
                connection.execute(delete(exceptions).where(same))
            else:
                connection.execute(insert_new(connection, exceptions), [{"reader": reader, "number": number}])
            if read:
                _settle(connection, reader, Wanted(owner, unread_by=reader))

    def mark_all(self, reader: str, upto: int) -> None:
        """Have all notifications up to a number count as read."""
        with self._writing() as connection:
            before = _upto(connection, reader)
            _read_up_to(connection, reader, max(upto, before), exceptions.c.number <= upto)


def _read_up_to(connection: Connection, reader: str, upto: int, settled: ColumnElement[bool]) -> None:
    """Have the old ones end here, and forget exceptions that are none any more."""
    connection.execute(delete(exceptions).where(exceptions.c.reader == reader, settled))
    moved = update(readers).where(readers.c.name == reader).values(upto=upto)
    if connection.execute(moved).rowcount == 0:
        connection.execute(insert(readers).values(name=reader, upto=upto))


def _settle(connection: Connection, reader: str, wanted: Wanted) -> None:
    """Where all that comes next is read, have it be old: whoever reads one by one is to have few exceptions."""
    upto = _upto(connection, reader)
    new = exceptions.c.number > upto
    first = connection.scalar(_new(wanted, upto).order_by(_number).limit(1))
    if first is not None:
        new &= exceptions.c.number < first
    last = connection.scalar(select(func.max(exceptions.c.number)).where(exceptions.c.reader == reader, new))
    if last is not None:
        _read_up_to(connection, reader, last, new)


def _upto(connection: Connection, reader: str) -> int:
    return connection.scalar(select(readers.c.upto).where(readers.c.name == reader)) or 0


def _numbers(connection: Connection, wanted: Wanted, before: int, most: int) -> list[int]:
    """The numbers of what is wanted, whatever it says, in falling order."""
    created = notifications.c.created
    after = 0 if wanted.since is None else first_since(connection, _number, created, wanted.since) - 1
    if wanted.until is not None:
        before = min(before, first_since(connection, _number, created, wanted.until))
    if wanted.unread_by is not None:
        return _unread(connection, wanted, (after, before), most)
    query = select(_number).where(_of(wanted), _number > after, _number < before).order_by(_number.desc())
    return list(connection.scalars(query.limit(most)))


def _unread(connection: Connection, wanted: Wanted, between: tuple[int, int], most: int) -> list[int]:
    """First those that are new and are no exceptions, then the exceptions among the old ones: each by its index."""
    upto = _upto(connection, wanted.unread_by or "")
    within = (_number > between[0]) & (_number < between[1])
    new = _new(wanted, upto).where(within).order_by(_number.desc())
    found: list[int] = list(connection.scalars(new.limit(most)))
    if len(found) < most:
        old = (
            select(_number).join(exceptions, _excepted(wanted)).where(_of(wanted), within, exceptions.c.number <= upto)
        )
        found += connection.scalars(old.order_by(exceptions.c.number.desc()).limit(most - len(found)))
    return found


def _new(wanted: Wanted, upto: int) -> Select[int]:
    """Those after a number that are no exceptions."""
    excepted = select(1).where(_excepted(wanted)).correlate(notifications).exists()
    return select(_number).where(_of(wanted), _number > upto, ~excepted)


def _excepted(wanted: Wanted) -> ColumnElement[bool]:
    return (exceptions.c.reader == wanted.unread_by) & (exceptions.c.number == _number)


def _end(connection: Connection, subscription: str, owner: str) -> int:
    """Where that ends which an owner was told of a subscription.

    The id may be somebody else's by now; all they were told would have to be looked through.
    """
    own = (revisions.c.id == subscription) & (revisions.c.owner == owner)
    last = connection.execute(select(revisions.c.until).where(own).order_by(revisions.c.change.desc()).limit(1)).first()
    if last is None:
        return 0
    if last.until is None:
        return END
    later = select(_number).where(notifications.c.position >= last.until)
    return connection.scalar(later.order_by(notifications.c.position, _number).limit(1)) or END


def _of(wanted: Wanted) -> ColumnElement[bool]:
    if wanted.subscription is not None:
        return of_subscription(wanted.subscription, wanted.owner)
    return true() if wanted.owner is None else and_(notifications.c.owner == wanted.owner)


def _saying(text: str) -> ColumnElement[bool]:
    if not text:
        return true()
    places = (notifications.c.event, events.c.body, notifications.c.subscription)
    return or_(*(place.icontains(text, autoescape=True) for place in places))
