"""Where events, subscriptions, ontologies and notifications are kept: the one home of SQL."""

from triplewire.store.answers import Answer
from triplewire.store.audit import ACTOR
from triplewire.store.backup import backup, restore
from triplewire.store.database import upgrade
from triplewire.store.moments import moment_of
from triplewire.store.records import (
    LOCAL,
    Attempt,
    Callback,
    Change,
    Content,
    DeadLetter,
    Delivery,
    Due,
    Endpoint,
    Mailbox,
    Notification,
    Offer,
    Omission,
    Ontology,
    Outcome,
    Reading,
    Revision,
    Source,
    StoredEvent,
    StoredProposal,
    StoredSuggestion,
    Token,
    User,
    Webhook,
)
from triplewire.store.store import Store, store_url
from triplewire.store.terms import Terms

__all__ = [
    "ACTOR",
    "LOCAL",
    "Answer",
    "Attempt",
    "Callback",
    "Change",
    "Content",
    "DeadLetter",
    "Delivery",
    "Due",
    "Endpoint",
    "Mailbox",
    "Notification",
    "Offer",
    "Omission",
    "Ontology",
    "Outcome",
    "Reading",
    "Revision",
    "Source",
    "Store",
    "StoredEvent",
    "StoredProposal",
    "StoredSuggestion",
    "Terms",
    "Token",
    "User",
    "Webhook",
    "backup",
    "moment_of",
    "restore",
    "store_url",
    "upgrade",
]
