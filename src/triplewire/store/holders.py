"""Whose subscriptions are, and the numbers that their notifications were given."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from sqlalchemy import Connection, Select, func, select

from triplewire.store.database import parts
from triplewire.store.moments import last_position
from triplewire.store.notifications import of_subscription
from triplewire.store.tables import notifications, revisions

NOBODY = ""
MOST = 100_000
"""So many subscriptions are remembered, or a batch's more."""


class Holders:
    """What is known of subscriptions at the positions from ``first`` on.

    It is asked in the midst of writing, and may be kept until the next time: a batch of events trips the subscriptions
    of the one before, and to look each of them up takes longer than to write.
    """

    def __init__(self, connection: Connection, first: int) -> None:
        self._first = first
        self._position = last_position(connection)
        self._state = _state(connection)[:2]
        self._lives: dict[str, list[tuple[int, float, str]]] = {}
        self._last: dict[tuple[str, str], int] = {}

    def still_hold(self, connection: Connection, first: int) -> bool:
        """Whether nobody else has written notifications since, or begun or ended a subscription.

        Who ends one has it end after the newest event.
        """
        number, change, until = _state(connection)
        same = (number, change) == self._state and until <= self._position
        return same and first >= self._first and len(self._lives) < MOST

    def learn(self, connection: Connection, subscriptions: Iterable[str]) -> None:
        """Look up those that are not known."""
        new = set(subscriptions) - self._lives.keys()
        alive = revisions.c.until.is_(None) | (revisions.c.until > self._first)
        given = _last_number(revisions.c.id, revisions.c.owner).correlate(revisions).scalar_subquery()
        columns = revisions.c.id, revisions.c.owner, revisions.c.since, revisions.c.until, given
        self._lives |= {id_: [] for id_ in new}
        for some in parts(new):
            for id_, owner, since, until, last in connection.execute(
                select(*columns).where(revisions.c.id.in_(some), alive)
            ):
                self._lives[id_].append((since, inf if until is None else until, owner))
                self._last[id_, owner] = last or 0

    def owner(self, id_: str, position: int) -> str:
        """Whose a subscription is at a position."""
        for since, until, owner in self._lives[id_]:
            if since < position < until:
                return owner
        return NOBODY

    def next(self, connection: Connection, id_: str, position: int) -> tuple[str, int]:
        """Whose a subscription is at a position, and the next number of theirs."""
        key = id_, self.owner(id_, position)
        if (last := self._last.get(key)) is None:
            last = connection.scalar(_last_number(*key)) or 0
        self._last[key] = last + 1
        return key[1], last + 1

    def written(self, number: int) -> None:
        """Note the number of the newest notification, now that what was given out is written."""
        self._state = number, self._state[1]


def _state(connection: Connection) -> tuple[int, int, int]:
    """The newest notification, the newest revision and the last end of one, each found at the end of an index."""
    ends = (notifications.c.number, revisions.c.change, revisions.c.until)
    number, change, until = connection.execute(select(*(select(func.max(end)).scalar_subquery() for end in ends))).one()
    return number or 0, change or 0, until or 0


def _last_number(subscription: Any, owner: Any) -> Select[Any]:
    own = of_subscription(subscription, owner)
    return select(notifications.c.sequence).where(own).order_by(notifications.c.number.desc()).limit(1)
