"""Where events, subscriptions, ontologies and notifications are kept: the one home of SQL."""

from triplewire.store.records import (
    DeadLetter,
    Notification,
    Offer,
    Ontology,
    Outcome,
    Revision,
    StoredEvent,
    StoredProposal,
    StoredSuggestion,
)
from triplewire.store.store import LOCAL, Store, store_url

__all__ = [
    "LOCAL",
    "DeadLetter",
    "Notification",
    "Offer",
    "Ontology",
    "Outcome",
    "Revision",
    "Store",
    "StoredEvent",
    "StoredProposal",
    "StoredSuggestion",
    "store_url",
]
