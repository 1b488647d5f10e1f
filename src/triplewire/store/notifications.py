"""Writing and reading notifications."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Insert, Row, Select, bindparam, func, select

from triplewire.store.database import insert_new
from triplewire.store.records import Notification
from triplewire.store.tables import events, notifications, revisions

NOBODY = ""


def numbered(connection: Connection) -> Insert:
    """Adds a notification ``of`` a subscription ``at`` a position, unless it is there, with the number after the last.

    It is theirs who had the subscription there; their numbers begin with 1, also if the id was somebody else's before.
    """
    alive = revisions.c.until.is_(None) | (revisions.c.until > bindparam("at"))
    valid = (revisions.c.id == bindparam("of")) & (revisions.c.since < bindparam("at")) & alive
    found = select(revisions.c.owner).where(valid).limit(1).scalar_subquery()
    owner = func.coalesce(found, NOBODY)
    own = (notifications.c.subscription == bindparam("of")) & (notifications.c.owner == owner)
    last = select(notifications.c.sequence).where(own).order_by(notifications.c.number.desc()).limit(1)
    sequence = func.coalesce(last.scalar_subquery(), 0) + 1
    return insert_new(connection, notifications).values(owner=owner, sequence=sequence)


def notified() -> Select[Any]:
    """Every notification, with its event."""
    return select(notifications, events.c.source, events.c.body, events.c.received).join(
        events, events.c.position == notifications.c.position
    )


def notification_of(row: Row[Any]) -> Notification:
    return Notification(**{**row._mapping, "bindings": json.loads(row.bindings)})
