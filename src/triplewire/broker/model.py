"""The concept models of the store's ontologies, and what they say of the subscriptions that stand."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from triplewire.concepts.catalogue import Catalogue
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.outline import ALL_KINDS
from triplewire.errors import SubscriptionError
from triplewire.store import Revision, Store
from triplewire.subscriptions.languages import parse_subscription

KEPT = 4
PAGE = 1000
INTERVAL = 2.0
"""Seconds between two looks for another ontology."""

log = logging.getLogger(__name__)


class Models:
    """The concept models that the store's ontologies state; the newest few are kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[int, Catalogue] = OrderedDict()
        self._reading = threading.RLock()

    def current(self) -> ConceptModel:
        """The model for the events to come."""
        return self.catalogue().model

    def at(self, position: int) -> ConceptModel:
        """The model that is valid for the event at a position."""
        return self.of(self._store.ontology_version(position))

    def of(self, version: int) -> ConceptModel:
        """The model of a version; of version 0, one that says nothing."""
        return self._found(version).model

    def catalogue(self) -> Catalogue:
        """The model for the events to come, to look things up in."""
        return self._found(self._newest())

    def _newest(self) -> int:
        return self._store.ontology_version(self._store.last_position() + 1)

    def keep(self, version: int, known: Catalogue) -> None:
        """Keep what was read of a version before it was one."""
        with self._reading:
            self._kept[version] = known
            self._kept.move_to_end(version)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    async def keep_ready(self) -> None:
        """Work out what people look up in a new ontology before they do: of a large one it takes seconds."""
        ready = None
        while True:
            try:
                newest = await asyncio.to_thread(self._newest)
                if newest != ready:
                    ready = newest
                    await asyncio.to_thread(self._prepare, newest)
            except Exception as error:  # whoever looks something up is told
                log.error("the ontology cannot be made ready: %s", error)
            await asyncio.sleep(INTERVAL)

    def _prepare(self, version: int) -> None:
        catalogue = self._found(version)
        for kind in ALL_KINDS:
            catalogue.section(kind).prepare()
        catalogue.model.concepts_called("")

    def _found(self, version: int) -> Catalogue:
        with self._reading:  # a large ontology is read once, however many ask for it at once
            known = self._kept.get(version)
            if known is None:
                ontology = self._store.ontology(version)
                known = Catalogue.of_documents([] if ontology is None else ontology.documents)
            self.keep(version, known)
            return known


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
