"""Random small worlds for property tests: models with multiple inheritance, events, patterns.

Each is drawn from a ``random.Random``, which Hypothesis supplies (``worlds()``) and shrinks, or a seed.
Literals are canonical, because Oxigraph writes them so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from random import Random

from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.rdf.graph import Event, Graph, event_graph
from triplewire.rdf.terms import OWL, RDF, RDFS, TW, XSD, Triple
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    Alternative,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    ClassConstraint,
    Interest,
    IsA,
    Pattern,
    Residual,
    Scope,
    Subscription,
    Variable,
)

EX = "http://example.org/"
CLASSES = [NamedNode(f"{EX}{name}") for name in "ABCDE"]
PROPERTIES = [NamedNode(f"{EX}p{i}") for i in range(4)]
NAMES = [NamedNode(f"{EX}n{i}") for i in range(4)]
LIST_WORDS = [RDF.first, RDF.rest, RDF.rest, RDF["_1"], RDF["_22"]]
BLANKS = [BlankNode("H"), BlankNode("a"), BlankNode("b"), BlankNode("c")]
VARIABLES = [Variable(name) for name in ("x", "y", "z", "1")]


def _moment(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=XSD[datatype])


LITERALS = [
    Literal(1),
    Literal(2),
    Literal(-3),
    Literal("1.5", datatype=XSD.decimal),
    Literal("2", datatype=XSD.decimal),
    Literal("1.5", datatype=XSD.float),
    Literal("2", datatype=XSD.double),
    Literal("INF", datatype=XSD.double),
    Literal("NaN", datatype=XSD.double),
    Literal(""),
    Literal("abc"),
    Literal("ABC"),
    Literal("2"),
    Literal("2.5"),
    Literal("abc", language="en"),
    Literal("abd", language="en-gb"),
    Literal(True),
    Literal(False),
    Literal("x", datatype=XSD.token),
    Literal("q", datatype=NamedNode(f"{EX}type")),
    _moment("2020-01-01T00:00:00", "dateTime"),
    _moment("2020-01-01T00:00:00Z", "dateTime"),
    _moment("2020-01-01T10:00:00+01:00", "dateTime"),
    _moment("2020-01-03T00:00:00Z", "dateTime"),
    _moment("2019-02-28", "date"),
    _moment("2020-01-01Z", "date"),
    _moment("10:30:00", "time"),
    _moment("11:30:00.5Z", "time"),
]

CLASS_NAMES = CLASSES * 2 + [OWL.Thing, RDFS.Resource, RDFS.Literal, XSD.decimal, XSD.integer, XSD.string, TW.Number]
COMPARISONS = ["=", "!=", "<", "<=", ">", ">="]
TO_TERM = ["str", "lang", "datatype", "lcase", "ucase", "strlen", "abs", "ceil", "floor", "round"]
TO_TERM += ["year", "month", "day", "hours", "minutes", "seconds"]
RESIDUALS = [
    Residual(f"SELECT ?x ?o {{ ?x <{EX}p0> ?o OPTIONAL {{ ?o <{EX}p1> ?q }} }}", "SELECT", False),
    Residual(f"ASK {{ <urn:triplewire:home> ?p ?o FILTER NOT EXISTS {{ ?o <{EX}p1> ?q }} }}", "ASK", True),
    Residual(f"SELECT (COUNT(*) AS ?n) {{ ?x a <{EX}A> }} HAVING (COUNT(*) > 1)", "SELECT", False),
]
QUERIES = [
    "ASK { ?x a ex:A }",
    "ASK { ?x a ex:A ; ex:p0 ?y . ?y a ex:B }",
    "SELECT ?x { ?x ex:p0 ?y }",
    "SELECT DISTINCT ?x { ?x ?p ?y }",
    "SELECT ?x ?t { ?x a ?t }",
    "SELECT * { tw:home ex:p1 ?x . OPTIONAL { ?x ex:p2 ?y } }",
    "SELECT * { { ?x ex:p0 ?y } UNION { ?x ex:p1 ?y } FILTER(isIRI(?y)) }",
    "SELECT ?y { ?x ex:p2 ?y FILTER(?y > 1 && ?y <= 2.0) }",
    "ASK { ?x ex:p3 ?y FILTER NOT EXISTS { ?y a ex:C } }",
    "CONSTRUCT { ?y ex:back ?x } WHERE { ?x ex:p0 ?y FILTER(!isLiteral(?y)) }",
    "SELECT (COUNT(*) AS ?n) { ?x ex:p1 ?y }",
    "ASK { ex:n0 ?p ex:n1 }",
]


@dataclass(frozen=True)
class World:
    model: ConceptModel
    event: Event
    subscription: Subscription


def worlds() -> st.SearchStrategy[World]:
    """A model, an event, and a subscription over the same few names."""
    return st.randoms(use_true_random=False).map(world)


def world(rng: Random) -> World:
    return World(model(rng), Event("source", "event", graph(rng)), subscription(rng))


def model(rng: Random) -> ConceptModel:
    return ConceptModel(
        class_parents=_table(rng, CLASSES, CLASSES, 6),
        property_parents=_table(rng, PROPERTIES, [*PROPERTIES, *PROPERTIES, RDF.type], 3),
        inverses=_symmetric(_table(rng, PROPERTIES, PROPERTIES, 1)),
        same=_symmetric(_table(rng, CLASSES + NAMES + PROPERTIES[:1], CLASSES + NAMES, rng.choice([0, 0, 2]))),
        types=_table(rng, NAMES, CLASSES, 3),
        domains=_table(rng, PROPERTIES, CLASSES, 2),
        ranges=_table(rng, PROPERTIES, CLASSES, 2),
        typing=rng.choice(["asserted", "asserted", "rdfs"]),
    )


def graph(rng: Random, most: int = 9) -> Graph:
    resources = [*BLANKS, *BLANKS, *NAMES, CLASSES[0]]
    triples = []
    for _ in range(rng.randint(0, most)):
        if rng.random() < 0.3:
            triples.append(Triple(rng.choice(resources), RDF.type, rng.choice(CLASSES)))
        else:
            end = rng.choice(resources) if rng.random() < 0.6 else rng.choice(LITERALS)
            property_ = rng.choice(LIST_WORDS) if rng.random() < 0.1 else rng.choice(PROPERTIES)
            triples.append(Triple(rng.choice(resources), property_, end))
    drawn = event_graph(triples)
    return Graph(drawn.triples, None) if rng.random() < 0.1 else drawn


def subscription(rng: Random, id_: str = "s") -> Subscription:
    return Subscription(id_, tuple(_alternative(rng) for _ in range(rng.choice([1, 1, 2]))))


def anything(rng: Random, id_: str) -> Subscription:
    """A subscription of any kind: patterns, interests, both together or beside each other, or a query."""
    draw = rng.random()
    if draw < 0.7:
        return subscription(rng, id_)
    if draw < 0.8:
        return replace(query(rng.choice(QUERIES)), id=id_)
    interests = tuple(interest(rng) for _ in range(rng.choice([1, 1, 2])))
    near = [Pattern(interests=interests), replace(pattern(rng), interests=interests)]
    chosen = [Alternative(one) for one in rng.sample(near, rng.choice([1, 2]))]
    return Subscription(id_, (*chosen, _alternative(rng)) if rng.random() < 0.3 else tuple(chosen))


@cache
def query(text: str) -> Subscription:
    record = {"id": text, "language": "sparql", "prefixes": {"ex": EX}, "pattern": text}
    return parse_subscription(record, ConceptModel())


def interest(rng: Random) -> Interest:
    concepts = tuple(rng.sample([*CLASSES, *NAMES], rng.randint(1, 4)))
    attached = ((TW["proposed:x"], concepts[0]),) if rng.random() < 0.2 else ()
    return Interest(
        (*concepts, *(new for new, _ in attached)), rng.choice([-0.1, 0.0, 0.3, 0.5, 0.7, 0.75, 1.0]), attached
    )


def pattern(rng: Random) -> Pattern:
    arcs = [_arc(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    bound = sorted({v for a in arcs for v in (a.subject, a.property, a.object) if isinstance(v, Variable)}, key=str)
    ends = [v for a in arcs for v in (a.subject, a.object)] or [_vertex(rng)]
    filters = []
    if rng.random() < 0.5:
        leaves = [*bound, *bound, rng.choice(LITERALS), rng.choice(LITERALS), rng.choice(NAMES)]
        filters.append(condition(rng, leaves) if rng.random() < 0.7 else attribute_filter(rng))
    return Pattern(
        arcs=tuple(arcs),
        classes=tuple(
            ClassConstraint(rng.choice(ends), rng.choice(CLASS_NAMES)) for _ in range(rng.choice([0, 0, 1, 2]))
        ),
        is_a=tuple(
            IsA(rng.choice(ends), rng.choice(COMPARISONS), rng.choice(CLASS_NAMES))
            for _ in range(rng.choice([0, 0, 1]))
        ),
        filters=tuple(filters),
        mapping=rng.choice(["injective", "homomorphic"]),
    )


def _alternative(rng: Random) -> Alternative:
    return Alternative(pattern(rng), rng.choice(RESIDUALS) if rng.random() < 0.2 else None)


def _arc(rng: Random) -> Arc:
    subject = _vertex(rng)
    while isinstance(subject, Literal):
        subject = _vertex(rng)
    property_ = rng.choice([*PROPERTIES, *PROPERTIES, RDF.type, RDFS.member, rng.choice(VARIABLES)])
    return Arc(subject, property_, _vertex(rng), rng.choice(list(Scope)))


def _vertex(rng: Random):
    draw = rng.random()
    if draw < 0.55:
        return rng.choice(VARIABLES)
    if draw < 0.75:
        return HOME
    return rng.choice(rng.choice([NAMES, NAMES, CLASSES, LITERALS]))


def term(rng: Random, leaves, depth: int = 0):
    """An expression that comes to a term."""
    draw = rng.random()
    if depth > 1 or draw < 0.6:
        return rng.choice(leaves)
    if draw < 0.78:
        return Call(rng.choice(TO_TERM), (term(rng, leaves, depth + 1),))
    if draw < 0.9:
        return Call(rng.choice("+-*"), (term(rng, leaves, depth + 1), term(rng, leaves, depth + 1)))
    if draw < 0.95:
        return Call("coalesce", (term(rng, leaves, depth + 1), rng.choice(leaves)))
    return Call(rng.choice(["negate", "number"]), (rng.choice(leaves),))


def condition(rng: Random, leaves, depth: int = 0):
    """An expression that comes to a truth, or to an error."""
    draw = rng.random()
    inner = [condition(rng, leaves, depth + 1) for _ in range(3)] if depth < 2 and draw > 0.6 else []
    if inner:
        if draw < 0.85:
            return Call(rng.choice(["and", "or"]), (inner[0], inner[1]))
        return Call("not", (inner[0],)) if draw < 0.95 else Call("if", tuple(inner))
    draw = rng.random()
    one, other = term(rng, leaves), term(rng, leaves)
    if draw < 0.45:
        return Call(rng.choice(COMPARISONS), (one, other))
    if draw < 0.6:
        return Call(rng.choice(["contains", "strstarts", "strends", "sameterm"]), (one, other))
    if draw < 0.7:
        return Call("regex", (one, Literal(rng.choice(["^a", "B", "c$", "."]))))
    if draw < 0.8:
        return Call("in", (one, other, term(rng, leaves)))
    if draw < 0.9:
        return Call(rng.choice(["isiri", "isblank", "isliteral", "isnumeric"]), (one,))
    if draw < 0.95:
        return Call("langmatches", (Call("lang", (one,)), Literal(rng.choice(["en", "*"]))))
    return one


def attribute_filter(rng: Random, depth: int = 0):
    """A boolean expression over attributes, as the ``filter`` language says it."""
    draw = rng.random()
    if depth < 2 and draw > 0.6:
        if draw < 0.75:
            return Call("not", (attribute_filter(rng, depth + 1),))
        return Call(rng.choice(["and", "or"]), (attribute_filter(rng, depth + 1), attribute_filter(rng, depth + 1)))
    path = tuple(rng.choice(PROPERTIES) for _ in range(rng.choice([1, 1, 2])))
    if rng.random() < 0.3:
        return AttributeExists(path)
    return AttributeTest(path, condition(rng, [VALUE, VALUE, rng.choice(LITERALS)]))


def _table(rng: Random, children, parents, most: int):
    return _grouped([(rng.choice(children), rng.choice(parents)) for _ in range(rng.randint(0, most))])


def _grouped(pairs):
    table = {}
    for child, parent in pairs:
        table[child] = table.get(child, frozenset()) | {parent}
    return table


def _symmetric(table):
    both = [(a, b) for a, bs in table.items() for b in bs]
    return _grouped(both + [(b, a) for a, b in both])
