"""Dead letters: events that were accepted and could not be matched, and what became of them since."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, func, literal, or_, select, update

from triplewire.store.audit import note
from triplewire.store.database import POSTGRESQL, Part, insert_new, parts
from triplewire.store.moments import now
from triplewire.store.records import DISMISSED, OPEN, REPUBLISHED, DeadLetter
from triplewire.store.tables import Text, dead_letters, events

Check: TypeAlias = Callable[[], None]

STATES: dict[str, ColumnElement[bool]] = {
    OPEN: dead_letters.c.settled.is_(None),
    DISMISSED: dead_letters.c.settled.is_not(None) & dead_letters.c.republished.is_(None),
    REPUBLISHED: dead_letters.c.republished.is_not(None),
}


class Letters(Part):
    """The dead letters of a store."""

    def dead_letters(
        self,
        after: int = 0,
        limit: int = 100,
        publisher: str | None = None,
        contains: str = "",
        state: str | None = None,
        newest: bool = False,
    ) -> list[DeadLetter]:
        """Refused events in log order, beginning after a position; or the newest first, beginning before it.

        Those of one publisher, those whose reason, source or id contains a text in whatever case, those in a state.
        """
        place = dead_letters.c.position
        query = _letters().order_by(place.desc() if newest else place).limit(limit)
        if after or not newest:
            query = query.where(place < after if newest else place > after)
        if publisher is not None:
            query = query.where(dead_letters.c.publisher == publisher)
        if state is not None:
            query = query.where(STATES[state])
        if contains:
            inside = func.strpos if self._database.kind == POSTGRESQL else func.instr
            wanted = func.lower(literal(contains, Text))
            columns = dead_letters.c.reason, events.c.source, events.c.id
            query = query.where(or_(*(inside(func.lower(column), wanted) > 0 for column in columns)))
        with self._reading() as connection:
            return [DeadLetter(**row._mapping) for row in connection.execute(query)]

    def dead_letter(self, position: int) -> DeadLetter | None:
        """The refused event at a position."""
        with self._reading() as connection:
            row = connection.execute(_letters().where(dead_letters.c.position == position)).first()
            return None if row is None else DeadLetter(**row._mapping)

    def settle_letter(self, position: int, republished: int | None = None, check: Check = lambda: None) -> None:
        """Note that a letter is dealt with: by another event, at a position, or as nothing is to be done.

        If ``check`` raises an error, it stays as it is.
        """
        values = {"settled": now(), "republished": republished}
        self._change(position, values, DISMISSED if republished is None else REPUBLISHED, check)

    def reopen_letter(self, position: int, check: Check = lambda: None) -> None:
        """Note that something is to be done about a letter after all. If ``check`` raises an error, it stays."""
        self._change(position, {"settled": None, "republished": None}, "reopened", check)

    def _change(self, position: int, values: dict[str, Any], what: str, check: Check) -> None:
        with self._writing() as connection:
            check()
            connection.execute(update(dead_letters).where(dead_letters.c.position == position).values(values))
            note(connection, "dead letter", position, what)


def write_letters(connection: Connection, refused: Iterable[DeadLetter], moment: str) -> None:
    """Add dead letters, each its publisher's, but those that are there already."""
    reasons = {letter.position: letter.reason for letter in refused}
    for some in parts(reasons):
        found = connection.execute(select(events.c.position, events.c.publisher).where(events.c.position.in_(some)))
        rows = [
            {"position": at, "reason": reasons[at], "created": moment, "publisher": publisher}
            for at, publisher in found
        ]
        if rows:
            connection.execute(insert_new(connection, dead_letters), rows)


def _letters() -> Select[Any]:
    """Every dead letter, with its event."""
    return select(dead_letters, events.c.source, events.c.id, events.c.body).join(
        events, events.c.position == dead_letters.c.position
    )
