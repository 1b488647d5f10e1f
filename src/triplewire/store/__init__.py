"""Where events, subscriptions, ontologies and notifications are kept: the one home of SQL."""

from triplewire.store.database import upgrade
from triplewire.store.moments import moment_of
from triplewire.store.records import (
    LOCAL,
    Attempt,
    DeadLetter,
    Delivery,
    Endpoint,
    Notification,
    Offer,
    Ontology,
    Outcome,
    Revision,
    StoredEvent,
    StoredProposal,
    StoredSuggestion,
    Token,
    User,
    Webhook,
)
from triplewire.store.store import Store, store_url

__all__ = [
    "LOCAL",
    "Attempt",
    "DeadLetter",
    "Delivery",
    "Endpoint",
    "Notification",
    "Offer",
    "Ontology",
    "Outcome",
    "Revision",
    "Store",
    "StoredEvent",
    "StoredProposal",
    "StoredSuggestion",
    "Token",
    "User",
    "Webhook",
    "moment_of",
    "store_url",
    "upgrade",
]
