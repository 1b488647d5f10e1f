"""Where events, subscriptions, ontologies and notifications are kept: the one home of SQL."""

from triplewire.store.records import (
    DeadLetter,
    Notification,
    Ontology,
    Outcome,
    Revision,
    StoredEvent,
    StoredProposal,
)
from triplewire.store.store import LOCAL, Store, store_url

__all__ = [
    "LOCAL",
    "DeadLetter",
    "Notification",
    "Ontology",
    "Outcome",
    "Revision",
    "Store",
    "StoredEvent",
    "StoredProposal",
    "store_url",
]
