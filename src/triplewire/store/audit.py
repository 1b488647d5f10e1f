"""Who changed what: a row for each change, written in the transaction that makes it.

Events, and what comes of them, are no changes: the log and the deliveries tell of those.
"""

from __future__ import annotations

from contextvars import ContextVar

from sqlalchemy import Connection, insert, select

from triplewire.store.database import Part
from triplewire.store.moments import now
from triplewire.store.records import LOCAL, Change
from triplewire.store.tables import audit

ACTOR: ContextVar[str] = ContextVar("actor", default=LOCAL)
"""Whoever is at work: the caller of a request. A command is nobody in particular."""


class Audit(Part):
    """The changes of a store."""

    def audit(self, after: int = 0, limit: int = 100, kind: str | None = None, who: str | None = None) -> list[Change]:
        """Changes in the order in which they were made, beginning after a number; of one kind, or by somebody."""
        query = select(audit).where(audit.c.number > after).order_by(audit.c.number).limit(limit)
        if kind is not None:
            query = query.where(audit.c.kind == kind)
        if who is not None:
            query = query.where(audit.c.who == who)
        with self._reading() as connection:
            return [Change(**row._mapping) for row in connection.execute(query)]


def note(connection: Connection, kind: str, id_: object, what: str, who: str | None = None) -> None:
    """Keep that something of a kind was changed, by whoever is at work unless somebody else is named."""
    row = {"created": now(), "who": ACTOR.get() if who is None else who, "kind": kind, "id": str(id_), "what": what}
    connection.execute(insert(audit).values(row))
