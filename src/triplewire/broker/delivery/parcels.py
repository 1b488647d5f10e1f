"""Parcels: what is sent at once, which is one notification, or all that have waited; and what is left out of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, NamedNode, Quad

from triplewire.broker.notifying.notifications import event_of
from triplewire.errors import EventError
from triplewire.lift.lifting import Lifting
from triplewire.rdf.graph import Graph
from triplewire.store import Content, Delivery, Notification, Omission, Portion, Store
from triplewire.store.terms import boundary

FEW = 20
JOINED = 100
"""So many notifications are sent together at most."""
TANGLED = 64
"""Graphs with more blank nodes than this are compared by the names of these: to find out more could take for ever."""
HOME = NamedNode("urn:triplewire:home")


@dataclass(frozen=True)
class Parcel:
    """Notifications to be sent together, perhaps none. With them, all up to a ``number`` are done with."""

    notifications: Sequence[Notification]
    number: int
    suppressed: Sequence[Omission] = ()
    told: Sequence[Content] = ()


def is_joined(delivery: Delivery) -> bool:
    """Whether a delivery gets what has waited together."""
    return bool(delivery.terms.throttling or delivery.terms.digest or delivery.channel == "websub")


def portion(delivery: Delivery, now: datetime) -> Portion:
    """How much of what waits is read at a time."""
    few = JOINED if is_joined(delivery) else 1 if delivery.failing_since else FEW
    return Portion(delivery, few, boundary(now, delivery.terms.digest) if delivery.terms.digest else None)


def parcels(store: Store, delivery: Delivery, waiting: Sequence[Notification], lifting: Lifting) -> list[Parcel]:
    """What waits, as it is to be sent."""
    single = [Parcel([found], found.number) for found in waiting]
    if delivery.terms.duplicates:
        single = list(_without_duplicates(store, delivery, waiting, lifting))
    return [_together(single)] if is_joined(delivery) and single else single


def _together(single: Iterable[Parcel]) -> Parcel:
    parts = list(single)
    return Parcel(
        [found for part in parts for found in part.notifications],
        parts[-1].number,
        [one for part in parts for one in part.suppressed],
        [one for part in parts for one in part.told],
    )


def _without_duplicates(
    store: Store, delivery: Delivery, waiting: Sequence[Notification], lifting: Lifting
) -> Iterator[Parcel]:
    """Those whose content was told by another one shortly before are left out."""
    hashes = {found.number: content_of(found, lifting) for found in waiting}
    told = store.deliveries.contents(delivery.number, hashes.values())
    window = timedelta(seconds=delivery.terms.duplicates)
    for found in waiting:
        known = told.get(hashes[found.number])
        if known is not None and known.notification != found.number and _apart(known.received, found.received) < window:
            why = f"of the same content as {known.notification}, within {window}"
            yield Parcel([], found.number, [Omission(found.number, "suppressed", why)])
            continue
        own = told[hashes[found.number]] = Content(hashes[found.number], found.number, found.received)
        yield Parcel([found], found.number, told=[own])


def _apart(one: str, other: str) -> timedelta:
    return abs(datetime.fromisoformat(other) - datetime.fromisoformat(one))


def content_of(found: Notification, lifting: Lifting) -> str:
    """A hash of what an event says: the same for the same graph, whatever its blank nodes are called."""
    try:
        return _canonical_hash(event_of(found, lifting).graph)
    except (EventError, ValueError):  # lifted by other settings than today's, or not kept any more
        return sha256(f"{found.source} {found.event} {found.body}".encode()).hexdigest()


def _canonical_hash(graph: Graph) -> str:
    dataset = Dataset(Quad(*triple) for triple in graph.triples)
    if graph.home is not None:
        dataset.add(Quad(graph.home, HOME, HOME))
    if sum(isinstance(one, BlankNode) for one in graph.resources) <= TANGLED:
        dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return sha256("\n".join(sorted(map(str, dataset))).encode()).hexdigest()
