"""Random subscriptions of one language each, over the names of ``tests.worlds``, some of them cut out of an event."""

from __future__ import annotations

from random import Random

from pyoxigraph import BlankNode, Literal

from tests import worlds
from tests.matching.papers.churn import any_event
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import RDF, XSD, Triple
from triplewire.rdf.values import is_numeric_type
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    Alternative,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    IsA,
    Pattern,
    Scope,
    Subscription,
    Variable,
)

TEXTS = [Literal(""), Literal("a"), Literal("ab"), Literal("abc"), Literal("a", language="en"), Literal("AB")]
CLOSE_TOGETHER = [
    *worlds.LITERALS,
    *(Literal(text, datatype=XSD[kind]) for text in ("1", "2", "3") for kind in ("integer", "decimal", "double")),
    *(Literal(f"1.{zeros}1", datatype=XSD[kind]) for zeros in ("", "0" * 9, "0" * 18) for kind in ("decimal", "float")),
    *(Literal(f"1677721{n}", datatype=XSD[kind]) for n in (6, 7) for kind in ("integer", "float", "double")),
    Literal("1" + "0" * 400, datatype=XSD.integer),
]
"""Numbers that rounding makes equal, or does not; and one beyond all doubles."""


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


def filters(rng: Random, id_: str, event: Event) -> Subscription:
    """A subscription as ``filter`` can say it, most of them conjunctions of comparisons."""
    if rng.random() < 0.3:
        expression = worlds.attribute_filter(rng)
    else:
        parts = tuple(_attribute(rng) for _ in range(rng.choice([1, 1, 2, 3])))
        expression = Call("and" if rng.random() < 0.8 else "or", parts) if len(parts) > 1 else parts[0]
    return Subscription(id_, (Alternative(Pattern(filters=(expression,))),))


def _attribute(rng: Random) -> Expression:
    path = tuple(rng.choice(worlds.PROPERTIES[:3]) for _ in range(rng.choice([1, 1, 1, 2])))
    draw = rng.random()
    if draw < 0.1:
        stated: Expression = AttributeExists(path)
    elif draw < 0.3:
        name = rng.choice(["=", "in"])
        operands = rng.choices([*worlds.LITERALS, *worlds.NAMES], k=1 if name == "=" else 2)
        stated = AttributeTest(path, Call(name, (VALUE, *operands)))
    elif draw < 0.4:
        stated = AttributeTest(path, Call("strstarts", (VALUE, rng.choice(TEXTS))))
    else:
        stated = AttributeTest(path, Call(rng.choice(worlds.COMPARISONS), (VALUE, rng.choice(CLOSE_TOGETHER))))
    return Call("not", (stated,)) if rng.random() < 0.15 else stated


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


def attributes(rng: Random) -> Event:
    """An event whose home vertex has several values of few attributes; now and then any event at all."""
    if rng.random() < 0.3:
        return any_event(rng)
    values = [*CLOSE_TOGETHER, *worlds.LITERALS, *worlds.NAMES, *TEXTS, BlankNode("a")]
    starts = [BlankNode("H"), BlankNode("H"), BlankNode("a"), worlds.NAMES[0]]
    properties = worlds.PROPERTIES[:3]
    arcs = [Triple(rng.choice(starts), rng.choice(properties), rng.choice(values)) for _ in range(rng.randint(1, 8))]
    return Event("source", "event", Graph(arcs, BlankNode("H")))
