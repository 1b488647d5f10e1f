"""Random subscriptions of one language each, over the names of ``tests.worlds``, some of them cut out of an event."""

from __future__ import annotations

from random import Random

from pyoxigraph import BlankNode, Literal

from tests import worlds
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import RDF, Triple
from triplewire.rdf.values import is_numeric_type
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    Call,
    IsA,
    Pattern,
    Scope,
    Subscription,
    Variable,
)


def gtopss(rng: Random, id_: str, event: Event) -> Subscription:
    """A subscription as ``gtopss`` can say it, half of them with arcs that are like some of the event's."""
    triples = sorted(event.graph.triples, key=str)
    if triples and rng.random() < 0.6:
        arcs = _cut_out(rng, rng.choices(triples, k=rng.choice([1, 2, 2, 3, 4])), event.graph)
    else:
        arcs = [_arc(rng) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    ends = sorted({v for a in arcs for v in (a.subject, a.object) if isinstance(v, Variable)}, key=str)
    constraints = [_constraint(rng, rng.choice(ends)) for _ in range(rng.choice([0, 0, 1, 1, 2]))] if ends else []
    pattern = Pattern(
        arcs=tuple(dict.fromkeys(arcs)),
        is_a=tuple(c for c in constraints if isinstance(c, IsA)),
        filters=tuple(c for c in constraints if isinstance(c, Call)),
        mapping=rng.choice(["homomorphic", "homomorphic", "injective"]),
    )
    return Subscription(id_, (Alternative(pattern),))


def _cut_out(rng: Random, triples: list[Triple], graph: Graph) -> list[Arc]:
    """Arcs of an event with variables for some of its terms, and the names of others perhaps exchanged."""
    variables = rng.sample(worlds.VARIABLES, len(worlds.VARIABLES))
    stands_for = {}

    def part(term, may_stay):
        if term not in stands_for:
            stay = may_stay and rng.random() < 0.5
            stands_for[term] = term if stay or not variables else variables.pop()
        return stands_for[term]

    def end(term):
        if term == graph.home and rng.random() < 0.5:
            return HOME
        found = part(term, not isinstance(term, BlankNode))
        return rng.choice(worlds.VARIABLES) if isinstance(found, BlankNode) else found

    def property_(term):
        return rng.choice(worlds.VARIABLES) if rng.random() < 0.15 else term

    return [Arc(end(t.subject), property_(t.property), end(t.object), Scope.ASSERTED) for t in triples]


def _arc(rng: Random) -> Arc:
    properties = [
        *worlds.PROPERTIES,
        *worlds.PROPERTIES,
        RDF.type,
        *worlds.LIST_WORDS[-2:],
        rng.choice(worlds.VARIABLES),
    ]
    return Arc(_vertex(rng, False), rng.choice(properties), _vertex(rng, True), Scope.ASSERTED)


def _vertex(rng: Random, literals: bool):
    draw = rng.random()
    if draw < 0.7:
        return rng.choice(worlds.VARIABLES)
    if draw < 0.8:
        return HOME
    return rng.choice(rng.choice([worlds.NAMES, worlds.CLASSES, worlds.LITERALS if literals else worlds.NAMES]))


def _constraint(rng: Random, variable: Variable):
    operator = rng.choice(worlds.COMPARISONS)
    if rng.random() < 0.6:
        return IsA(variable, operator, rng.choice(worlds.CLASS_NAMES))
    literal: Literal = rng.choice(worlds.LITERALS)
    bound = Call("number", (variable,)) if is_numeric_type(literal.datatype) else variable
    return Call(operator, (bound, literal))
