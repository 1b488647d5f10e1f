"""Writing and reading notifications."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, select
from sqlalchemy.dialects.sqlite import Insert, insert

from triplewire.store.records import Notification
from triplewire.store.tables import events, notifications


def numbered() -> Insert:
    """Adds a notification ``of`` a subscription, unless it is there, with the number after the last one's."""
    own = notifications.c.subscription == bindparam("of")
    last = select(notifications.c.sequence).where(own).order_by(notifications.c.number.desc()).limit(1)
    known = [notifications.c.position, notifications.c.event, notifications.c.subscription]
    return (
        insert(notifications)
        .values(sequence=func.coalesce(last.scalar_subquery(), 0) + 1)
        .on_conflict_do_nothing(index_elements=known)
    )


def notified() -> Select[Any]:
    """Every notification, with its event."""
    return select(notifications, events.c.source, events.c.body).join(
        events, events.c.position == notifications.c.position
    )


def notification_of(row: Row[Any]) -> Notification:
    return Notification(**{**row._mapping, "bindings": json.loads(row.bindings)})
