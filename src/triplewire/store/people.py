"""People, each as they stood at a position, and what they are offered."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from triplewire.store.audit import note
from triplewire.store.database import Part, insert_new, parts
from triplewire.store.moments import last_position, now, valid_at
from triplewire.store.records import Offer, StoredSuggestion
from triplewire.store.tables import events, people, revisions, suggestions
from triplewire.subscriptions.profiles import Person


class People(Part):
    """The people of a store."""

    def put(self, person: Person) -> int:
        """Have a person be so for the events after the position returned."""
        with self._writing() as connection:
            return _put(connection, person)

    def decline(self, id_: str) -> int:
        """Offer a person nothing for the events after the position returned."""
        with self._writing() as connection:
            return _put(connection, replace(_now(connection, id_) or Person(id_), declines=True))

    def now(self, id_: str) -> Person | None:
        """A person as they stand now."""
        with self._reading() as connection:
            return _now(connection, id_)

    def at(self, position: int, ids: Iterable[str]) -> list[Person]:
        """Those of some people who have a profile at a position."""
        query = select(people).where(valid_at(people, position))
        with self._reading() as connection:
            rows = (row for some in parts(ids) for row in connection.execute(query.where(people.c.id.in_(some))))
            return [_person(row) for row in rows]

    def anybody_shares(self, after: int, upto: int) -> bool:
        """Whether anybody shares at some event with ``after < position <= upto``."""
        alive = people.c.until.is_(None) | (people.c.until > after + 1)
        query = select(people.c.change).where(people.c.shares, people.c.since < upto, alive)
        with self._reading() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def owners_at(self, position: int, subscriptions: Iterable[str]) -> set[str]:
        """Whose some subscriptions are at a position."""
        query = select(revisions.c.owner).where(valid_at(revisions, position))
        with self._reading() as connection:
            named = (query.where(revisions.c.id.in_(some)) for some in parts(subscriptions))
            return {owner for one in named for owner in connection.scalars(one)}

    def records_at(self, position: int, owner: str) -> list[dict[str, Any]]:
        """A person's subscriptions at a position."""
        query = select(revisions.c.record).where(valid_at(revisions, position), revisions.c.owner == owner)
        with self._reading() as connection:
            return [json.loads(record) for record in connection.scalars(query)]

    def offered(self, after: int = 0, limit: int = 100, person: str | None = None) -> list[StoredSuggestion]:
        """Suggestions in the order in which they were written, beginning after a number."""
        event = (suggestions.c.event, events.c.source, events.c.body)
        rest = (suggestions.c.person, suggestions.c.subscription, suggestions.c.score, suggestions.c.created)
        query = select(suggestions.c.number, suggestions.c.position, *event, *rest)
        query = query.join(events, events.c.position == suggestions.c.position).where(suggestions.c.number > after)
        if person is not None:
            query = query.where(suggestions.c.person == person)
        query = query.order_by(suggestions.c.number).limit(limit)
        with self._reading() as connection:
            return [StoredSuggestion(*row) for row in connection.execute(query)]


def write_offers(connection: Connection, offers: Iterable[Offer]) -> None:
    rows = [
        {
            "position": one.position,
            "event": one.event,
            "person": one.person,
            "subscription": one.subscription,
            "score": one.score,
            "created": now(),
        }
        for one in offers
    ]
    if rows:
        connection.execute(insert_new(connection, suggestions), rows)


def _put(connection: Connection, person: Person) -> int:
    position = last_position(connection)
    ended = update(people).where(people.c.id == person.id, people.c.until.is_(None)).values(until=position + 1)
    connection.execute(ended)
    row = {"id": person.id, "knows": json.dumps(sorted(person.knows)), "since": position, "created": now()}
    connection.execute(insert(people).values(**row, shares=person.shares, declines=person.declines))
    note(connection, "profile", person.id, "changed")
    return position


def _now(connection: Connection, id_: str) -> Person | None:
    row = connection.execute(select(people).where(people.c.id == id_, people.c.until.is_(None))).first()
    return None if row is None else _person(row)


def _person(row: Row[Any]) -> Person:
    return Person(row.id, frozenset(json.loads(row.knows)), row.shares, row.declines)
