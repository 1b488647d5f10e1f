"""Reading notifications."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row, Select, select

from triplewire.store.records import Notification
from triplewire.store.tables import events, notifications


def notified() -> Select[Any]:
    """Every notification, with its event."""
    columns = (notifications.c.number, notifications.c.position, notifications.c.event, events.c.source, events.c.body)
    rest = (notifications.c.subscription, notifications.c.score, notifications.c.bindings, notifications.c.created)
    return select(*columns, *rest).join(events, events.c.position == notifications.c.position)


def notification_of(row: Row[Any]) -> Notification:
    return Notification(**{**row._mapping, "bindings": json.loads(row.bindings)})
