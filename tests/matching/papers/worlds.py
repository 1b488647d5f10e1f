"""Random events around a home vertex, and random subscriptions in statement patterns that often match them."""

from __future__ import annotations

from random import Random

from pyoxigraph import BlankNode, Literal, NamedNode

from tests.worlds import BLANKS, CLASS_NAMES, CLASSES, LITERALS, NAMES, PROPERTIES, VARIABLES, condition
from triplewire.concepts.closure import ClosedEvent
from triplewire.rdf.graph import Event, event_graph
from triplewire.rdf.terms import RDF, RDFS, Triple
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    ClassConstraint,
    Pattern,
    Scope,
    Subscription,
    Variable,
)

MORE_BLANKS = [*BLANKS, BlankNode("d"), BlankNode("e")]
MORE_VARIABLES = [*VARIABLES, Variable("u"), Variable("v")]


def ops_event(rng: Random) -> Event:
    """Arcs that mostly leave vertices which others lead to."""
    reached = [BLANKS[0], BLANKS[0]]
    triples = []
    for _ in range(rng.randint(2, 16)):
        subject = rng.choice(reached)
        draw = rng.random()
        if draw < 0.3:
            triples.append(Triple(subject, RDF.type, rng.choice(CLASSES)))
        elif draw < 0.8:
            object_ = rng.choice([*MORE_BLANKS, *MORE_BLANKS, *NAMES])
            triples.append(Triple(subject, rng.choice([*PROPERTIES * 3, RDF["_1"]]), object_))
            reached.append(object_)
        else:
            triples.append(Triple(subject, rng.choice(PROPERTIES), rng.choice(LITERALS)))
    return Event("source", "event", event_graph(triples))


def ops_subscription(rng: Random, event: ClosedEvent, id_: str = "s") -> Subscription:
    """A part of the event's graph in which most vertices have become variables, now and then spoilt."""
    names = {}
    arcs, classes = [], []
    reached = [event.home]
    for _ in range(rng.choice([1, 2, 2, 3, 4, 5])):
        ways = sorted((t for t in event.relations if t.subject in (reached if arcs else reached[:1])), key=str)
        if not ways:
            break
        triple = rng.choice(ways)
        reached.append(triple.object)
        ends = [names.setdefault(end, _named(rng, end, event)) for end in (triple.subject, triple.object)]
        property_ = triple.property if rng.random() < 0.95 else rng.choice([*PROPERTIES, RDFS.member, RDF.type])
        arcs.append(Arc(ends[0], property_, ends[1], Scope.RELATIONS))
        for end, vertex in zip((triple.subject, triple.object), ends, strict=True):
            stated = {t.object for t in event.closed if t.subject == end and t.property == RDF.type}
            types = sorted((cls for cls in stated if isinstance(cls, NamedNode)), key=str)
            if rng.random() < 0.6:
                likely = rng.random() < 0.8 and not isinstance(end, Literal) and types
                classes.append(ClassConstraint(vertex, rng.choice(types or [RDFS.Resource] if likely else CLASS_NAMES)))
    if not arcs:
        arcs = [Arc(HOME, rng.choice(PROPERTIES), rng.choice(MORE_VARIABLES), Scope.RELATIONS)]
    pattern = Pattern(
        arcs=tuple(dict.fromkeys(arcs)),
        classes=tuple(dict.fromkeys(classes)),
        filters=tuple(_filters(rng, arcs)),
        mapping=rng.choice(["injective", "homomorphic"]),
    )
    return Subscription(id_, (Alternative(pattern),))


def _named(rng: Random, end, event: ClosedEvent):
    if end == event.home and rng.random() < 0.98:
        return HOME
    if rng.random() < 0.15 and not isinstance(end, BlankNode):
        return end if isinstance(end, Literal) else rng.choice(sorted(event.model.aliases(end), key=str))
    return rng.choice(MORE_VARIABLES) if rng.random() < 0.2 else Variable(f"w{rng.randrange(1000)}")


def _filters(rng: Random, arcs):
    bound = sorted({v for arc in arcs for v in (arc.subject, arc.object) if isinstance(v, Variable)}, key=str)
    leaves = [*bound, *bound, rng.choice(LITERALS), rng.choice(NAMES), HOME]
    return [condition(rng, leaves) for _ in range(rng.choice([0, 0, 0, 0, 1, 2]))]
