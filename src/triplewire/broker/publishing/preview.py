"""Looking at events before they are published: whether they can be read, what they say, and what they would trip."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pyoxigraph import NamedNode

from triplewire.broker.access.gate import Caller
from triplewire.broker.state import State
from triplewire.broker.subscribing.subscriptions import own_subscriptions
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.profile import event_profile
from triplewire.concepts.proposed import publication_proposals
from triplewire.errors import TriplewireError, nearest
from triplewire.lift.cloudevents import Envelope, open_envelope, prefixes_of
from triplewire.lift.feeds import DC, RSS
from triplewire.lift.keys import KEYS
from triplewire.lift.lower import lower
from triplewire.lift.places import place_in
from triplewire.matching import make_matcher
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.names import namespace
from triplewire.rdf.picture import picture
from triplewire.rdf.terms import RDF, WELL_KNOWN_PREFIXES
from triplewire.store.rights import SUBSCRIBE

MOST_SECONDS = 1.0
"""So long may it take to read what is in the envelopes; as much as was read by then is told of."""
MOST_COMPARING, MOST_MATCHING = 0.5, 1.0
"""Seconds to take in the caller's own subscriptions, and to see which of them the events trip."""
SHOWN, VERTICES, DRAWN = 3, 80, 5000
"""So many events of an envelope are drawn, each with so many vertices; none with more triples than the last."""
MOST_WARNINGS = 5
PREFIXES = WELL_KNOWN_PREFIXES | {"key": KEYS, "rss": RSS.base, "dc": DC.base}


def preview(envelopes: Sequence[Envelope], caller: Caller, shared: State) -> dict[str, Any]:
    """What would come of publishing events now. Nothing is stored.

    One that cannot be read has the reason for which it would become a dead letter.
    """
    model, end = shared.models.current(), time.monotonic() + MOST_SECONDS
    known = shared.store.positions((one.source, one.id) for one in envelopes)
    items: list[dict[str, Any]] = []
    events: list[Event] = []
    with shared.recent.turn():
        for envelope in envelopes:
            if items and time.monotonic() > end:
                break
            item, found = _read(envelope, model, shared)
            items.append(item | {"position": known.get((envelope.source, envelope.id))})
            events += found
        trips = _trips(events, caller, shared, model) if caller.may(SUBSCRIBE) else None
    return {"dryRun": True, "count": len(envelopes), "items": items, "trips": trips}


def _read(envelope: Envelope, model: ConceptModel, shared: State) -> tuple[dict[str, Any], list[Event]]:
    """What there is to tell of an envelope, and the events in it."""
    told: dict[str, Any] = {"id": envelope.id, "source": envelope.source, "type": envelope.type, "refused": None}
    try:
        events = open_envelope(envelope, shared.lifting)
    except TriplewireError as error:
        reason = str(error).encode("utf-8", "backslashreplace").decode()
        refused = {"reason": reason, **place_in(envelope.attributes, reason)}
        return told | {"refused": refused, "warnings": [], "count": 0, "events": []}, []
    shown = [_shown(event, prefixes_of(envelope.attributes), model) for event in events[:SHOWN]]
    warnings = list(islice(_warnings(events, model), MOST_WARNINGS))
    return told | {"warnings": warnings, "count": len(events), "events": shown}, events


def _shown(event: Event, declared: Mapping[str, str], model: ConceptModel) -> dict[str, Any]:
    graph, prefixes = event.graph, _used(PREFIXES | dict(declared), event.graph)
    drawn = len(graph.triples) <= DRAWN
    concepts = sorted(event_profile(graph, model), key=lambda one: (model.label(one), one.value))
    return {
        "id": event.id,
        "home": None if graph.home is None else str(graph.home),
        "triples": len(graph.triples),
        "turtle": lower(graph, "text/turtle", prefixes) if drawn else None,
        "svg": picture(graph, prefixes, f"The event {event.id}", VERTICES) if drawn else None,
        "concepts": [{"concept": one.value, "label": model.label(one)} for one in concepts],
        "proposes": [
            {"word": one.word, "under": model.label(one.parent)} for one in publication_proposals(graph, model)
        ],
    }


def _used(prefixes: Mapping[str, str], graph: Graph) -> dict[str, str]:
    """Those prefixes that names of the graph begin with."""
    spaces = {namespace(term.value) for triple in graph.triples for term in triple if isinstance(term, NamedNode)}
    return {prefix: space for prefix, space in prefixes.items() if space in spaces}


def _warnings(events: Sequence[Event], model: ConceptModel) -> Iterator[str]:
    """What is likely not meant, though it can be published."""
    if not events:
        yield "there is no event in it: a feed needs entries, a table rows below its header"
    if any(not event.graph.triples for event in events):
        yield "it says nothing: there is no triple in it"
    elif any(event.graph.home is None for event in events):
        yield "there is no home vertex, so only subscriptions that are not anchored can match; 'home' may name one"
    if any(len(event.graph.triples) > DRAWN for event in events):
        yield f"it is large: an event is drawn if it has {DRAWN:,} triples at most"
    spaces = {namespace(cls.value) for cls in model.classes}
    used = {
        triple.object
        for event in events
        for triple in event.graph.triples
        if triple.property == RDF.type and isinstance(triple.object, NamedNode)
    }
    for cls in sorted(used - model.classes - model.concept_parents.keys(), key=str):
        if namespace(cls.value) in spaces:
            near = nearest(cls.value, (one.value for one in model.classes))
            yield f"the ontology has no class {cls}" + (f"; did you mean <{near}>?" if near else "")


def _trips(events: Iterable[Event], caller: Caller, shared: State, model: ConceptModel) -> dict[str, Any]:
    """Which of the caller's own subscriptions the events would trip, as far as there is time to ask."""
    matcher, end = make_matcher("engine", model), time.monotonic() + MOST_COMPARING
    count, complete = 0, True
    for subscription in own_subscriptions(caller.name, shared, model):
        complete = time.monotonic() <= end
        if not complete:
            break
        matcher.add(subscription)
        count += 1
    end = time.monotonic() + MOST_MATCHING
    found: dict[str, dict[str, Any]] = {}
    for event in events if count else ():
        if time.monotonic() > end:
            complete = False
            break
        for match in matcher.match(event):
            one = found.setdefault(match.subscription, {"subscription": match.subscription, "events": 0, "score": 0.0})
            one |= {"events": one["events"] + 1, "score": max(one["score"], match.score)}
    matched = [found[id_] for id_ in sorted(found)]
    return {"matched": matched, "compared": {"subscriptions": count, "complete": complete}}
