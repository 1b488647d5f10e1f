"""Subscriptions' revisions: a change ends one and begins another, between two events."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from triplewire.errors import UsageError
from triplewire.store.audit import note
from triplewire.store.moments import last_position, now
from triplewire.store.records import Revision
from triplewire.store.tables import events, revisions
from triplewire.store.terms import expiry_of


def current(connection: Connection, id_: str) -> Revision | None:
    row = connection.execute(select(revisions).where(revisions.c.id == id_, revisions.c.until.is_(None))).first()
    return None if row is None else revision_of(row)


def insert_revision(connection: Connection, record: Mapping[str, Any], owner: str, since: int) -> int:
    row = {"id": record["id"], "owner": owner, "record": json.dumps(dict(record)), "since": since, "created": now()}
    connection.execute(insert(revisions).values(row | {"expires": expiry_of(record)}))
    return since


def revise(connection: Connection, record: Mapping[str, Any]) -> int:
    position = last_position(connection)
    standing = current(connection, record["id"])
    if standing is None:
        raise no_subscription(record["id"])
    end(connection, standing.id, position + 1)
    note(connection, "subscription", standing.id, "changed")
    return insert_revision(connection, record, standing.owner, position)


def end(connection: Connection, id_: str, until: int) -> None:
    ended = update(revisions).where(revisions.c.id == id_, revisions.c.until.is_(None)).values(until=until)
    if connection.execute(ended).rowcount == 0:
        raise no_subscription(id_)


def expired(connection: Connection, first: int, last: int) -> Callable[[str, int], bool] | None:
    """Tells of a subscription whether it had expired before the event at a position between two was received.

    None if none had.
    """
    received = select(func.max(events.c.received)).where(events.c.position >= first, events.c.position <= last)
    standing = revisions.c.until.is_(None) | (revisions.c.until > first)
    query = select(revisions.c.id, revisions.c.since, revisions.c.until, revisions.c.expires)
    query = query.where(revisions.c.expires < received.scalar_subquery(), standing, revisions.c.since < last)
    found = connection.execute(query).all()
    if not found:
        return None
    log = select(events.c.position, events.c.received).where(events.c.position >= first, events.c.position <= last)
    at: dict[int, str] = {row.position: row.received for row in connection.execute(log)}
    lives: dict[str, list[Any]] = defaultdict(list)
    for row in found:
        lives[row.id].append(row)
    return lambda id_, position: any(
        row.since < position and (row.until is None or position < row.until) and at.get(position, "") > row.expires
        for row in lives.get(id_, ())
    )


def no_subscription(id_: str) -> UsageError:
    return UsageError(f"there is no subscription {id_!r}")


def revision_of(row: Any) -> Revision:
    return Revision(row.change, row.id, json.loads(row.record), row.since, row.until, row.created, row.owner)
