"""The event log: every event at a position of its own, in the order in which they were accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, literal, or_, select

from triplewire.store.database import POSTGRESQL, Part, arrays, parts, unnested
from triplewire.store.moments import first_since, last_position, moment_of, now
from triplewire.store.records import LOCAL, StoredEvent
from triplewire.store.tables import Text, events

NAMES = ["source", "id", "body", "received", "publisher"]
ADDING = (
    "INSERT INTO events (source, id, body, received, publisher) SELECT ?, ?, ?, ?, ? "
    "WHERE NOT EXISTS (SELECT 1 FROM events WHERE source = ? AND id = ?)"
)
"""For SQLite, in its own words: SQLAlchemy would take several times as long as SQLite."""
ADDING_MANY = " ".join(
    (
        "INSERT INTO events (source, id, body, received, publisher) SELECT new.* FROM",
        f"({unnested(events, NAMES)}) AS new",
        "WHERE (SELECT position FROM events WHERE source = new.source AND id = new.id) IS NULL RETURNING position",
    )
)
"""For PostgreSQL. It joins where it is asked what does not exist, and a join may lose the order."""


class Log(Part):
    """The event log of a store."""

    def append(self, bodies: Sequence[tuple[str, str, str] | tuple[str, str, str, str]]) -> list[int]:
        """Put events ``(source, id, body, publisher)`` at the end of the log, and return their positions once durable.

        An event that is in the log already stays as it is; its first position is returned.
        """
        with self._writing() as connection:
            return _append(connection, bodies)

    def positions(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Where events ``(source, id)`` are in the log, of those that are."""
        with self._reading() as connection:
            return _positions(connection, keys)

    def last_position(self) -> int:
        """The position of the newest event; 0 if there never was one."""
        with self._reading() as connection:
            return last_position(connection)

    def events(self, after: int, upto: int) -> Iterator[StoredEvent]:
        """The events with ``after < position <= upto`` that are still kept, in order."""
        query = select(events.c.position, events.c.source, events.c.id, events.c.body, events.c.received)
        query = query.where(events.c.position > after, events.c.position <= upto, events.c.body != "")
        query = query.order_by(events.c.position)
        with self._reading() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield StoredEvent(*row)

    def events_saying(self, texts: Iterable[str], after: int, upto: int) -> list[StoredEvent]:
        """The events with ``after < position <= upto`` that have one of some texts in them."""
        query = select(events.c.position, events.c.source, events.c.id, events.c.body).order_by(events.c.position)
        place = func.strpos if self._database.kind == POSTGRESQL else func.instr
        saying = or_(*(place(events.c.body, literal(text, Text)) > 0 for text in texts))
        query = query.where(events.c.position > after, events.c.position <= upto, saying)
        with self._reading() as connection:
            return [StoredEvent(*row) for row in connection.execute(query)]

    def position_before(self, time: datetime) -> int:
        """The position of the last event that was accepted before a time; 0 if there is none."""
        with self._reading() as connection:
            return first_since(connection, events.c.position, events.c.received, moment_of(time)) - 1

    def nth_position_after(self, after: int, count: int) -> int:
        """The position of the last of the ``count`` events that follow ``after``; ``after`` itself if there is none."""
        following = select(events.c.position).where(events.c.position > after).order_by(events.c.position).limit(count)
        with self._reading() as connection:
            return connection.scalar(select(func.max(following.subquery().c.position))) or after


def _append(connection: Connection, bodies: Sequence[Sequence[str]]) -> list[int]:
    moment = now()
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for source, id_, body, *publisher in bodies:
        rows.setdefault((source, id_), (source, id_, body, moment, publisher[0] if publisher else LOCAL))
    known = _added(connection, rows) if rows else {}
    return [known[body[0], body[1]] for body in bodies]


def _added(connection: Connection, rows: dict[tuple[str, str], tuple[str, ...]]) -> dict[tuple[str, str], int]:
    """Add events but those that are there already, which take no number; where all of them are.

    Many at once, in few statements: with one each, the statements would take longer than the database. As nobody else
    adds any meanwhile, the numbers of new ones follow each other.
    """
    if connection.dialect.name == POSTGRESQL:
        columns = dict(zip(NAMES, zip(*rows.values(), strict=True), strict=True))
        given = connection.exec_driver_sql(ADDING_MANY, arrays(events, columns, connection.dialect)).scalars().all()
        return _positions(connection, rows) if len(given) < len(rows) else dict(zip(rows, sorted(given), strict=True))
    count = connection.exec_driver_sql(ADDING, [(*row, *key) for key, row in rows.items()]).rowcount
    if count < len(rows):
        return _positions(connection, rows)
    last = connection.exec_driver_sql("SELECT last_insert_rowid()").scalar_one()
    return dict(zip(rows, range(last - count + 1, last + 1), strict=True))


def _positions(connection: Connection, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Where events are in the log, of those that are."""
    ids: dict[str, list[str]] = {}
    for source, id_ in keys:
        ids.setdefault(source, []).append(id_)
    found: dict[tuple[str, str], int] = {}
    for source, own in ids.items():
        for some in parts(own):
            query = select(events.c.id, events.c.position).where(events.c.source == source, events.c.id.in_(some))
            found |= {(source, row.id): row.position for row in connection.execute(query)}
    return found
