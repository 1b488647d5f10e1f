"""Where events, subscriptions, ontologies and notifications are kept: the one home of SQL."""

from triplewire.store.records import DeadLetter, Notification, Ontology, Outcome, Revision, StoredEvent
from triplewire.store.store import Store, store_url

__all__ = ["DeadLetter", "Notification", "Ontology", "Outcome", "Revision", "Store", "StoredEvent", "store_url"]
