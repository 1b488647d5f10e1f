"""Writing and reading notifications."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, and_, insert, select, update

from triplewire.store.bell import CHANNEL
from triplewire.store.database import POSTGRESQL, arrays, unnested
from triplewire.store.moments import now
from triplewire.store.records import Notification, Outcome, StoredLapse
from triplewire.store.tables import events, lapses, notifications

if TYPE_CHECKING:
    from triplewire.store.holders import Holders

NAMES = tuple(field.name for field in fields(Notification))
OF_EVENT = ("source", "body", "received")
BINDINGS = NAMES.index("bindings")
WRITTEN = ("position", "event", "subscription", "owner", "sequence", "score", "bindings", "version")
INTO = f"INSERT INTO notifications ({', '.join(WRITTEN)}, created)"
ADDING_EACH = f"{INTO} VALUES ({', '.join('?' * len(WRITTEN))}, ?)"
"""For SQLite, in its own words, as SQLAlchemy would take as long over each row as SQLite."""
ADDING = " ".join(
    (
        f"WITH new AS ({INTO} {unnested(notifications, WRITTEN)}, %(created)s RETURNING number)",
        "SELECT max(number), pg_notify(%(channel)s, max(number)::text) FROM new",
    )
)
"""For PostgreSQL, which tells all who listen of the newest once it is committed."""


def add(connection: Connection, outcomes: Iterable[Outcome], holders: Holders) -> None:
    """Add the notifications that are not there yet, each with the number after the last of its subscription.

    It is theirs who had the subscription at that position; their numbers begin with 1, also if the id was somebody
    else's before.
    """
    new = {one[:3]: one for one in outcomes}
    if not new:
        return
    places = [position for position, _, _ in new]
    key = notifications.c.position, notifications.c.event, notifications.c.subscription
    for row in connection.execute(select(*key).where(key[0].between(min(places), max(places)))):
        new.pop(tuple(row), None)
    if not new:
        return
    positions, ids, subscriptions, scores, bindings, versions = zip(*new.values(), strict=True)
    holders.learn(connection, subscriptions)
    given = [holders.next(connection, *one) for one in zip(subscriptions, positions, strict=True)]
    owners, sequences = zip(*given, strict=True)
    columns = (positions, ids, subscriptions, owners, sequences, scores, bindings, versions)
    holders.written(_insert(connection, dict(zip(WRITTEN, columns, strict=True))))


def _insert(connection: Connection, columns: dict[str, Sequence[Any]]) -> int:
    """Add rows in their order, given column by column, and return the last one's number.

    They bear the moment right before they are written: it is what delivery is measured from.
    """
    if connection.dialect.name == POSTGRESQL:
        given = arrays(notifications, columns, connection.dialect)
        return int(connection.exec_driver_sql(ADDING, given | {"channel": CHANNEL, "created": now()}).scalar_one())
    moment = now()
    rows = [(*row, moment) for row in zip(*columns.values(), strict=True)]
    connection.exec_driver_sql(ADDING_EACH, rows)
    return int(connection.exec_driver_sql("SELECT last_insert_rowid()").scalar_one())


def count_lapses(connection: Connection, some: Collection[StoredLapse], moment: str, holders: Holders) -> None:
    """Count lapses that were not counted before, as theirs who had the subscription at that position.

    Of each subscription only the last is kept: one that is given up on every event would else fill the disk.
    """
    if not some:
        return
    holders.learn(connection, {one.subscription for one in some})
    found: dict[tuple[str, str], list[StoredLapse]] = defaultdict(list)
    for one in sorted(some, key=lambda one: one.position):
        found[one.subscription, holders.owner(one.subscription, one.position)].append(one)
    for (subscription, owner), several in found.items():
        last, count = several[-1], len(several)
        told = {"position": last.position, "event": last.event, "reason": last.reason, "created": moment}
        own = (lapses.c.subscription == subscription) & (lapses.c.owner == owner)
        if connection.execute(update(lapses).where(own).values(told | {"count": lapses.c.count + count})).rowcount == 0:
            key = {"subscription": subscription, "owner": owner, "count": count}
            connection.execute(insert(lapses).values(told | key))


def of_subscription(subscription: Any, owner: Any) -> ColumnElement[bool]:
    """The notifications of a subscription, or an owner's of them, to be found by the subscription.

    An index by the owner would fit as well, and a database that took it would read all that the owner was ever told.
    """
    own: ColumnElement[bool] = notifications.c.subscription == subscription
    return own if owner is None else and_(own, notifications.c.owner.concat("") == owner)


def notified() -> Select[Any]:
    """Every notification, with its event, as ``notification_of`` reads it."""
    columns = (events.c[name] if name in OF_EVENT else notifications.c[name] for name in NAMES)
    return select(*columns).select_from(notifications).join(events, events.c.position == notifications.c.position)


def notification_of(row: Sequence[Any]) -> Notification:
    """By place, as whoever is told of much reads thousands of rows a second: by name takes twice as long."""
    values = list(row)
    values[BINDINGS] = json.loads(values[BINDINGS])
    return Notification(*values)
