"""What came of matching: notifications, and how far the pipeline has got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter

from sqlalchemy import Connection, bindparam, func, literal_column, select
from sqlalchemy.dialects import sqlite

from triplewire.store.database import Part
from triplewire.store.holders import Holders
from triplewire.store.letters import write_letters
from triplewire.store.marks import BEFORE, PIPELINE, mark, set_mark
from triplewire.store.moments import now
from triplewire.store.notifications import add, count_lapses, notification_of, notified, of_subscription
from triplewire.store.people import write_offers
from triplewire.store.records import DeadLetter, Latest, Notification, Offer, Outcome, StoredLapse
from triplewire.store.revisions import expired
from triplewire.store.tables import lapses, notifications

AFTER = notified().where(notifications.c.number > bindparam("after")).order_by(notifications.c.number)
NEXT = f"{AFTER.compile(dialect=sqlite.dialect(paramstyle='named'))} LIMIT :most"
NEWEST = str(select(func.coalesce(func.max(notifications.c.number), literal_column("0"))))


class Outcomes(Part):
    """The outcomes in a store."""

    _holders: Holders | None = None

    def record(
        self,
        outcomes: Iterable[Outcome],
        refused: Iterable[DeadLetter],
        upto: int,
        offers: Iterable[Offer] = (),
        lapses: Iterable[StoredLapse] = (),
    ) -> None:
        """Write what matching came to, and that the pipeline is done up to a position, all or nothing.

        Writing the same again changes nothing, so that a batch may be replayed. A match with an event that was received
        after the subscription had expired is left out.
        """
        found, given_up = sorted(outcomes, key=itemgetter(0)), list(lapses)
        with self._writing() as connection:
            places = [one.position for one in found[:1]] + [one.position for one in given_up]
            holders = self._holders_from(connection, min(places, default=upto))
            if found and (late := expired(connection, found[0].position, found[-1].position)) is not None:
                found = [one for one in found if not late(one.subscription, one.position)]
            moment = now()
            write_letters(connection, refused, moment)
            write_offers(connection, offers)
            done = mark(connection, PIPELINE)
            count_lapses(connection, [one for one in given_up if one.position > done], moment, holders)
            if upto > done:
                set_mark(connection, BEFORE, done)
                set_mark(connection, PIPELINE, upto)
            add(connection, found, holders)  # last, as those who wait for them are told at the end
        self._holders = holders

    def _holders_from(self, connection: Connection, first: int) -> Holders:
        """Those of the last time if they still hold. They are put away until all is written, else they are not true."""
        kept, self._holders = self._holders, None
        if kept is not None and kept.still_hold(connection, first):
            return kept
        return Holders(connection, first)

    def pipeline_position(self) -> int:
        """The position up to which the pipeline is done."""
        with self._reading() as connection:
            return mark(connection, PIPELINE)

    def notifications(
        self, after: int = 0, limit: int = 100, subscription: str | None = None, owner: str | None = None
    ) -> list[Notification]:
        """Notifications in the order in which they were written, beginning after a number; those of an owner."""
        query = notified().where(notifications.c.number > after)
        if subscription is not None:
            query = query.where(of_subscription(subscription, owner))
        elif owner is not None:
            query = query.where(notifications.c.owner == owner)
        with self._database.asking() as connection:
            rows = connection.execute(query.order_by(notifications.c.number).limit(limit))
            return [notification_of(row) for row in rows]

    def notification(self, number: int) -> Notification | None:
        """One notification."""
        with self._reading() as connection:
            row = connection.execute(notified().where(notifications.c.number == number)).first()
            return None if row is None else notification_of(row)

    def latest_of(self, owners: Mapping[str, str]) -> dict[str, Latest]:
        """The newest notification of each of some subscriptions, which are these owners', if there is one."""
        found: dict[str, Latest] = {}
        columns = select(notifications.c.number, notifications.c.sequence, notifications.c.created)
        with self._reading() as connection:
            for id_, owner in owners.items():
                newest = columns.where(of_subscription(id_, owner)).order_by(notifications.c.number.desc()).limit(1)
                if (row := connection.execute(newest).first()) is not None:
                    found[id_] = Latest(*row)
        return found

    def last_notification(self) -> int:
        """The newest notification's number; 0 if there never was one."""
        with self._database.asking() as connection:
            return connection.scalar(select(func.max(notifications.c.number))) or 0

    def glance(self) -> int | None:
        """The same, if it takes no time to tell; else None, and whoever asks is to look. For one thread."""
        if self._database.bell is not None:
            return self._database.bell.newest()
        found = self._database.glance(NEWEST)
        return None if found is None else int(found[0][0])

    def look(self) -> int:
        """The same as it is read; where we can be told of what is new, glances tell it for a while."""
        bell = self._database.bell
        return self.last_notification() if bell is None else bell.ask(self.last_notification)

    def at_a_glance(self, after: int, limit: int) -> list[Notification] | None:
        """The notifications after a number, if it takes no time to read them; else None. For one thread."""
        found = self._database.glance(NEXT, after=after, most=limit)
        return None if found is None else [notification_of(row) for row in found]

    def lapses(self, subscription: str, owner: str) -> tuple[int, StoredLapse | None]:
        """On how many events an owner's subscription was given up, and the last of them, if that is still kept."""
        own = (lapses.c.subscription == subscription) & (lapses.c.owner == owner)
        with self._reading() as connection:
            row = connection.execute(select(lapses).where(own)).first()
        if row is None:
            return 0, None
        return row._mapping["count"], StoredLapse(row.position, row.event, row.subscription, row.reason, row.created)
