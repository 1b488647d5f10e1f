"""Deliveries: where subscriptions' notifications go, and how far they have got.

Notifications are delivered in order, so one number tells of all of them whether they are there. It is moved back to
deliver again, and forward to leave something out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, case, cast, delete, func, insert, select, true, update

from triplewire.errors import UsageError
from triplewire.store.notifications import notification_of, notified
from triplewire.store.records import Attempt, Delivery, Endpoint, Notification, Webhook
from triplewire.store.tables import Number, deliveries, notifications, revisions

ACTIVE, PAUSED, STOPPED, ENDED = "active", "paused", "stopped", "ended"
AT_ONCE: dict[str, Any] = {"attempts": 0, "failing_since": None, "reason": "", "due": ""}

Connecting = Callable[[], AbstractContextManager[Connection]]


class Deliveries:
    """The deliveries of a store."""

    def __init__(self, reading: Connecting, writing: Connecting) -> None:
        self._reading = reading
        self._writing = writing

    def put(self, subscription: str, webhook: Webhook, overlap_until: str) -> None:
        """Deliver a subscription's notifications, from the next one on, to a webhook; or change it to this one.

        A secret that is replaced is used beside the new one for a while.
        """
        with self._writing() as connection:
            put(connection, subscription, webhook, overlap_until)

    def remove(self, subscription: str) -> None:
        """Deliver no more. What it was, secrets included, is forgotten."""
        with self._writing() as connection:
            remove(connection, subscription)

    def of(self, subscriptions: Iterable[str], moment: str = "") -> dict[str, Delivery]:
        """The deliveries of some subscriptions, with the secrets that are good at a moment."""
        with self._reading() as connection:
            found = connection.execute(select(deliveries).where(deliveries.c.subscription.in_(list(subscriptions))))
            return {row.subscription: _delivery(row, moment) for row in found}

    def listed(self, after: int, limit: int, owner: str | None = None) -> list[Delivery]:
        """Deliveries in the order in which they were set up, beginning after a number; those of one owner."""
        query = select(deliveries).where(deliveries.c.number > after, _of(owner))
        query = query.order_by(deliveries.c.number).limit(limit)
        with self._reading() as connection:
            return [_delivery(row, "") for row in connection.execute(query)]

    def pending(self, subscriptions: Iterable[str]) -> dict[str, int]:
        """How many notifications of some subscriptions are yet to be delivered."""
        query = select(deliveries.c.subscription, func.count()).join(notifications, _waiting())
        query = query.where(deliveries.c.subscription.in_(list(subscriptions))).group_by(deliveries.c.subscription)
        with self._reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def endpoints(self, owner: str | None = None) -> list[Endpoint]:
        """Everything that goes to one address together, by address; or what goes there of one owner's."""
        waiting = select(func.count()).where(_waiting()).correlate(deliveries).scalar_subquery()
        each = select(deliveries, waiting.label("pending")).where(_of(owner)).subquery().c
        sums = (cast(func.sum(column), Number) for column in (each.delivered, each.sent, each.pending))
        last = (func.min(each.failing_since), func.max(each.reason), func.max(each.last_success))
        query = select(each.url, func.count(), func.count(each.failing_since), *sums, *last)
        with self._reading() as connection:
            return [Endpoint(*row) for row in connection.execute(query.group_by(each.url).order_by(each.url))]

    def due(self, moment: str) -> list[tuple[str, str]]:
        """The subscriptions of which something is to be sent now, with the address; longest due first."""
        query = select(deliveries.c.subscription, deliveries.c.url)
        query = query.where(deliveries.c.state == ACTIVE, deliveries.c.due <= moment)
        query = query.where(select(1).where(_waiting()).correlate(deliveries).exists()).order_by(deliveries.c.due)
        with self._reading() as connection:
            return [(row.subscription, row.url) for row in connection.execute(query)]

    def waiting(self, subscription: str, after: int, limit: int) -> list[Notification]:
        """The next notifications that are to be delivered."""
        query = notified().join(deliveries, deliveries.c.subscription == notifications.c.subscription)
        query = query.where(deliveries.c.subscription == subscription, notifications.c.number > after)
        query = query.where(notifications.c.position > deliveries.c.since)
        with self._reading() as connection:
            rows = connection.execute(query.order_by(notifications.c.number).limit(limit))
            return [notification_of(row) for row in rows]

    def newest(self, subscription: str, limit: int) -> list[Notification]:
        """The newest notifications of a subscription that are its present owner's, the newest first."""
        with self._reading() as connection:
            since = _since(connection, subscription)
            own = (notifications.c.subscription == subscription) & (notifications.c.position > since)
            rows = connection.execute(notified().where(own).order_by(notifications.c.number.desc()).limit(limit))
            return [notification_of(row) for row in rows]

    def settle(self, attempts: Sequence[Attempt]) -> list[Delivery | None]:
        """Write what came of attempts, and return how each delivery stands now, if it still does.

        What was changed meanwhile, by whoever set it up, is left as it is.
        """
        with self._writing() as connection:
            return [_settle(connection, attempt) for attempt in attempts]

    def pause(self, subscription: str) -> None:
        """Send nothing until it is resumed. What comes in between waits."""
        self._change(subscription, {"state": PAUSED})

    def resume(self, subscription: str) -> None:
        """Go on, at once, with what is waiting."""
        self._change(subscription, {"state": ACTIVE} | AT_ONCE)

    def move(self, subscription: str, position: int) -> None:
        """Go on, at once, with what is at a log position, be it delivered already or not."""
        before = (notifications.c.subscription == subscription) & (notifications.c.position < position)
        last = select(func.coalesce(func.max(notifications.c.number), 0)).where(before).scalar_subquery()
        self._change(subscription, {"last": last} | AT_ONCE)

    def _change(self, subscription: str, values: dict[str, Any]) -> None:
        changed = update(deliveries).where(deliveries.c.subscription == subscription).values(values)
        with self._writing() as connection:
            if connection.execute(changed).rowcount == 0:
                raise UsageError(f"nothing is delivered of the subscription {subscription!r}")


def put(connection: Connection, subscription: str, webhook: Webhook, overlap_until: str) -> None:
    values = {"url": webhook.url, "format": webhook.format, "secret": webhook.secret}
    known = connection.execute(select(deliveries).where(deliveries.c.subscription == subscription)).first()
    if known is None:
        newest = select(func.max(notifications.c.number)).where(notifications.c.subscription == subscription)
        begin = {"since": _since(connection, subscription), "last": connection.scalar(newest) or 0}
        row = {"subscription": subscription, "state": ACTIVE, "due": ""} | begin | values
        connection.execute(insert(deliveries).values(row))
        return
    if webhook.secret != known.secret:
        values |= {"old_secret": known.secret, "old_until": overlap_until}
    if webhook.url != known.url:
        values |= {"state": PAUSED if known.state == PAUSED else ACTIVE} | AT_ONCE
    connection.execute(update(deliveries).where(deliveries.c.number == known.number).values(values))


def remove(connection: Connection, subscription: str) -> None:
    connection.execute(delete(deliveries).where(deliveries.c.subscription == subscription))


def _since(connection: Connection, subscription: str) -> int:
    """The position after which a subscription is its present owner's, as somebody else may have had the id before."""
    owner = select(revisions.c.owner).where(revisions.c.id == subscription, revisions.c.until.is_(None))
    other = (revisions.c.id == subscription) & (revisions.c.owner != owner.scalar_subquery())
    last = select(func.coalesce(func.max(revisions.c.change), 0)).where(other).scalar_subquery()
    own = (revisions.c.id == subscription) & (revisions.c.change > last)
    return connection.scalar(select(func.min(revisions.c.since)).where(own)) or 0


def _of(owner: str | None) -> ColumnElement[bool]:
    if owner is None:
        return true()
    own = select(revisions.c.id).where(revisions.c.owner == owner, revisions.c.until.is_(None))
    return deliveries.c.subscription.in_(own)


def _waiting() -> ColumnElement[bool]:
    same = notifications.c.subscription == deliveries.c.subscription
    after = notifications.c.number > deliveries.c.last
    return same & after & (notifications.c.position > deliveries.c.since)


def _settle(connection: Connection, attempt: Attempt) -> Delivery | None:
    one, columns = attempt.delivery, deliveries.c
    if attempt.reason:
        values: dict[str, Any] = {
            "attempts": columns.attempts + 1,
            "failing_since": func.coalesce(columns.failing_since, attempt.moment),
            "reason": attempt.reason,
            "state": case((columns.state == ACTIVE, attempt.state), else_=columns.state),
            "due": attempt.due,
        }
    else:
        here = columns.last == one.last
        values = AT_ONCE | {
            "last": case((here, attempt.number), else_=columns.last),
            "delivered": columns.delivered + 1,
            "last_success": attempt.moment,
            "due": attempt.due,
        }
    same = (columns.number == one.number) & (columns.url == one.url)
    connection.execute(update(deliveries).where(same).values(values | {"sent": columns.sent + 1}))
    row = connection.execute(select(deliveries).where(same)).first()
    return None if row is None else _delivery(row, attempt.moment)


def _delivery(row: Row[Any], moment: str) -> Delivery:
    old = (row.old_secret,) if row.old_secret and row.old_until > moment else ()
    return Delivery(
        row.number,
        row.subscription,
        row.url,
        row.format,
        row.state,
        row.last,
        row.attempts,
        row.delivered,
        row.sent,
        row.failing_since,
        row.reason,
        row.last_success,
        row.due,
        (row.secret, *old),
    )
