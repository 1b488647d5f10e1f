"""Random events around a home vertex, and random subscriptions in statement patterns, cut out of them."""

from __future__ import annotations

from random import Random

from pyoxigraph import BlankNode, Literal, NamedNode

from tests.worlds import BLANKS, CLASS_NAMES, CLASSES, LITERALS, NAMES, PROPERTIES, VARIABLES, condition
from triplewire.rdf.graph import Event, event_graph
from triplewire.rdf.terms import RDF, RDFS, Term, Triple
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    ClassConstraint,
    Pattern,
    Scope,
    Subscription,
    Variable,
    Vertex,
)

MORE_BLANKS = [*BLANKS, BlankNode("d"), BlankNode("e")]


def event_around_home(rng: Random) -> Event:
    """Arcs that leave the home vertex and what can be reached from it."""
    reached = [BLANKS[0], BLANKS[0]]
    triples = []
    for _ in range(rng.randint(2, 16)):
        subject, draw = rng.choice(reached), rng.random()
        if draw < 0.3:
            triples.append(Triple(subject, RDF.type, rng.choice(CLASSES)))
        elif draw < 0.8:
            object_ = rng.choice([*MORE_BLANKS, *MORE_BLANKS, *NAMES])
            triples.append(Triple(subject, rng.choice([*PROPERTIES * 3, RDF["_1"]]), object_))
            reached.append(object_)
        else:
            triples.append(Triple(subject, rng.choice(PROPERTIES), rng.choice(LITERALS)))
    return Event("source", "event", event_graph(triples, "_:H" if rng.random() < 0.1 else None))


def statement_patterns(rng: Random, id_: str, event: Event) -> Subscription:
    """A part of the event's graph with variables for most of its vertices, and other names and classes for some."""
    names: dict[Term, Vertex] = {event.graph.home: HOME}
    arcs, reached = [], [event.graph.home]
    for _ in range(rng.choice([1, 2, 2, 3, 4, 5])):
        relations = (t for t in event.graph.triples if t.property != RDF.type)
        ways = sorted((t for t in relations if t.subject in (reached if arcs else reached[:1])), key=str)
        if ways:
            triple = rng.choice(ways)
            reached.append(triple.object)
            arcs.append(_arc(rng, triple, names))
    if not arcs:
        arcs = [Arc(HOME, rng.choice(PROPERTIES), rng.choice(VARIABLES), Scope.RELATIONS)]
    ends = [end for arc in arcs for end in (arc.subject, arc.object)]
    types = [(names[t.subject], t.object) for t in event.graph.triples if t.property == RDF.type and t.subject in names]
    classes = [ClassConstraint(*pair) for pair in sorted(types, key=str) if pair[0] in ends and rng.random() < 0.4]
    classes += [ClassConstraint(end, rng.choice(CLASS_NAMES)) for end in ends if rng.random() < 0.1]
    classes += [ClassConstraint(end, RDFS.Resource) for end in ends if rng.random() < 0.1]
    bound = sorted({v for v in ends if isinstance(v, Variable)}, key=str)
    leaves = [*bound, *bound, rng.choice(LITERALS), rng.choice(NAMES), HOME]
    pattern = Pattern(
        arcs=tuple(dict.fromkeys(arcs)),
        classes=tuple(dict.fromkeys(classes)),
        filters=tuple(condition(rng, leaves) for _ in range(rng.choice([0, 0, 0, 0, 1, 2]))),
        mapping=rng.choice(["injective", "homomorphic"]),
    )
    return Subscription(id_, (Alternative(pattern),))


def _arc(rng: Random, triple: Triple, names: dict[Term, Vertex]) -> Arc:
    object_ = names.setdefault(triple.object, _name(rng, triple.object))
    if object_ == HOME and rng.random() < 0.5:
        object_ = rng.choice(VARIABLES)
    property_ = triple.property if rng.random() < 0.85 else rng.choice([*PROPERTIES, RDFS.member, RDF.type])
    return Arc(names[triple.subject], property_, object_, Scope.RELATIONS)


def _name(rng: Random, term: Term) -> Vertex:
    if isinstance(term, NamedNode | Literal) and rng.random() < 0.2:
        return term if isinstance(term, Literal) else rng.choice([term, term, *NAMES])
    return rng.choice(VARIABLES) if rng.random() < 0.2 else Variable(f"v{rng.randrange(100)}")
