"""The concept model that subscriptions are checked against, and what it says of those that stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.store import Revision, Store
from triplewire.subscriptions.languages import parse_subscription

PAGE = 1000


class CurrentModel:
    """The concept model that the store's newest ontology states; made again only when there is a newer one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._made: tuple[int, ConceptModel] = (0, ConceptModel())

    def __call__(self) -> ConceptModel:
        version = self._store.ontology_version(self._store.last_position() + 1)
        if self._made[0] != version and (ontology := self._store.ontology(version)):
            self._made = version, model_of_documents(ontology.documents)
        return self._made[1]


def problem(record: Mapping[str, Any], model: ConceptModel) -> str | None:
    """Why a subscription cannot be understood under a model, if so."""
    try:
        parse_subscription(record, model)
    except SubscriptionError as error:
        return str(error)
    return None


def problems(store: Store, model: ConceptModel) -> Iterator[tuple[str, str]]:
    """The ids of the subscriptions that stand and cannot be understood under a model, with the reason."""
    for revision in _standing(store):
        if reason := problem(revision.record, model):
            yield revision.id, reason


def _standing(store: Store) -> Iterator[Revision]:
    after = 0
    while found := store.subscriptions(after, PAGE):
        yield from found
        after = found[-1].change
