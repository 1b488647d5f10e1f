"""The concept models of the store's ontologies, and what they say of the subscriptions that stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from triplewire.concepts.catalogue import Catalogue
from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.store import Revision, Store
from triplewire.subscriptions.languages import parse_subscription

KEPT = 4
PAGE = 1000


class Models:
    """The concept models that the store's ontologies state; the newest few are kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.of = lru_cache(maxsize=KEPT)(self._made)
        self._looked_up = lru_cache(maxsize=1)(self._catalogue)

    def current(self) -> ConceptModel:
        """The model for the events to come."""
        return self.at(self._store.last_position() + 1)

    def at(self, position: int) -> ConceptModel:
        """The model that is valid for the event at a position."""
        return self.of(self._store.ontology_version(position))

    def catalogue(self) -> Catalogue:
        """The model for the events to come, to look things up in."""
        return self._looked_up(self._store.ontology_version(self._store.last_position() + 1))

    def _catalogue(self, version: int) -> Catalogue:
        ontology = self._store.ontology(version)
        return Catalogue(self.of(version), [] if ontology is None else ontology.documents)

    def _made(self, version: int) -> ConceptModel:
        """The model of a version; without a version, one that says nothing."""
        ontology = self._store.ontology(version)
        return ConceptModel() if ontology is None else model_of_documents(ontology.documents)


def problem(record: Mapping[str, Any], model: ConceptModel) -> str | None:
    """Why a subscription cannot be understood under a model, if so."""
    try:
        parse_subscription(record, model)
    except SubscriptionError as error:
        return str(error)
    return None


def problems(store: Store, model: ConceptModel) -> Iterator[tuple[Revision, str]]:
    """The subscriptions that stand and cannot be understood under a model, with the reason."""
    for revision in standing(store):
        if reason := problem(revision.record, model):
            yield revision, reason


def standing(store: Store, owner: str | None = None) -> Iterator[Revision]:
    """The subscriptions that stand, or an owner's, the longest unchanged first."""
    after = 0
    while found := store.subscriptions(after, PAGE, owner):
        yield from found
        after = found[-1].change
