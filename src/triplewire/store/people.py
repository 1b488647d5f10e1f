"""People, each as they stood at a position, and what they are offered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, select, update
from sqlalchemy.dialects.sqlite import insert

from triplewire.store.moments import last_position, now
from triplewire.store.records import Offer, StoredSuggestion
from triplewire.store.tables import events, people, revisions, suggestions
from triplewire.subscriptions.profiles import Person

MOST_NAMED = 1000


def put_person(connection: Connection, person: Person) -> int:
    """Have a person be so for the events after the position returned."""
    position = last_position(connection)
    ended = update(people).where(people.c.id == person.id, people.c.until.is_(None)).values(until=position + 1)
    connection.execute(ended)
    row = {"id": person.id, "knows": json.dumps(sorted(person.knows)), "since": position, "created": now()}
    connection.execute(insert(people).values(**row, shares=person.shares, declines=person.declines))
    return position


def person_now(connection: Connection, id_: str) -> Person | None:
    row = connection.execute(select(people).where(people.c.id == id_, people.c.until.is_(None))).first()
    return None if row is None else _person(row)


def anybody_shares(connection: Connection, after: int, upto: int) -> bool:
    """Whether anybody shares at some event with ``after < position <= upto``."""
    alive = people.c.until.is_(None) | (people.c.until > after + 1)
    query = select(people.c.change).where(people.c.shares, people.c.since < upto, alive)
    return connection.execute(query.limit(1)).first() is not None


def people_at(connection: Connection, position: int, ids: Iterable[str]) -> list[Person]:
    """Those of some people who have a profile at a position."""
    query = select(people).where(_valid(people, position))
    return [_person(row) for some in _parts(ids) for row in connection.execute(query.where(people.c.id.in_(some)))]


def owners_at(connection: Connection, position: int, subscriptions: Iterable[str]) -> set[str]:
    """Whose some subscriptions are at a position."""
    query = select(revisions.c.owner).where(_valid(revisions, position))
    return {one for some in _parts(subscriptions) for one in connection.scalars(query.where(revisions.c.id.in_(some)))}


def records_at(connection: Connection, position: int, owner: str) -> list[dict[str, Any]]:
    """A person's subscriptions at a position."""
    query = select(revisions.c.record).where(_valid(revisions, position), revisions.c.owner == owner)
    return [json.loads(record) for record in connection.scalars(query)]


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
        connection.execute(insert(suggestions).on_conflict_do_nothing(), rows)


def offered(connection: Connection, after: int, limit: int, person: str | None) -> list[StoredSuggestion]:
    """Suggestions in the order in which they were written."""
    event = (suggestions.c.event, events.c.source, events.c.body)
    rest = (suggestions.c.person, suggestions.c.subscription, suggestions.c.score, suggestions.c.created)
    query = select(suggestions.c.number, suggestions.c.position, *event, *rest)
    query = query.join(events, events.c.position == suggestions.c.position).where(suggestions.c.number > after)
    if person is not None:
        query = query.where(suggestions.c.person == person)
    return [StoredSuggestion(*row) for row in connection.execute(query.order_by(suggestions.c.number).limit(limit))]


def _parts(names: Iterable[str]) -> Iterator[list[str]]:
    """Names, not too many for one statement at a time."""
    coming = iter(names)
    while some := list(islice(coming, MOST_NAMED)):
        yield some


def _valid(table: Table, position: int) -> ColumnElement[bool]:
    alive: ColumnElement[bool] = (table.c.until > position) | table.c.until.is_(None)
    return (table.c.since < position) & alive


def _person(row: Row[Any]) -> Person:
    return Person(row.id, frozenset(json.loads(row.knows)), row.shares, row.declines)
