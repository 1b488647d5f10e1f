"""Writing and reading notifications."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from math import inf
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, insert, select, update

from triplewire.store.database import insert_many, parts
from triplewire.store.moments import now
from triplewire.store.records import Notification, Outcome, StoredLapse
from triplewire.store.tables import events, lapses, notifications, revisions

NOBODY = ""
WRITTEN = ("position", "event", "subscription", "owner", "sequence", "score", "bindings", "version", "created")


def add(connection: Connection, outcomes: Iterable[Outcome]) -> None:
    """Add the notifications that are not there yet, each with the number after the last of its subscription.

    It is theirs who had the subscription at that position; their numbers begin with 1, also if the id was somebody
    else's before.
    """
    new = {(one.position, one.event, one.subscription): one for one in outcomes}
    if not new:
        return
    first, last = _ends(new.values())
    key = notifications.c.position, notifications.c.event, notifications.c.subscription
    for row in connection.execute(select(*key).where(notifications.c.position.between(first, last))):
        new.pop(tuple(row), None)
    if not new:
        return
    holders = _Holders(connection, new.values())
    moment = now()  # as late as can be: it is what delivery is measured from
    rows = [
        (one.position, one.event, one.subscription, *holders.next(one), one.score, one.bindings, one.version, moment)
        for one in new.values()
    ]
    insert_many(connection, notifications, WRITTEN, rows)


def count_lapses(connection: Connection, some: Collection[StoredLapse], moment: str) -> None:
    """Count lapses that were not counted before, as theirs who had the subscription at that position.

    Of each subscription only the last is kept: one that is given up on every event would else fill the disk.
    """
    if not some:
        return
    holders = _Holders(connection, some)
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


class _Holders:
    """Whose subscriptions are at some positions, and the numbers that were given out to them."""

    def __init__(self, connection: Connection, outcomes: Collection[Outcome | StoredLapse]) -> None:
        self._connection = connection
        self._last: dict[tuple[str, str], int] = {}
        self._lives: dict[str, list[tuple[int, float, str]]] = defaultdict(list)
        first, last = _ends(outcomes)
        alive = (revisions.c.since < last) & (revisions.c.until.is_(None) | (revisions.c.until > first))
        given = _last_number(revisions.c.id, revisions.c.owner).correlate(revisions).scalar_subquery()
        columns = revisions.c.id, revisions.c.owner, revisions.c.since, revisions.c.until, given.label("last")
        for some in parts({one.subscription for one in outcomes}):
            for row in connection.execute(select(*columns).where(revisions.c.id.in_(some), alive)):
                self._lives[row.id].append((row.since, inf if row.until is None else row.until, row.owner))
                self._last[row.id, row.owner] = row.last or 0

    def next(self, outcome: Outcome) -> tuple[str, int]:
        """Whose an outcome is, and its number."""
        id_ = outcome.subscription
        key = id_, self.owner(id_, outcome.position)
        if (last := self._last.get(key)) is None:
            last = self._connection.scalar(_last_number(*key)) or 0
        self._last[key] = last + 1
        return key[1], last + 1

    def owner(self, id_: str, position: int) -> str:
        """Whose a subscription is at a position."""
        for since, until, owner in self._lives[id_]:
            if since < position < until:
                return owner
        return NOBODY


def _ends(outcomes: Collection[Outcome | StoredLapse]) -> tuple[int, int]:
    """The first and the last position of some."""
    return min(one.position for one in outcomes), max(one.position for one in outcomes)


def _last_number(subscription: Any, owner: Any) -> Select[Any]:
    own = of_subscription(subscription, owner)
    return select(notifications.c.sequence).where(own).order_by(notifications.c.number.desc()).limit(1)


def of_subscription(subscription: Any, owner: Any) -> ColumnElement[bool]:
    """The notifications of a subscription, or an owner's of them, to be found by the subscription.

    An index by the owner would fit as well, and a database that took it would read all that the owner was ever told.
    """
    own: ColumnElement[bool] = notifications.c.subscription == subscription
    return own if owner is None else and_(own, notifications.c.owner.concat("") == owner)


def notified() -> Select[Any]:
    """Every notification, with its event."""
    return select(notifications, events.c.source, events.c.body, events.c.received).join(
        events, events.c.position == notifications.c.position
    )


def notification_of(row: Row[Any]) -> Notification:
    return Notification(**{**row._mapping, "bindings": json.loads(row.bindings)})
