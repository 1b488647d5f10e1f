"""What follows from matching besides notifications: suggestions to friends, and concepts to be proposed."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import publication_proposals
from triplewire.errors import StoreAwayError, StoreFullError, StoreReadOnlyError, SubscriptionError
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.lifting import Lifting
from triplewire.matching.suggestions import audience, suggestions
from triplewire.pipeline.snapshots import load_version
from triplewire.rdf.graph import Event
from triplewire.store import Offer, Outcome, Store
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription

SUBTYPE = "publicationSubType"
"""What an event's text has in it if it may give a subtype, unless the settings of lifting put it in."""
HIDDEN = "data_base64"
"""What it has in it if it cannot be seen what its data say."""

log = logging.getLogger(__name__)


class Society:
    """Looks again at the few events of a batch that somebody shares, or that may bring in a new concept."""

    def __init__(self, store: Store, lifting: Lifting) -> None:
        self._store = store
        self._lifting = lifting
        self._saying = ("",) if SUBTYPE in repr(lifting) else (SUBTYPE, HIDDEN)
        self._model = lru_cache(maxsize=2)(self._loaded)

    def propose(self, upto: int) -> None:
        """Propose the unknown concepts of the publications up to a position that the pipeline is not done with."""
        for stored in self._store.events_saying(self._saying, self._store.pipeline_position(), upto):
            with _harmless(stored.position):
                model = self._model(self._store.ontology_version(stored.position))
                for event in parse_events(stored.body, self._lifting):
                    self._store.propose(publication_proposals(event.graph, model), event.source, event.id)

    def offers(self, outcomes: Sequence[Outcome]) -> list[Offer]:
        """What friends of those who are told are offered; which does not depend on when it is asked."""
        positions = [outcome.position for outcome in outcomes]
        if not positions or not self._store.people.anybody_shares(min(positions) - 1, max(positions)):
            return []
        told: dict[tuple[int, str], list[str]] = defaultdict(list)
        for outcome in outcomes:
            told[outcome.position, outcome.event].append(outcome.subscription)
        found: list[Offer] = []
        for (position, event), subscriptions in told.items():
            with _harmless(position):
                found += self._offers(position, event, subscriptions)
        return found

    def _offers(self, position: int, event: str, subscriptions: Iterable[str]) -> Iterator[Offer]:
        told = self._store.people.owners_at(position, subscriptions)
        sharing = [person for person in self._store.people.at(position, told) if person.shares]
        known = {friend for person in sharing for friend in person.knows}
        friends = audience(told, [*sharing, *self._store.people.at(position, known - told)])
        if friends:
            model = self._model(self._store.ontology_version(position))
            theirs = {friend: list(self._subscriptions(friend, position, model)) for friend in friends}
            for one in suggestions(self._event(position, event), friends, theirs, model):
                yield Offer(position, one.event, one.person, one.subscription, one.score)

    def _subscriptions(self, owner: str, position: int, model: ConceptModel) -> Iterator[Subscription]:
        for record in self._store.people.records_at(position, owner):
            try:
                yield parse_subscription(record, model)
            except SubscriptionError:
                continue  # it matches nothing either

    def _event(self, position: int, id_: str) -> Event:
        [stored] = self._store.events(position - 1, position)
        return next(event for event in parse_events(stored.body, self._lifting) if event.id == id_)

    def _loaded(self, version: int) -> ConceptModel:
        return load_version(self._store, version)


@contextmanager
def _harmless(position: int) -> Iterator[None]:
    """Whatever is wrong with an event, notifications go on. If the store is what is wrong, all is done again."""
    try:
        yield
    except (StoreAwayError, StoreFullError, StoreReadOnlyError):
        raise
    except Exception as error:
        log.warning("nothing is suggested or proposed of the event at %d: %s", position, error)
