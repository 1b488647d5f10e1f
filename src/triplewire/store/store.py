"""The store: an event log, the subscriptions' revisions, and what came of matching them."""

from __future__ import annotations

from pathlib import Path

from triplewire.store.answers import Answers
from triplewire.store.audit import Audit
from triplewire.store.database import Database
from triplewire.store.deliveries import Deliveries
from triplewire.store.inbox import Inbox
from triplewire.store.letters import Letters
from triplewire.store.log import Log
from triplewire.store.mailboxes import Mailboxes
from triplewire.store.marks import mark, set_mark
from triplewire.store.ontologies import Ontologies
from triplewire.store.outcomes import Outcomes
from triplewire.store.people import People
from triplewire.store.retention import Retention
from triplewire.store.sources import Sources
from triplewire.store.subscriptions import Subscriptions
from triplewire.store.users import Users


def store_url(home: Path) -> str:
    """The address of the embedded store in a data folder."""
    return f"sqlite:///{(home / 'triplewire.db').absolute()}"


class Store(Log, Subscriptions, Ontologies, Outcomes, Letters, Retention, Audit):
    """An open store, in SQLite or PostgreSQL. Cheap to open; open one per process, after a fork.

    A ``patient`` one waits, for as long as it takes, while somebody else keeps the database locked.
    """

    def __init__(self, url: str, patient: bool = False) -> None:
        database = Database(url, patient=patient)
        super().__init__(database)
        self.url = url
        self.answers = Answers(database)
        self.deliveries = Deliveries(database)
        self.inbox = Inbox(database)
        self.mailboxes = Mailboxes(database)
        self.people = People(database)
        self.sources = Sources(database)
        self.users = Users(database)

    def probe(self) -> None:
        """Write something, to see that it can be done."""
        with self._writing() as connection:
            set_mark(connection, "probe", mark(connection, "probe") + 1)
