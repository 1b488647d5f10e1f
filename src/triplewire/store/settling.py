"""Writing what came of sending: how far a delivery has got, and what it has left out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, case, delete, func, insert, select, update

from triplewire.store.moments import moment_of
from triplewire.store.records import Attempt
from triplewire.store.tables import contents, deliveries, omissions

UNDELIVERED, SUPPRESSED = "undelivered", "suppressed"


def settle(connection: Connection, attempt: Attempt) -> Row[Any] | None:
    """Write what came of an attempt, and return the delivery as it stands now, if it still does."""
    same = (deliveries.c.number == attempt.delivery.number) & (deliveries.c.url == attempt.delivery.url)
    values = _failed(attempt) if attempt.reason else _received(attempt)
    if connection.execute(update(deliveries).where(same).values(values)).rowcount == 0:
        return None
    if values.get("last") is not None:
        _omit(connection, attempt)
    _remember(connection, attempt)
    return connection.execute(select(deliveries).where(same)).first()


def _received(attempt: Attempt) -> dict[str, Any]:
    columns, values = deliveries.c, _moved(attempt)
    if attempt.count == 0:  # all that waited was left out
        return values
    return values | {
        "delivered": columns.delivered + attempt.count,
        "sent": columns.sent + attempt.count,
        "last_success": attempt.moment,
        "failing_since": None,
        "reason": "",
    }


def _failed(attempt: Attempt) -> dict[str, Any]:
    columns = deliveries.c
    values = {
        "sent": columns.sent + attempt.count,
        "failing_since": func.coalesce(columns.failing_since, attempt.moment),
        "reason": attempt.reason,
        "state": case((columns.state == "active", attempt.state), else_=columns.state),
    }
    if any(one.kind == UNDELIVERED for one in attempt.omitted):
        return values | _moved(attempt)
    tried = func.coalesce(columns.tried_since, attempt.moment)
    return values | {"attempts": columns.attempts + 1, "tried_since": tried, "due": attempt.due}


def _moved(attempt: Attempt) -> dict[str, Any]:
    """The mark moves on, unless somebody has moved it meanwhile."""
    columns = deliveries.c
    return {
        "last": case((columns.last == attempt.delivery.last, attempt.number), else_=columns.last),
        "attempts": 0,
        "tried_since": None,
        "due": attempt.due,
    }


def _omit(connection: Connection, attempt: Attempt) -> None:
    """Keep what was left out this time. What was left out before, and now was not, is no longer."""
    delivery, own = attempt.delivery, omissions.c.delivery == attempt.delivery.number
    passed = (omissions.c.notification > delivery.last) & (omissions.c.notification <= attempt.number)
    before = connection.execute(delete(omissions).where(own, passed)).rowcount
    for one in attempt.omitted:
        row = {"delivery": delivery.number, "notification": one.notification, "kind": one.kind}
        connection.execute(insert(omissions).values(row | {"reason": one.reason, "created": attempt.moment}))
    if before or attempt.omitted:
        counts = {
            kind: select(func.count()).where(own, omissions.c.kind == kind).scalar_subquery()
            for kind in (UNDELIVERED, SUPPRESSED)
        }
        connection.execute(update(deliveries).where(deliveries.c.number == delivery.number).values(counts))


def _remember(connection: Connection, attempt: Attempt) -> None:
    """Keep what was told, and let go of what was told so long ago that it may be told again."""
    if not attempt.told:
        return
    own = contents.c.delivery == attempt.delivery.number
    for one in attempt.told:
        connection.execute(delete(contents).where(own, contents.c.content == one.hash))
        row = {"notification": one.notification, "received": one.received, "content": one.hash}
        connection.execute(insert(contents).values(row | {"delivery": attempt.delivery.number}))
    newest = datetime.fromisoformat(max(one.received for one in attempt.told))
    ago = moment_of(newest - timedelta(seconds=attempt.delivery.terms.duplicates))
    connection.execute(delete(contents).where(own, contents.c.received < ago))
