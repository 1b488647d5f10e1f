"""The matcher as it stands at a log position.

Which ontology and which subscriptions are valid for an event depends on its position alone, so that a replay matches
as the first run did.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.errors import OntologyError
from triplewire.matching import DEFAULT_MATCHER, make_matcher
from triplewire.matching.matcher import Matcher
from triplewire.store import Revision, Store
from triplewire.subscriptions.languages import parse_subscription

log = logging.getLogger(__name__)

Item = TypeVar("Item")


class Standing:
    """A matcher that moves along the log, taking in and letting go only what changes on the way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version: int | None = None
        self._position = 0
        self._held: dict[str, int] = {}

    def stretches(self, events: Sequence[tuple[int, Item]]) -> Iterator[tuple[Matcher, list[tuple[int, Item]]]]:
        """Cut ``(position, item)`` pairs, in log order, where something changes; each stretch with its matcher.

        A matcher is good until the next stretch is asked for.
        """
        cuts = self._store.boundaries(events[0][0], events[-1][0])
        for _, stretch in groupby(events, key=lambda event: bisect_right(cuts, event[0])):
            together = list(stretch)
            yield self.at(together[0][0]), together

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

    def _begin(self, version: int) -> None:
        """Start anew: another ontology may give every subscription another meaning."""
        self._model = load_version(self._store, version)
        self._matcher = make_matcher(DEFAULT_MATCHER, self._model)
        self._held.clear()
        self._version = version

    def _change(self, changed: Iterable[Revision], position: int) -> None:
        ended = [r for r in changed if self._held.get(r.id) == r.change and not r.covers(position)]
        for revision in ended:
            self._matcher.remove(revision.id)
            del self._held[revision.id]
        for revision in changed:
            if revision.covers(position) and revision.id not in self._held:
                self._add(revision)

    def _add(self, revision: Revision) -> None:
        try:
            self._matcher.add(parse_subscription(revision.record, self._model))
        except Exception as error:  # whatever is wrong with a subscription, the others go on
            log.warning("subscription %r is left out: %s", revision.id, error)
        else:
            self._held[revision.id] = revision.change


def load_version(store: Store, version: int) -> ConceptModel:
    """The concept model of an ontology version; a document that cannot be read is left out."""

    def leave_out(error: OntologyError) -> None:
        log.error("ontology version %d: a document is left out: %s", version, error)

    ontology = store.ontology(version)
    return model_of_documents(ontology.documents if ontology else (), leave_out)
