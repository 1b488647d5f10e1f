"""Ontology versions, and the concepts that are proposed for the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyoxigraph import NamedNode
from sqlalchemy import Connection, func, select

from triplewire.concepts.proposed import Proposal
from triplewire.rdf.terms import Triple
from triplewire.store import proposals
from triplewire.store.database import Part
from triplewire.store.marks import mark, set_mark
from triplewire.store.records import LOCAL, Ontology, StoredProposal
from triplewire.store.tables import ontologies
from triplewire.store.versions import (
    Check,
    forget,
    learn,
    learnt_in,
    newest,
    newest_learnt,
    outline_of,
    put_version,
    restore,
    version_of,
)

AT_ONCE = "proposals accepted at once"
NEWEST = 1 << 62
"""Above every number that there is."""


class Ontologies(Part):
    """The ontology versions and the proposals of a store."""

    def put_ontology(
        self,
        documents: Sequence[Mapping[str, str]],
        author: str = LOCAL,
        reason: str = "",
        check: Check = lambda _: None,
    ) -> Ontology:
        """Make these documents the ontology for the events to come. The same documents again change nothing.

        What was learnt stays beside them. If ``check`` refuses the version that there is, all stays as it is; nothing
        else is written in between.
        """
        with self._writing() as connection:
            return put_version(connection, documents, author, reason, check)

    def learn(self, triples: Iterable[Triple], author: str, reason: str) -> Ontology:
        """Add statements to the ontology for the events to come."""
        with self._writing() as connection:
            return learn(connection, triples, author, reason)

    def forget(self, triples: Iterable[Triple], author: str, reason: str) -> Ontology | None:
        """Take statements back that were learnt, for the events to come; None if none of them was."""
        with self._writing() as connection:
            return forget(connection, triples, author, reason)

    def restore(self, earlier: Ontology, author: str, reason: str, check: Check = lambda _: None) -> Ontology:
        """Have the ontology say for the events to come what it said in an earlier version, what was learnt included.

        Unless ``check`` refuses the version that there is.
        """
        with self._writing() as connection:
            return restore(connection, earlier, author, reason, check)

    def learnt_in(self, triples: Sequence[Triple]) -> dict[Triple, Ontology]:
        """The versions in which statements came to be known, of those that were learnt."""
        with self._reading() as connection:
            return learnt_in(connection, triples)

    def newest_learnt(self, before: int = NEWEST, limit: int = 100) -> list[tuple[int, str, Ontology]]:
        """Statements that were learnt, the newest first, each with its number and the version that has it since."""
        with self._reading() as connection:
            return newest_learnt(connection, before, limit)

    def ontologies(self, after: int = 0, limit: int = 1000) -> list[Ontology]:
        """Versions, oldest first, beginning after one; without their documents' texts."""
        query = select(ontologies).where(ontologies.c.version > after).order_by(ontologies.c.version).limit(limit)
        with self._reading() as connection:
            return [outline_of(row) for row in connection.execute(query)]

    def newest_ontologies(self, before: int = NEWEST, limit: int = 100) -> list[Ontology]:
        """Versions, newest first, beginning before one; without their documents' texts."""
        query = select(ontologies).where(ontologies.c.version < before).order_by(ontologies.c.version.desc())
        with self._reading() as connection:
            return [outline_of(row) for row in connection.execute(query.limit(limit))]

    def ontology_version(self, position: int) -> int:
        """The version that is valid for the event at a position; 0 if there is none."""
        query = select(func.max(ontologies.c.version)).where(ontologies.c.since < position)
        with self._reading() as connection:
            return connection.scalar(query) or 0

    def ontology(self, version: int) -> Ontology | None:
        """One version with its documents."""
        with self._reading() as connection:
            row = connection.execute(select(ontologies).where(ontologies.c.version == version)).first()
            return version_of(connection, row) if row else None

    def newest_ontology(self) -> Ontology | None:
        """The version for the events to come, with its documents."""
        with self._reading() as connection:
            return newest(connection)

    def propose(self, made: Iterable[Proposal], proposer: str, origin: str) -> None:
        """Keep proposals; where proposals are accepted at once, that is done, too."""
        if not (new := list(made)):
            return  # as most often, and without waiting for other writers
        with self._writing() as connection:
            for number in proposals.propose(connection, new, proposer, origin):
                if mark(connection, AT_ONCE) and proposals.found(connection, number).state == proposals.OPEN:
                    _accept(connection, number, proposer, "")

    def accept_at_once(self, setting: bool) -> None:
        """Whether a proposal is accepted as it is made."""
        with self._writing() as connection:
            set_mark(connection, AT_ONCE, int(setting))

    def proposals(
        self, after: int = 0, limit: int = 100, state: str | None = None, proposer: str | None = None
    ) -> list[StoredProposal]:
        """Proposals in the order in which they were made, beginning after a number."""
        with self._reading() as connection:
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


def _accept(connection: Connection, number: int, author: str, reason: str) -> StoredProposal:
    one = proposals.found(connection, number).proposal
    why = reason or f"{one.word} is a concept under {one.parent}"
    return proposals.decide(connection, number, proposals.ACCEPTED, one.accepted(), author, why)
