"""Subscriptions, as they stand now and as they stood for an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select, union

from triplewire.errors import UsageError
from triplewire.store import deliveries
from triplewire.store.audit import note
from triplewire.store.database import Part
from triplewire.store.moments import last_position, valid_at
from triplewire.store.records import LOCAL, Mailbox, Revision, Webhook
from triplewire.store.revisions import current, end, insert_revision, no_subscription, revise, revision_of
from triplewire.store.tables import ontologies, revisions
from triplewire.store.terms import ACTIVE, PAUSED, terms_of

SEARCHED = 1000
"""So many subscriptions are looked at, at a time, for those that fit."""


class Subscriptions(Part):
    """The subscriptions of a store."""

    def subscribe(
        self,
        record: Mapping[str, Any],
        owner: str = LOCAL,
        webhook: Webhook | Mailbox | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> int:
        """Create a subscription; it matches the events after the position returned.

        If ``check`` raises an error, there is none.
        """
        with self._writing() as connection:
            check()
            if current(connection, record["id"]) is not None:
                raise UsageError(f"there is a subscription {record['id']!r} already")
            since = insert_revision(connection, record, owner, last_position(connection))
            note(connection, "subscription", record["id"], "created")
            if webhook is not None:
                deliveries.put(connection, record["id"], webhook, "")
            return since

    def revise(self, record: Mapping[str, Any]) -> int:
        """Replace a subscription's record for the events after the position returned."""
        with self._writing() as connection:
            return _revise(connection, record)

    def amend(self, id_: str, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> int:
        """Replace a subscription's record by what ``change`` makes of it, for the events after the position returned.

        Nothing else is written in between, so that of two changes at once none is lost. If ``change`` raises an error,
        the record stays as it is.
        """
        with self._writing() as connection:
            standing = current(connection, id_)
            if standing is None:
                raise no_subscription(id_)
            return _revise(connection, change(standing.record))

    def pause(self, id_: str, paused: bool = True, check: Callable[[], None] = lambda: None) -> None:
        """Have nothing sent of a subscription, while it goes on matching; or go on, at once, with what has waited.

        It goes on, too, where sending was stopped after long failure, or ended by the receiver. If ``check`` raises an
        error, all stays as it is.
        """
        with self._writing() as connection:
            check()
            standing = current(connection, id_)
            if standing is None:
                raise no_subscription(id_)
            state = PAUSED if paused else ACTIVE
            if standing.record.get("state", ACTIVE) != state:
                _revise(connection, standing.record | {"state": state})
            if not paused:
                deliveries.restart(connection, id_)
                note(connection, "delivery", id_, "resumed")

    def unsubscribe(self, id_: str, check: Callable[[], None] = lambda: None) -> int:
        """End a subscription; it matches no event from the position returned on, and nothing more is delivered.

        If ``check`` raises an error it stays. Nothing else is written in between.
        """
        with self._writing() as connection:
            check()
            position = last_position(connection) + 1
            end(connection, id_, position)
            deliveries.remove(connection, id_)
            note(connection, "subscription", id_, "deleted")
            return position

    def subscription(self, id_: str) -> Revision | None:
        """A subscription as it stands now."""
        with self._reading() as connection:
            return current(connection, id_)

    def subscription_at(self, id_: str, position: int) -> Revision | None:
        """A subscription as it stood for the event at a position."""
        query = select(revisions).where(revisions.c.id == id_, valid_at(revisions, position))
        with self._reading() as connection:
            row = connection.execute(query).first()
            return None if row is None else revision_of(row)

    def subscriptions(self, after: int = 0, limit: int = 100, owner: str | None = None) -> list[Revision]:
        """The subscriptions that stand now, oldest revision first, beginning after a change number; or an owner's."""
        query = select(revisions).where(revisions.c.until.is_(None), revisions.c.change > after)
        if owner is not None:
            query = query.where(revisions.c.owner == owner)
        with self._reading() as connection:
            return [revision_of(row) for row in connection.execute(query.order_by(revisions.c.change).limit(limit))]

    def newest_subscriptions(
        self, before: int, limit: int, owner: str | None = None, fits: Callable[[Revision], bool] | None = None
    ) -> tuple[list[Revision], int | None]:
        """The subscriptions that stand, the last changed first, below a change number; and where to go on, if anywhere.

        Of those that are to fit, some thousands are looked at at a time: there may be more though these are few.
        """
        looked_at = limit + 1 if fits is None else SEARCHED
        query = select(revisions).where(revisions.c.until.is_(None), revisions.c.change < before)
        if owner is not None:
            query = query.where(revisions.c.owner == owner)
        with self._reading() as connection:
            rows = connection.execute(query.order_by(revisions.c.change.desc()).limit(looked_at)).all()
        found = [one for one in map(revision_of, rows) if fits is None or fits(one)]
        if len(found) > limit:
            return found[:limit], found[limit - 1].change
        return found, rows[-1].change if len(rows) == looked_at else None

    def count_subscriptions(self, owner: str) -> int:
        """How many subscriptions an owner has now."""
        query = select(func.count()).where(revisions.c.until.is_(None), revisions.c.owner == owner)
        with self._reading() as connection:
            return connection.scalar(query) or 0

    def revisions(self, after: int, upto: int) -> list[Revision]:
        """The revisions that are valid for some event with ``after < position <= upto``."""
        alive = revisions.c.until.is_(None) | (revisions.c.until > after + 1)
        query = select(revisions).where(revisions.c.since < upto, alive).order_by(revisions.c.change)
        with self._reading() as connection:
            return [revision_of(row) for row in connection.execute(query)]

    def valid_revisions(self, position: int, part: int = 0, parts: int = 1) -> Iterator[Revision]:
        """The revisions that are valid for the event at a position, or a part of them, however many, one by one."""
        query = select(revisions).where(valid_at(revisions, position), revisions.c.change % parts == part)
        with self._reading() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield revision_of(row)

    def count_revisions(self, position: int) -> int:
        """How many revisions are valid for the event at a position."""
        with self._reading() as connection:
            return connection.scalar(select(func.count()).where(valid_at(revisions, position))) or 0

    def changes(self, after: int, upto: int, known: int = 0) -> list[Revision]:
        """The revisions that began or ended between the events at these two positions, in order.

        Those that began right after the first one are left out up to the change ``known``.
        """
        query = select(revisions).where(_changed(after, upto, known)).order_by(revisions.c.change)
        with self._reading() as connection:
            return [revision_of(row) for row in connection.execute(query)]

    def count_changes(self, after: int, upto: int, known: int = 0) -> int:
        """How many there are of them."""
        with self._reading() as connection:
            return connection.scalar(select(func.count()).where(_changed(after, upto, known))) or 0

    def last_change(self) -> int:
        """The number of the newest revision; 0 if there never was one."""
        with self._reading() as connection:
            return connection.scalar(select(func.max(revisions.c.change))) or 0

    def boundaries(self, after: int, upto: int) -> list[int]:
        """The positions in ``after < position <= upto`` from which on other revisions or another ontology are valid."""
        ended = select(revisions.c.until).where(revisions.c.until > after, revisions.c.until <= upto)
        began = (select(c.since + 1).where(c.since >= after, c.since < upto) for c in (revisions.c, ontologies.c))
        with self._reading() as connection:
            return sorted(connection.scalars(union(ended, *began)))

    def last_boundary(self, position: int) -> int:
        """The last position, up to this one, from which on other revisions or another ontology were valid."""
        ended = select(func.max(revisions.c.until)).where(revisions.c.until <= position)
        began = (select(func.max(c.since) + 1).where(c.since < position) for c in (revisions.c, ontologies.c))
        with self._reading() as connection:
            return max((found for found in connection.scalars(union(ended, *began)) if found), default=0)


def _revise(connection: Connection, record: Mapping[str, Any]) -> int:
    since = revise(connection, record)
    deliveries.arrange(connection, record["id"], terms_of(record))
    return since


def _changed(after: int, upto: int, known: int) -> ColumnElement[bool]:
    new = (revisions.c.since > after) | (revisions.c.change > known)
    began = (revisions.c.since >= after) & (revisions.c.since < upto) & new
    return began | (revisions.c.until > after) & (revisions.c.until <= upto)
