"""What waits to be sent: which notifications are yet to be delivered, and by which deliveries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, ScalarSelect, bindparam, func, insert, literal, select, update

from triplewire.store.moments import now
from triplewire.store.notifications import notification_of, notified
from triplewire.store.records import Notification, Portion
from triplewire.store.rights import SUBSCRIBE, is_shut_out
from triplewire.store.settling import UNDELIVERED
from triplewire.store.tables import deliveries, notifications, omissions, revisions

ACTIVE = "active"
FOR_EVER = "9999"
TOO_OLD = "the event was not kept any longer while nothing was sent"


def is_waiting() -> ColumnElement[bool]:
    """Whether a notification is yet to be sent by a delivery."""
    same = notifications.c.subscription == deliveries.c.subscription
    after = notifications.c.number > deliveries.c.last
    return same & after & (notifications.c.position > deliveries.c.since)


def is_at_work(moment: str, owner: ColumnElement[Any] | None = None) -> ColumnElement[bool]:
    """Whether a delivery sends what there is: it is active, has not run out, and its owner may subscribe."""
    if owner is None:
        own = select(revisions.c.owner).where(revisions.c.id == deliveries.c.subscription, revisions.c.until.is_(None))
        owner = own.correlate(deliveries).scalar_subquery()
    stands = deliveries.c.until.is_(None) | (deliveries.c.until > moment)
    return (deliveries.c.state == ACTIVE) & stands & ~is_shut_out(owner, SUBSCRIBE)


def first_waiting(connection: Connection) -> int | None:
    """The position of the first event of which something is yet to be sent, by any delivery that is at work."""
    first = select(func.min(notifications.c.position)).join(deliveries, is_waiting()).where(is_at_work(now()))
    position: int | None = connection.scalar(first)
    return position


def pass_over(connection: Connection, upto: int) -> None:
    """Have deliveries that are not at work go on, one day, after what is up to a position; list what they leave out."""
    idle = ~is_at_work(now())
    old = idle & (notifications.c.position <= upto)
    left_out = select(deliveries.c.number, notifications.c.number, *map(literal, (UNDELIVERED, TOO_OLD, now())))
    columns = ("delivery", "notification", "kind", "reason", "created")
    new = insert(omissions).from_select(columns, left_out.join(notifications, is_waiting()).where(old, ~_is_omitted()))
    connection.execute(new)
    behind = select(func.min(notifications.c.number)).where(is_waiting(), notifications.c.position > upto)
    newest = select(func.max(notifications.c.number)).where(is_waiting())
    own = omissions.c.delivery == deliveries.c.number
    values = {
        "last": func.coalesce(
            behind.correlate(deliveries).scalar_subquery() - 1, newest.correlate(deliveries).scalar_subquery()
        ),
        "undelivered": select(func.count())
        .where(own, omissions.c.kind == UNDELIVERED)
        .correlate(deliveries)
        .scalar_subquery(),
    }
    passed = select(1).where(is_waiting(), notifications.c.position <= upto).correlate(deliveries).exists()
    connection.execute(update(deliveries).where(idle, passed).values(values))


def _is_omitted() -> ColumnElement[bool]:
    same = (omissions.c.delivery == deliveries.c.number) & (omissions.c.notification == notifications.c.number)
    return select(1).where(same).correlate(deliveries, notifications).exists()


NEXT = (
    notified()
    .join(deliveries, deliveries.c.subscription == notifications.c.subscription)
    .where(deliveries.c.number == bindparam("delivery"), notifications.c.number > bindparam("last"))
    .where(notifications.c.position > deliveries.c.since, notifications.c.created < bindparam("before"))
    .order_by(notifications.c.number)
    .limit(bindparam("limit"))
)
"""Made once, as making it takes longer than reading a notification."""


def _end(of: Callable[..., Any]) -> ScalarSelect[Any]:
    """The first or the last that waits for a delivery."""
    return select(of(notifications.c.number)).where(is_waiting()).correlate(deliveries).scalar_subquery()


ENDS = select(deliveries.c.number, deliveries.c.last, _end(func.min), _end(func.max))
ENDS = ENDS.where(deliveries.c.number.in_(bindparam("several", expanding=True)))
THESE = notified().where(notifications.c.number.in_(bindparam("several", expanding=True)))


def next_of(connection: Connection, portions: Sequence[Portion]) -> list[list[Notification]]:
    """What is to be delivered next, for each portion.

    Most deliveries have one notification waiting. These are read together, in two statements however many there are.
    """
    asked = {(one.delivery.number, one.delivery.last): one for one in portions}
    alone: dict[int, int | None] = {}
    for number, last, first, newest in connection.execute(ENDS, {"several": [number for number, _ in asked]}):
        one = asked.get((number, last))
        if one is not None and one.before is None and (one.limit == 1 or first == newest):
            alone[number] = first
    numbers = [first for first in alone.values() if first is not None]
    found = {row.number: notification_of(row) for row in connection.execute(THESE, {"several": numbers})}
    return [
        [found[first] for first in (alone[number],) if first in found] if number in alone else _some_of(connection, one)
        for (number, _), one in asked.items()
    ]


def _some_of(connection: Connection, portion: Portion) -> list[Notification]:
    bounds = {"last": portion.delivery.last, "limit": portion.limit, "before": portion.before or FOR_EVER}
    return [notification_of(row) for row in connection.execute(NEXT, {"delivery": portion.delivery.number} | bounds)]
