"""Sources: feeds that users have us read, and what is known of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, case, delete, func, insert, select, update

from triplewire.errors import UsageError
from triplewire.store.audit import note
from triplewire.store.database import Part
from triplewire.store.moments import now
from triplewire.store.records import Reading, Source
from triplewire.store.rights import PUBLISH, is_shut_out
from triplewire.store.tables import sources

Check: TypeAlias = Callable[[], None]

ACTIVE, PAUSED = "active", "paused"
MOST = 100
FIRST_PAUSE = 900
AT_FIRST: dict[str, Any] = {"due": "", "pause": FIRST_PAUSE, "tag": "", "modified": "", "seen": "[]", "reason": ""}


class Sources(Part):
    """The sources of a store."""

    def add(self, owner: str, url: str) -> tuple[Source, bool]:
        """Have a feed be read, from now on; and whether that is new."""
        with self._writing() as connection:
            same = (sources.c.owner == owner) & (sources.c.url == url)
            known = connection.execute(select(sources).where(same)).first()
            if known is not None:
                return source_of(known), False
            if (connection.scalar(select(func.count()).where(sources.c.owner == owner)) or 0) >= MOST:
                raise UsageError(f"{owner} has {MOST} sources already, which is the most that one may have")
            row = AT_FIRST | {"owner": owner, "url": url, "state": ACTIVE, "created": now()}
            connection.execute(insert(sources).values(row | {"reads": 0, "published": 0}))
            made = source_of(connection.execute(select(sources).where(same)).one())
            note(connection, "source", made.number, "added")
            return made, True

    def remove(self, number: int, check: Check = lambda: None) -> None:
        """Read a feed no more. If ``check`` raises an error, it stays."""
        with self._writing() as connection:
            check()
            connection.execute(delete(sources).where(sources.c.number == number))
            note(connection, "source", number, "removed")

    def pause(self, number: int, paused: bool, check: Check = lambda: None) -> None:
        """Leave a feed alone, or go on with it. If ``check`` raises an error, it stays as it is."""
        self._change(number, {"state": PAUSED if paused else ACTIVE}, PAUSED if paused else "resumed", check)

    def hurry(self, number: int) -> None:
        """Have a feed be read as soon as can be, also one that was gone."""
        self._change(number, {"state": ACTIVE, "due": ""}, "hurried")

    def _change(self, number: int, values: dict[str, Any], what: str, check: Check = lambda: None) -> None:
        with self._writing() as connection:
            check()
            connection.execute(update(sources).where(sources.c.number == number).values(values))
            note(connection, "source", number, what)

    def at(self, number: int) -> Source | None:
        with self._reading() as connection:
            return _found(connection, number)

    def listed(self, after: int, limit: int, owner: str | None = None) -> list[Source]:
        """Sources in the order in which they were added, beginning after a number; those of one owner."""
        query = select(sources).where(sources.c.number > after)
        if owner is not None:
            query = query.where(sources.c.owner == owner)
        with self._reading() as connection:
            return [source_of(row) for row in connection.execute(query.order_by(sources.c.number).limit(limit))]

    def due(self, moment: str) -> list[Source]:
        """The sources that are to be read now, of owners who may publish, the longest due first."""
        good = (sources.c.state == ACTIVE) & (sources.c.due <= moment) & ~is_shut_out(sources.c.owner, PUBLISH)
        query = select(sources).where(good).order_by(sources.c.due)
        with self._reading() as connection:
            return [source_of(row) for row in connection.execute(query)]

    def settle(self, source: Source, reading: Reading) -> None:
        """Write what came of reading a feed."""
        values: dict[str, Any] = {"reads": sources.c.reads + 1, "due": reading.due, "pause": reading.pause}
        still = case((sources.c.state == PAUSED, PAUSED), else_=reading.state)
        values |= {"state": still, "reason": reading.reason, "last_read": reading.moment}
        if reading.reason:
            values["failing_since"] = func.coalesce(sources.c.failing_since, reading.moment)
        else:
            values |= {"failing_since": None, "last_success": reading.moment}
            values |= {"tag": reading.tag, "modified": reading.modified, "seen": json.dumps(list(reading.seen))}
            values["published"] = sources.c.published + reading.published
        if reading.published:
            values["last_change"] = reading.moment
        with self._writing() as connection:
            connection.execute(update(sources).where(sources.c.number == source.number).values(values))


def _found(connection: Connection, number: int) -> Source | None:
    row = connection.execute(select(sources).where(sources.c.number == number)).first()
    return None if row is None else source_of(row)


def source_of(row: Row[Any]) -> Source:
    return Source(**{**row._mapping, "seen": tuple(json.loads(row.seen))})
