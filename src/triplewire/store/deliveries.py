"""Deliveries: where subscriptions' notifications go, and how far they have got.

Notifications are delivered in order, so one number tells of all of them whether they are there. It is moved back to
deliver again, and forward to leave something out; what a delivery left out by itself is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    case,
    cast,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from triplewire.errors import UsageError
from triplewire.store.audit import note
from triplewire.store.database import Part
from triplewire.store.marks import CUT, mark
from triplewire.store.moments import moment_of
from triplewire.store.notifications import notification_of, notified
from triplewire.store.records import (
    Attempt,
    Callback,
    Content,
    Delivery,
    Due,
    Endpoint,
    Mailbox,
    Notification,
    Omission,
    Portion,
    Standing,
    Webhook,
)
from triplewire.store.revisions import current
from triplewire.store.settling import settle
from triplewire.store.tables import Number, contents, deliveries, mailboxes, notifications, omissions, revisions
from triplewire.store.terms import Terms, boundary, terms_of
from triplewire.store.waiting import ACTIVE, is_at_work, is_waiting, next_of

PAUSED, STOPPED, ENDED, UNCONFIRMED = "paused", "stopped", "ended", "unconfirmed"
MAIL = "mailto:"
WEBSUB = "websub"
"""The one channel of which a subscription may have many deliveries, set up by others than its owner."""
MOST_FOLLOWERS = 100
AT_ONCE: dict[str, Any] = {"attempts": 0, "tried_since": None, "failing_since": None, "reason": "", "due": ""}

STANDING = case(
    (deliveries.c.failing_since.is_not(None), Standing.FAILING.value),
    (deliveries.c.last_success.is_(None), Standing.NEW.value),
    else_=Standing.PROVEN.value,
).label("standing")


class Deliveries(Part):
    """The deliveries of a store."""

    def put(
        self,
        subscription: str,
        place: Webhook | Mailbox,
        overlap_until: str,
        owner: str | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Deliver a subscription's notifications, from the next one on, to a place; or change it to this one.

        A secret that is replaced is used beside the new one for a while. Nothing is done if the subscription is not
        the ``owner``'s any more. If ``check`` raises an error, all stays as it is.
        """
        with self._writing() as connection:
            check()
            if owner is not None and not _is_owner(connection, subscription, owner):
                return
            put(connection, subscription, place, overlap_until)
            note(connection, "delivery", subscription, "set up")

    def remove(self, subscription: str, check: Callable[[], None] = lambda: None) -> None:
        """Deliver no more. What it was, secrets included, is forgotten; unless ``check`` raises an error."""
        with self._writing() as connection:
            check()
            remove(connection, subscription, deliveries.c.channel != WEBSUB)
            note(connection, "delivery", subscription, "removed")

    def follow(self, subscription: str, callback: Callback, owner: str) -> None:
        """Send a subscription's notifications, from the next one on, to a callback as well; or do so for longer.

        Nothing is done if the subscription is not the ``owner``'s any more.
        """
        with self._writing() as connection:
            if not _is_owner(connection, subscription, owner):
                return
            follow(connection, subscription, callback)
            note(connection, "delivery", subscription, "followed", WEBSUB)

    def unfollow(self, subscription: str, url: str) -> None:
        """Send no more to a callback."""
        with self._writing() as connection:
            remove(connection, subscription, (deliveries.c.channel == WEBSUB) & (deliveries.c.url == url))
            note(connection, "delivery", subscription, "no longer followed", WEBSUB)

    def of(self, subscriptions: Iterable[str], moment: str = "") -> dict[str, Delivery]:
        """The deliveries of some subscriptions, with the secrets that are good at a moment."""
        with self._reading() as connection:
            found = connection.execute(select(deliveries).where(_own(subscriptions)))
            return {row.subscription: delivery_of(row, moment) for row in found}

    def at(self, numbers: Iterable[int], moment: str = "") -> dict[int, Delivery]:
        """Some deliveries by their numbers, with the secrets that are good at a moment."""
        with self._reading() as connection:
            found = connection.execute(select(deliveries).where(deliveries.c.number.in_(list(numbers))))
            return {row.number: delivery_of(row, moment) for row in found}

    def listed(self, after: int, limit: int, owner: str | None = None) -> list[Delivery]:
        """Deliveries in the order in which they were set up, beginning after a number; those of one owner."""
        query = select(deliveries).where(deliveries.c.number > after, deliveries.c.channel != WEBSUB, _of(owner))
        with self._reading() as connection:
            rows = connection.execute(query.order_by(deliveries.c.number).limit(limit))
            return [delivery_of(row, "") for row in rows]

    def is_followed(self, subscription: str, url: str) -> bool:
        """Whether a subscription's notifications are sent to a callback already."""
        same = (
            (deliveries.c.subscription == subscription) & (deliveries.c.channel == WEBSUB) & (deliveries.c.url == url)
        )
        with self._reading() as connection:
            return connection.execute(select(deliveries.c.number).where(same)).first() is not None

    def count(self, owner: str) -> int:
        """To how many places an owner's notifications are sent, by whoever set that up."""
        query = select(func.count()).select_from(deliveries).where(_of(owner))
        with self._reading() as connection:
            return connection.scalar(query) or 0

    def pending(self, subscriptions: Iterable[str]) -> dict[str, int]:
        """How many notifications of some subscriptions are yet to be delivered."""
        query = select(deliveries.c.subscription, func.count()).join(notifications, is_waiting())
        query = query.where(_own(subscriptions)).group_by(deliveries.c.subscription)
        with self._reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def waiting_up_to(self, subscriptions: Iterable[str], most: int) -> dict[str, int]:
        """How many notifications of some subscriptions are yet to be delivered, each counted up to ``most``."""
        found: dict[str, int] = {}
        with self._reading() as connection:
            for id_ in subscriptions:
                some = (
                    select(1).select_from(deliveries).join(notifications, is_waiting()).where(_own([id_])).limit(most)
                )
                found[id_] = connection.scalar(select(func.count()).select_from(some.subquery())) or 0
        return found

    def backlog(self) -> dict[str, int]:
        """How many notifications are yet to be delivered, by channel."""
        query = (
            select(deliveries.c.channel, func.count()).join(notifications, is_waiting()).group_by(deliveries.c.channel)
        )
        with self._reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def endpoints(self, owner: str | None = None) -> list[Endpoint]:
        """Everything that goes to one address together, by address; or what goes there of one owner's."""
        waiting = select(func.count()).where(is_waiting()).correlate(deliveries).scalar_subquery()
        each = select(deliveries, waiting.label("pending")).where(_of(owner)).subquery().c
        counted = (each.delivered, each.undelivered, each.sent, each.pending)
        sums = (cast(func.sum(column), Number) for column in counted)
        last = (func.min(each.failing_since), func.max(each.reason), func.max(each.last_success))
        query = select(each.url, func.count(), func.count(each.failing_since), *sums, *last)
        with self._reading() as connection:
            return [Endpoint(*row) for row in connection.execute(query.group_by(each.url).order_by(each.url))]

    def due(self, moment: datetime, worst: Standing = Standing.FAILING) -> list[Due]:
        """The deliveries of which something is to be sent now, of a standing up to the ``worst``.

        By their standing. Of the same standing all owners in turn; of one owner's the highest priority first, then the
        longest due.
        """
        now = moment_of(moment)
        good = is_at_work(now, revisions.c.owner) & (deliveries.c.due <= now)
        if worst < Standing.FAILING:
            good &= deliveries.c.failing_since.is_(None)
        with self._reading() as connection:
            periods = connection.scalars(select(deliveries.c.digest).where(deliveries.c.digest > 0).distinct()).all()
            over = (
                and_(deliveries.c.digest == one, notifications.c.created < boundary(moment, one)) for one in periods
            )
            waiting = select(1).where(is_waiting(), or_(deliveries.c.digest == 0, *over)).correlate(deliveries).exists()
            named = deliveries.c.number, deliveries.c.subscription, revisions.c.owner, deliveries.c.url
            # An index by "until" would fit as well, and lead through all subscriptions, delivered or not.
            stands = (revisions.c.id == deliveries.c.subscription) & (revisions.c.until + 0).is_(None)
            query = select(*named, STANDING).join(revisions, stands).where(good, waiting)
            rows = connection.execute(query.order_by(STANDING, deliveries.c.priority.desc(), deliveries.c.due))
            turns: Counter[tuple[int, str]] = Counter()
            found = []
            for row in rows:
                turns[row.standing, row.owner] += 1
                due = Due(row.number, row.subscription, row.owner, row.url, Standing(row.standing))
                found.append((row.standing, turns[row.standing, row.owner], due))
            return [due for *_, due in sorted(found, key=lambda one: one[:2])]

    def waiting(self, portions: Iterable[Portion]) -> list[list[Notification]]:
        """The notifications that are to be delivered next, for each portion; all read in one transaction."""
        with self._reading() as connection:
            return next_of(connection, list(portions))

    def contents(self, delivery: int, hashes: Iterable[str]) -> dict[str, Content]:
        """Which of some contents a delivery has told of late."""
        query = select(contents.c.content, contents.c.notification, contents.c.received)
        query = query.where(contents.c.delivery == delivery, contents.c.content.in_(list(hashes)))
        with self._reading() as connection:
            return {row.content: Content(*row) for row in connection.execute(query)}

    def omissions(self, delivery: int, after: int, limit: int) -> list[Omission]:
        """The notifications that a delivery has left out, in order, beginning after a number."""
        query = select(omissions.c.notification, omissions.c.kind, omissions.c.reason, omissions.c.created)
        query = query.where(omissions.c.delivery == delivery, omissions.c.notification > after)
        with self._reading() as connection:
            rows = connection.execute(query.order_by(omissions.c.notification).limit(limit))
            return [Omission(*row) for row in rows]

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
            rows = settle(connection, attempts)
            return [row and delivery_of(row, one.moment) for one, row in zip(attempts, rows, strict=True)]

    def move(
        self, subscription: str, position: int, check: Callable[[], None] = lambda: None, back: bool = False
    ) -> None:
        """Go on, at once, with what is at a log position, be it delivered already or not.

        Only ``back``: nothing is left out that waits. If ``check`` raises an error, it stays where it is.
        """
        before = (notifications.c.subscription == subscription) & (notifications.c.position < position)
        last: ColumnElement[int] = (
            select(func.coalesce(func.max(notifications.c.number), 0)).where(before).scalar_subquery()
        )
        if back:
            last = case((deliveries.c.last < last, deliveries.c.last), else_=last)
        with self._writing() as connection:
            check()
            if (cut := mark(connection, CUT)) and position <= cut:
                raise UsageError(f"events are kept from position {cut + 1} on; what was before cannot be sent again")
            moved = update(deliveries).where(_own([subscription])).values({"last": last} | AT_ONCE)
            if connection.execute(moved).rowcount == 0:
                raise UsageError(f"nothing is delivered of the subscription {subscription!r}")
            note(connection, "delivery", subscription, f"repeated from position {position}")


def put(connection: Connection, subscription: str, place: Webhook | Mailbox, overlap_until: str) -> None:
    values = {"channel": place.channel, "url": place.url, "format": place.format, "secret": place.secret}
    known = connection.execute(select(deliveries).where(_own([subscription]))).first()
    if known is None:
        beginning = {"due": ""} | _beginning(connection, subscription, place.url)
        connection.execute(insert(deliveries).values(beginning | values))
        return
    if place.secret != known.secret:
        values |= {"old_secret": known.secret, "old_until": overlap_until}
    if place.url != known.url:
        values |= {"state": first_state(connection, subscription, place.url)} | AT_ONCE
    connection.execute(update(deliveries).where(deliveries.c.number == known.number).values(values))


def is_confirmed(connection: Connection, owner: str, address: str) -> bool:
    """Whether whoever reads the mail at an address has agreed to get a user's."""
    good = (mailboxes.c.owner == owner) & (mailboxes.c.address == address) & mailboxes.c.confirmed.is_not(None)
    return connection.execute(select(mailboxes.c.address).where(good)).first() is not None


def first_state(connection: Connection, subscription: str, url: str) -> str:
    """The state of a delivery that nothing has happened to."""
    standing = current(connection, subscription)
    if url.startswith(MAIL) and not (standing and is_confirmed(connection, standing.owner, url.removeprefix(MAIL))):
        return UNCONFIRMED
    return PAUSED if standing is not None and terms_of(standing.record).paused else ACTIVE


def arrange(connection: Connection, subscription: str, terms: Terms) -> None:
    """Have the notifications of a subscription sent on other terms."""
    own = deliveries.c.subscription == subscription
    connection.execute(update(deliveries).where(own).values(_columns(terms)))
    before, after = (ACTIVE, PAUSED) if terms.paused else (PAUSED, ACTIVE)
    connection.execute(update(deliveries).where(own, deliveries.c.state == before).values(state=after))


def restart(connection: Connection, subscription: str) -> None:
    """Go on, at once, with what is waiting, also after it was stopped or ended."""
    good = _own([subscription]) & (deliveries.c.state != UNCONFIRMED)
    connection.execute(update(deliveries).where(good).values({"state": ACTIVE} | AT_ONCE))


def _beginning(connection: Connection, subscription: str, url: str) -> dict[str, Any]:
    """A delivery of what comes next, on the terms that the subscription has now."""
    newest = select(func.max(notifications.c.number)).where(notifications.c.subscription == subscription)
    standing = current(connection, subscription)
    terms = terms_of(standing.record) if standing is not None else Terms()
    return _columns(terms) | {
        "subscription": subscription,
        "state": first_state(connection, subscription, url),
        "since": _since(connection, subscription),
        "last": connection.scalar(newest) or 0,
    }


def _columns(terms: Terms) -> dict[str, int]:
    return {name: value for name, value in asdict(terms).items() if name != "paused"}


def follow(connection: Connection, subscription: str, callback: Callback) -> None:
    values = {"format": callback.topic, "secret": callback.secret, "until": callback.until, "token": callback.token}
    ours = (deliveries.c.subscription == subscription) & (deliveries.c.channel == WEBSUB)
    same = ours & (deliveries.c.url == callback.url)
    if connection.execute(update(deliveries).where(same).values(values)).rowcount:
        restart_if_ended = same & deliveries.c.state.in_((ENDED, STOPPED))
        connection.execute(update(deliveries).where(restart_if_ended).values({"state": ACTIVE} | AT_ONCE))
        return
    if (connection.scalar(select(func.count()).where(ours)) or 0) >= MOST_FOLLOWERS:
        raise UsageError(f"the subscription {subscription!r} has {MOST_FOLLOWERS} followers already")
    place = {"channel": WEBSUB, "url": callback.url, "due": ""}
    beginning = _beginning(connection, subscription, callback.url)
    connection.execute(insert(deliveries).values(beginning | place | values))


def remove(connection: Connection, subscription: str, which: ColumnElement[bool] | None = None) -> None:
    """Forget the deliveries of a subscription, or some of them."""
    _forget(connection, (deliveries.c.subscription == subscription) & (true() if which is None else which))


def remove_followers(connection: Connection, token: int) -> None:
    """Forget the callbacks that were set up with a token."""
    _forget(connection, deliveries.c.token == token)


def _forget(connection: Connection, gone: ColumnElement[bool]) -> None:
    own = select(deliveries.c.number).where(gone)
    for table in (omissions, contents):
        connection.execute(delete(table).where(table.c.delivery.in_(own)))
    connection.execute(delete(deliveries).where(gone))


def _since(connection: Connection, subscription: str) -> int:
    """The position after which a subscription is its present owner's, as somebody else may have had the id before."""
    owner = select(revisions.c.owner).where(revisions.c.id == subscription, revisions.c.until.is_(None))
    other = (revisions.c.id == subscription) & (revisions.c.owner != owner.scalar_subquery())
    last = select(func.coalesce(func.max(revisions.c.change), 0)).where(other).scalar_subquery()
    own = (revisions.c.id == subscription) & (revisions.c.change > last)
    return connection.scalar(select(func.min(revisions.c.since)).where(own)) or 0


def _is_owner(connection: Connection, subscription: str, owner: str) -> bool:
    standing = select(revisions.c.owner).where(revisions.c.id == subscription, revisions.c.until.is_(None))
    return connection.scalar(standing) == owner


def _own(subscriptions: Iterable[str]) -> ColumnElement[bool]:
    """The deliveries of some subscriptions that their owners set up."""
    return deliveries.c.subscription.in_(list(subscriptions)) & (deliveries.c.channel != WEBSUB)


def _of(owner: str | None) -> ColumnElement[bool]:
    if owner is None:
        return true()
    own = (revisions.c.id == deliveries.c.subscription) & (revisions.c.owner == owner) & revisions.c.until.is_(None)
    return select(revisions.c.id).where(own).exists()  # by id: an owner may have very many


def delivery_of(row: Row[Any], moment: str) -> Delivery:
    old = (row.old_secret,) if row.old_secret and row.old_until > moment else ()
    terms = Terms(row.state == PAUSED, row.priority, row.throttling, row.digest, row.duplicates)
    return Delivery(
        row.number,
        row.subscription,
        row.channel,
        row.url,
        row.format,
        row.state,
        row.last,
        row.attempts,
        row.delivered,
        row.undelivered,
        row.suppressed,
        row.sent,
        row.tried_since,
        row.failing_since,
        row.reason,
        row.last_success,
        row.due,
        row.until,
        terms,
        (row.secret, *old),
    )
