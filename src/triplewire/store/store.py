"""The store: an event log, the subscriptions' revisions, and what came of matching them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode
from sqlalchemy import ColumnElement, Connection, func, or_, select, union
from sqlalchemy.dialects.sqlite import insert

from triplewire.concepts.proposed import Proposal
from triplewire.errors import UsageError
from triplewire.rdf.terms import Triple
from triplewire.store import deliveries, proposals
from triplewire.store.database import Database
from triplewire.store.deliveries import Deliveries
from triplewire.store.moments import last_position, moment_of, now
from triplewire.store.notifications import notification_of, notified, numbered
from triplewire.store.people import People, write_offers
from triplewire.store.records import (
    DeadLetter,
    Notification,
    Offer,
    Ontology,
    Outcome,
    Revision,
    StoredEvent,
    StoredProposal,
    Webhook,
)
from triplewire.store.revisions import current, end, insert_revision, no_subscription, revise, revision_of
from triplewire.store.tables import (
    dead_letters,
    events,
    marks,
    notifications,
    ontologies,
    revisions,
)
from triplewire.store.users import Users
from triplewire.store.versions import learn, put_version, version_of

PIPELINE = "pipeline"
AT_ONCE = "proposals accepted at once"
LOCAL = "local"
"""Whoever is not told apart from others."""


def store_url(home: Path) -> str:
    """The address of the embedded store in a data folder."""
    return f"sqlite:///{(home / 'triplewire.db').absolute()}"


class Store:
    """An open store. Cheap to open; open one per process, after a fork."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._database = Database(url)
        self._connected = self._database.reading
        self._writing = self._database.writing
        self.deliveries = Deliveries(self._connected, self._writing)
        self.people = People(self._connected, self._writing)
        self.users = Users(self._connected, self._writing)

    def close(self) -> None:
        self._database.close()

    def probe(self) -> None:
        """Write something, to see that it can be done."""
        with self._writing() as connection:
            row = insert(marks).values(name="probe", value=1)
            more = {"value": marks.c.value + 1}
            connection.execute(row.on_conflict_do_update(index_elements=["name"], set_=more))

    # events

    def append(self, bodies: Sequence[tuple[str, str, str] | tuple[str, str, str, str]]) -> list[int]:
        """Put events ``(source, id, body, publisher)`` at the end of the log, and return their positions once durable.

        An event that is in the log already stays as it is; its first position is returned.
        """
        with self._writing() as connection:
            return [_append(connection, *body) for body in bodies]

    def last_position(self) -> int:
        """The position of the newest event; 0 if there never was one."""
        with self._connected() as connection:
            return last_position(connection)

    def events(self, after: int, upto: int) -> Iterator[StoredEvent]:
        """The events with ``after < position <= upto``, in order."""
        query = select(events.c.position, events.c.source, events.c.id, events.c.body, events.c.received)
        query = query.where(events.c.position > after, events.c.position <= upto).order_by(events.c.position)
        with self._connected() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield StoredEvent(*row)

    def events_saying(self, texts: Iterable[str], after: int, upto: int) -> list[StoredEvent]:
        """The events with ``after < position <= upto`` that have one of some texts in them."""
        query = select(events.c.position, events.c.source, events.c.id, events.c.body).order_by(events.c.position)
        saying = or_(*(func.instr(events.c.body, text) > 0 for text in texts))
        query = query.where(events.c.position > after, events.c.position <= upto, saying)
        with self._connected() as connection:
            return [StoredEvent(*row) for row in connection.execute(query)]

    def position_before(self, time: datetime) -> int:
        """The position of the last event that was accepted before a time; 0 if there is none."""
        query = select(func.max(events.c.position)).where(events.c.received < moment_of(time))
        with self._connected() as connection:
            return connection.scalar(query) or 0

    def nth_position_after(self, after: int, count: int) -> int:
        """The position of the last of the ``count`` events that follow ``after``; ``after`` itself if there is none."""
        following = select(events.c.position).where(events.c.position > after).order_by(events.c.position).limit(count)
        with self._connected() as connection:
            return connection.scalar(select(func.max(following.subquery().c.position))) or after

    # subscriptions

    def subscribe(self, record: Mapping[str, Any], owner: str = LOCAL, webhook: Webhook | None = None) -> int:
        """Create a subscription; it matches the events after the position returned."""
        with self._writing() as connection:
            if current(connection, record["id"]) is not None:
                raise UsageError(f"there is a subscription {record['id']!r} already")
            since = insert_revision(connection, record, owner, last_position(connection))
            if webhook is not None:
                deliveries.put(connection, record["id"], webhook, "")
            return since

    def revise(self, record: Mapping[str, Any]) -> int:
        """Replace a subscription's record for the events after the position returned."""
        with self._writing() as connection:
            return revise(connection, record)

    def amend(self, id_: str, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> int:
        """Replace a subscription's record by what ``change`` makes of it, for the events after the position returned.

        Nothing else is written in between, so that of two changes at once none is lost. If ``change`` raises an error,
        the record stays as it is.
        """
        with self._writing() as connection:
            standing = current(connection, id_)
            if standing is None:
                raise no_subscription(id_)
            return revise(connection, change(standing.record))

    def unsubscribe(self, id_: str) -> int:
        """End a subscription; it matches no event from the position returned on, and nothing more is delivered."""
        with self._writing() as connection:
            position = last_position(connection) + 1
            end(connection, id_, position)
            deliveries.remove(connection, id_)
            return position

    def subscription(self, id_: str) -> Revision | None:
        """A subscription as it stands now."""
        with self._connected() as connection:
            return current(connection, id_)

    def subscription_at(self, id_: str, position: int) -> Revision | None:
        """A subscription as it stood for the event at a position."""
        alive = revisions.c.until.is_(None) | (revisions.c.until > position)
        query = select(revisions).where(revisions.c.id == id_, revisions.c.since < position, alive)
        with self._connected() as connection:
            row = connection.execute(query).first()
            return None if row is None else revision_of(row)

    def subscriptions(self, after: int = 0, limit: int = 100, owner: str | None = None) -> list[Revision]:
        """The subscriptions that stand now, oldest revision first, beginning after a change number; or an owner's."""
        query = select(revisions).where(revisions.c.until.is_(None), revisions.c.change > after)
        if owner is not None:
            query = query.where(revisions.c.owner == owner)
        with self._connected() as connection:
            return [revision_of(row) for row in connection.execute(query.order_by(revisions.c.change).limit(limit))]

    def revisions(self, after: int, upto: int) -> list[Revision]:
        """The revisions that are valid for some event with ``after < position <= upto``."""
        alive = revisions.c.until.is_(None) | (revisions.c.until > after + 1)
        query = select(revisions).where(revisions.c.since < upto, alive).order_by(revisions.c.change)
        with self._connected() as connection:
            return [revision_of(row) for row in connection.execute(query)]

    def valid_revisions(self, position: int) -> Iterator[Revision]:
        """The revisions that are valid for the event at a position, however many, one by one."""
        with self._connected() as connection:
            for row in connection.execution_options(yield_per=1000).execute(select(revisions).where(_valid(position))):
                yield revision_of(row)

    def count_revisions(self, position: int) -> int:
        """How many revisions are valid for the event at a position."""
        with self._connected() as connection:
            return connection.scalar(select(func.count()).where(_valid(position))) or 0

    def changes(self, after: int, upto: int, known: int = 0) -> list[Revision]:
        """The revisions that began or ended between the events at these two positions, in order.

        Those that began right after the first one are left out up to the change ``known``.
        """
        query = select(revisions).where(_changed(after, upto, known)).order_by(revisions.c.change)
        with self._connected() as connection:
            return [revision_of(row) for row in connection.execute(query)]

    def count_changes(self, after: int, upto: int, known: int = 0) -> int:
        """How many there are of them."""
        with self._connected() as connection:
            return connection.scalar(select(func.count()).where(_changed(after, upto, known))) or 0

    def last_change(self) -> int:
        """The number of the newest revision; 0 if there never was one."""
        with self._connected() as connection:
            return connection.scalar(select(func.max(revisions.c.change))) or 0

    def boundaries(self, after: int, upto: int) -> list[int]:
        """The positions in ``after < position <= upto`` from which on other revisions or another ontology are valid."""
        ended = select(revisions.c.until).where(revisions.c.until > after, revisions.c.until <= upto)
        began = (select(c.since + 1).where(c.since >= after, c.since < upto) for c in (revisions.c, ontologies.c))
        with self._connected() as connection:
            return sorted(connection.scalars(union(ended, *began)))

    def last_boundary(self, position: int) -> int:
        """The last position, up to this one, from which on other revisions or another ontology were valid."""
        ended = select(func.max(revisions.c.until)).where(revisions.c.until <= position)
        began = (select(func.max(c.since) + 1).where(c.since < position) for c in (revisions.c, ontologies.c))
        with self._connected() as connection:
            return max((found for found in connection.scalars(union(ended, *began)) if found), default=0)

    # ontologies

    def put_ontology(self, documents: Sequence[Mapping[str, str]], author: str = LOCAL, reason: str = "") -> Ontology:
        """Make these documents the ontology for the events to come. The same documents again change nothing.

        What was learnt stays beside them.
        """
        with self._writing() as connection:
            return put_version(connection, documents, author, reason)

    def learn(self, triples: Iterable[Triple], author: str, reason: str) -> Ontology:
        """Add statements to the ontology for the events to come."""
        with self._writing() as connection:
            return learn(connection, triples, author, reason)

    def ontologies(self) -> list[Ontology]:
        """Every version, oldest first."""
        with self._connected() as connection:
            rows = list(connection.execute(select(ontologies).order_by(ontologies.c.version)))
            return [version_of(connection, row) for row in rows]

    def ontology_version(self, position: int) -> int:
        """The version that is valid for the event at a position; 0 if there is none."""
        query = select(func.max(ontologies.c.version)).where(ontologies.c.since < position)
        with self._connected() as connection:
            return connection.scalar(query) or 0

    def ontology(self, version: int) -> Ontology | None:
        """One version with its documents."""
        with self._connected() as connection:
            row = connection.execute(select(ontologies).where(ontologies.c.version == version)).first()
            return version_of(connection, row) if row else None

    # proposed concepts

    def propose(self, made: Iterable[Proposal], proposer: str, origin: str) -> None:
        """Keep proposals; where proposals are accepted at once, that is done, too."""
        if not (new := list(made)):
            return  # as most often, and without waiting for other writers
        with self._writing() as connection:
            for number in proposals.propose(connection, new, proposer, origin):
                if _mark(connection, AT_ONCE) and proposals.found(connection, number).state == proposals.OPEN:
                    _accept(connection, number, proposer, "")

    def accept_at_once(self, setting: bool) -> None:
        """Whether a proposal is accepted as it is made."""
        with self._writing() as connection:
            row = insert(marks).values(name=AT_ONCE, value=int(setting))
            connection.execute(row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value}))

    def proposals(
        self, after: int = 0, limit: int = 100, state: str | None = None, proposer: str | None = None
    ) -> list[StoredProposal]:
        """Proposals in the order in which they were made, beginning after a number."""
        with self._connected() as connection:
            return proposals.listed(connection, after, limit, state, proposer)

    def accept(self, number: int, author: str, reason: str = "") -> StoredProposal:
        """Make a proposed concept everybody's, for the events to come."""
        with self._writing() as connection:
            return _accept(connection, number, author, reason)

    def merge(self, number: int, into: NamedNode, author: str, reason: str = "") -> StoredProposal:
        """Make the word of a proposed concept another one for a known concept, for the events to come."""
        with self._writing() as connection:
            one = proposals.found(connection, number).proposal
            why = reason or f"{one.word} means {into}"
            return proposals.decide(connection, number, proposals.MERGED, one.merged(into), author, why)

    def reject(self, number: int, author: str, reason: str = "") -> StoredProposal:
        """Keep a proposed concept from everybody. To those who use it it means what it did."""
        with self._writing() as connection:
            return proposals.decide(connection, number, proposals.REJECTED, (), author, reason)

    # what came of it

    def record(
        self, outcomes: Iterable[Outcome], refused: Iterable[DeadLetter], upto: int, offers: Iterable[Offer] = ()
    ) -> None:
        """Write what matching came to, and that the pipeline is done up to a position, all or nothing.

        Writing the same again changes nothing, so that a batch may be replayed.
        """
        moment = now()
        letters = [{"position": d.position, "reason": d.reason, "created": moment} for d in refused]
        rows = [
            {
                "position": o.position,
                "event": o.event,
                "subscription": o.subscription,
                "of": o.subscription,
                "at": o.position,
                "score": o.score,
                "bindings": o.bindings,
                "version": o.version,
                "created": moment,
            }
            for o in sorted(outcomes, key=lambda one: one.position)
        ]
        with self._writing() as connection:
            if rows:
                connection.execute(numbered(), rows)
            if letters:
                connection.execute(insert(dead_letters).on_conflict_do_nothing(), letters)
            write_offers(connection, offers)
            _raise_mark(connection, PIPELINE, upto)

    def pipeline_position(self) -> int:
        """The position up to which the pipeline is done."""
        with self._connected() as connection:
            return _mark(connection, PIPELINE)

    def notifications(
        self, after: int = 0, limit: int = 100, subscription: str | None = None, owner: str | None = None
    ) -> list[Notification]:
        """Notifications in the order in which they were written, beginning after a number; those of an owner."""
        query = notified().where(notifications.c.number > after)
        if owner is not None:
            query = query.where(notifications.c.owner == owner)
        if subscription is not None:
            query = query.where(notifications.c.subscription == subscription)
        with self._connected() as connection:
            rows = connection.execute(query.order_by(notifications.c.number).limit(limit))
            return [notification_of(row) for row in rows]

    def newest_notifications(self, limit: int, owner: str | None = None) -> list[Notification]:
        """The newest notifications, or an owner's, the newest first."""
        query = notified() if owner is None else notified().where(notifications.c.owner == owner)
        with self._connected() as connection:
            rows = connection.execute(query.order_by(notifications.c.number.desc()).limit(limit))
            return [notification_of(row) for row in rows]

    def notification(self, number: int) -> Notification | None:
        """One notification."""
        with self._connected() as connection:
            row = connection.execute(notified().where(notifications.c.number == number)).first()
            return None if row is None else notification_of(row)

    def last_notification(self) -> int:
        """The newest notification's number; 0 if there never was one."""
        with self._connected() as connection:
            return connection.scalar(select(func.max(notifications.c.number))) or 0

    def dead_letters(self, after: int = 0, limit: int = 100, publisher: str | None = None) -> list[DeadLetter]:
        """Refused events in log order, beginning after a position; those of one publisher, if one is named."""
        columns = (dead_letters.c.position, dead_letters.c.reason, events.c.source, events.c.id, events.c.body)
        query = select(*columns, dead_letters.c.created, events.c.publisher)
        query = query.join(events, events.c.position == dead_letters.c.position)
        if publisher is not None:
            query = query.where(events.c.publisher == publisher)
        query = query.where(dead_letters.c.position > after).order_by(dead_letters.c.position).limit(limit)
        with self._connected() as connection:
            return [DeadLetter(*row) for row in connection.execute(query)]


def _append(connection: Connection, source: str, id_: str, body: str, publisher: str = LOCAL) -> int:
    known = select(events.c.position).where(events.c.source == source, events.c.id == id_)
    position: int | None = connection.scalar(known)
    if position is not None:
        return position
    row = {"source": source, "id": id_, "body": body, "received": now(), "publisher": publisher}
    added: int = connection.execute(insert(events).values(row).returning(events.c.position)).scalar_one()
    return added


def _valid(position: int) -> ColumnElement[bool]:
    return (revisions.c.since < position) & (revisions.c.until.is_(None) | (revisions.c.until > position))


def _changed(after: int, upto: int, known: int) -> ColumnElement[bool]:
    new = (revisions.c.since > after) | (revisions.c.change > known)
    began = (revisions.c.since >= after) & (revisions.c.since < upto) & new
    return began | (revisions.c.until > after) & (revisions.c.until <= upto)


def _accept(connection: Connection, number: int, author: str, reason: str) -> StoredProposal:
    one = proposals.found(connection, number).proposal
    why = reason or f"{one.word} is a concept under {one.parent}"
    return proposals.decide(connection, number, proposals.ACCEPTED, one.accepted(), author, why)


def _mark(connection: Connection, name: str) -> int:
    return connection.scalar(select(marks.c.value).where(marks.c.name == name)) or 0


def _raise_mark(connection: Connection, name: str, value: int) -> None:
    row = insert(marks).values(name=name, value=value)
    higher = row.excluded.value > marks.c.value
    connection.execute(
        row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value}, where=higher)
    )
