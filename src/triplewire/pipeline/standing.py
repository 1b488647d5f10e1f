"""The matcher as it stands at a log position.

Which ontology and which subscriptions are valid for an event depends on its position alone, so that a replay matches
as the first run did.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pyarrow as pa

from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.errors import OntologyError
from triplewire.matching import DEFAULT_MATCHER, make_matcher
from triplewire.matching.matcher import Matcher
from triplewire.store import Revision, Store
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription

log = logging.getLogger(__name__)


class Standing:
    """A matcher that moves along the log, taking in and letting go only what changes on the way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version: int | None = None
        self._position = 0

    def stretches(self, batch: pa.RecordBatch) -> Iterator[tuple[Matcher, str, pa.RecordBatch]]:
        """Cut a batch, in log order by its column ``position``, where something changes.

        Each stretch comes with its matcher, which is good until the next stretch is asked for, and with the name of
        the index version that it stands for.
        """
        positions = batch.column("position").to_numpy()
        if not len(positions):
            return
        first, last = int(positions[0]), int(positions[-1])
        cuts = self._store.boundaries(first, last)
        places = np.searchsorted(positions, cuts)
        for start, end in pairwise([0, *places.tolist(), len(positions)]):
            if start < end:
                at = int(positions[start])
                yield self.at(at), self.name(at), batch.slice(start, end - start)

    def at(self, position: int) -> Matcher:
        """The matcher for the event at a position."""
        version = self._store.ontology_version(position)
        if version != self._version:
            self._begin(version)
            changed = self._store.revisions(position - 1, position)
        else:
            changed = self._store.changes(*sorted((self._position, position)))
        self._change(changed, position)
        self._position = position
        return self._matcher

    def name(self, position: int) -> str:
        """The name of the index version that is valid for the event at a position.

        It tells the ontology's version, and the first position for which this and the same subscriptions are valid.
        """
        return f"{self._store.ontology_version(position)}@{self._store.last_boundary(position)}"

    def _begin(self, version: int) -> None:
        """Start anew: another ontology may give every subscription another meaning."""
        self._model = load_version(self._store, version)
        self._matcher = make_matcher(DEFAULT_MATCHER, self._model)
        self._version = version

    def _change(self, changed: Sequence[Revision], position: int) -> None:
        """Have of each subscription that changed the revision that is valid, if there is one."""
        valid = {revision.id: revision for revision in changed if revision.covers(position)}
        for id_ in {revision.id: None for revision in changed}:
            subscription = self._read(valid[id_]) if id_ in valid else None
            if subscription is not None:
                self._matcher.add(subscription)
            else:
                with suppress(KeyError):
                    self._matcher.remove(id_)

    def _read(self, revision: Revision) -> Subscription | None:
        try:
            return parse_subscription(revision.record, self._model)
        except Exception as error:  # whatever is wrong with a subscription, the others go on
            log.warning("subscription %r is left out: %s", revision.id, error)
            return None


def load_version(store: Store, version: int) -> ConceptModel:
    """The concept model of an ontology version; a document that cannot be read is left out."""

    def leave_out(error: OntologyError) -> None:
        log.error("ontology version %d: a document is left out: %s", version, error)

    ontology = store.ontology(version)
    return model_of_documents(ontology.documents if ontology else (), leave_out)
