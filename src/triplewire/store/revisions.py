"""Subscriptions' revisions: a change ends one and begins another, between two events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from triplewire.errors import UsageError
from triplewire.store.moments import last_position, now
from triplewire.store.records import Revision
from triplewire.store.tables import revisions


def current(connection: Connection, id_: str) -> Revision | None:
    row = connection.execute(select(revisions).where(revisions.c.id == id_, revisions.c.until.is_(None))).first()
    return None if row is None else revision_of(row)


def insert_revision(connection: Connection, record: Mapping[str, Any], owner: str, since: int) -> int:
    row = {"id": record["id"], "owner": owner, "record": json.dumps(dict(record)), "since": since, "created": now()}
    connection.execute(insert(revisions).values(row))
    return since


def revise(connection: Connection, record: Mapping[str, Any]) -> int:
    position = last_position(connection)
    standing = current(connection, record["id"])
    if standing is None:
        raise no_subscription(record["id"])
    end(connection, standing.id, position + 1)
    return insert_revision(connection, record, standing.owner, position)


def end(connection: Connection, id_: str, until: int) -> None:
    ended = update(revisions).where(revisions.c.id == id_, revisions.c.until.is_(None)).values(until=until)
    if connection.execute(ended).rowcount == 0:
        raise no_subscription(id_)


def no_subscription(id_: str) -> UsageError:
    return UsageError(f"there is no subscription {id_!r}")


def revision_of(row: Any) -> Revision:
    return Revision(row.change, row.id, json.loads(row.record), row.since, row.until, row.created, row.owner)
