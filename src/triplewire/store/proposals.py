"""Proposed concepts: kept until somebody accepts them, merges them into known ones, or rejects them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyoxigraph import NamedNode
from sqlalchemy import ColumnElement, Connection, Row, select, update

from triplewire.concepts.proposed import Proposal
from triplewire.errors import UsageError
from triplewire.rdf.terms import Triple
from triplewire.store.audit import note
from triplewire.store.database import insert_new
from triplewire.store.lengths import LONGEST_CONCEPTS, length
from triplewire.store.moments import now
from triplewire.store.records import StoredProposal
from triplewire.store.tables import proposals
from triplewire.store.versions import learn

OPEN, ACCEPTED, MERGED, REJECTED = STATES = ("open", "accepted", "merged", "rejected")


def propose(connection: Connection, made: Iterable[Proposal], proposer: str, origin: str) -> list[int]:
    """Keep proposals as open ones, and tell the numbers of those that this proposer had not made before."""
    rows = [
        {
            "concept": one.concept.value,
            "word": one.word,
            "relation": one.relation.value,
            "parent": one.parent.value,
            "proposer": proposer,
            "origin": origin,
            "created": now(),
            "state": OPEN,
        }
        for one in made
        if length(one.concept.value + one.parent.value) <= LONGEST_CONCEPTS  # else nobody means it
    ]
    added = (insert_new(connection, proposals).values(row).returning(proposals.c.number) for row in rows)
    new = [number for statement in added if (number := connection.scalar(statement)) is not None]
    for number in new:
        note(connection, "proposal", number, "made", proposer)
    return new


def listed(
    connection: Connection, after: int, limit: int, state: str | None, proposer: str | None
) -> list[StoredProposal]:
    """Proposals in the order in which they were made."""
    query = select(proposals).where(proposals.c.number > after).order_by(proposals.c.number).limit(limit)
    if state is not None:
        query = query.where(proposals.c.state == state)
    if proposer is not None:
        query = query.where(proposals.c.proposer == proposer)
    return [_stored(row) for row in connection.execute(query)]


def found(connection: Connection, number: int) -> StoredProposal:
    row = connection.execute(select(proposals).where(proposals.c.number == number)).first()
    if row is None:
        raise UsageError(f"there is no proposal {number}")
    return _stored(row)


def decide(
    connection: Connection, number: int, state: str, says: Iterable[Triple], author: str, reason: str
) -> StoredProposal:
    """Close an open proposal, and with it those that the decision answers as well.

    An ontology version with what it ``says`` settles every open proposal of the concept; a rejection, those that put
    it in the same place.
    """
    one = found(connection, number)
    if one.state != OPEN:
        raise UsageError(f"proposal {number} is {one.state} already")
    same = _same(one.proposal, anywhere=state != REJECTED)
    version = None if state == REJECTED else learn(connection, says, author, reason).version
    closed = {"state": state, "author": author, "reason": reason, "version": version}
    connection.execute(update(proposals).where(same, proposals.c.state == OPEN).values(closed))
    note(connection, "proposal", number, state, author)
    return found(connection, number)


def _same(proposal: Proposal, anywhere: bool) -> ColumnElement[bool]:
    concept = proposals.c.concept == proposal.concept.value
    return concept if anywhere else concept & (proposals.c.parent == proposal.parent.value)


def _stored(row: Row[Any]) -> StoredProposal:
    proposal = Proposal(NamedNode(row.concept), row.word, NamedNode(row.relation), NamedNode(row.parent))
    return StoredProposal(
        row.number,
        proposal,
        row.proposer,
        row.origin,
        row.created,
        row.state,
        row.author,
        row.reason,
        row.version,
    )
