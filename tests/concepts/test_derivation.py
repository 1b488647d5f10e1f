"""Why a triple is in G*: each step is looked up in the ontology as it is written, and nowhere else."""

from itertools import pairwise

from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode

from tests.worlds import CLASS_NAMES, worlds
from triplewire.concepts.closure import close
from triplewire.concepts.datatypes import datatype_tree
from triplewire.concepts.derivation import Derivations
from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, reachable
from triplewire.lift.cloudevents import parse_event
from triplewire.rdf.terms import OWL, RDF, RDFS, Triple, renamed
from triplewire.testing import cloud_event


def same(model, one, other):
    return other in reachable(one, lambda name: model.same.get(name, ()))


def states(model, statement):
    """Whether a model says so, in so many words."""
    lower, word, upper = statement
    tables = {
        RDFS.subClassOf: [model.class_parents, datatype_tree()],
        RDFS.subPropertyOf: [model.property_parents],
        OWL.inverseOf: [model.inverses],
        RDFS.domain: [model.domains],
        RDFS.range: [model.ranges],
    }
    if word == OWL.sameAs:
        return same(model, lower, upper)
    membership = word == RDFS.subPropertyOf and upper == RDFS.member and lower.value.startswith(RDF.base + "_")
    return membership or any(upper in table.get(lower, ()) for table in tables[word])


def follows(step, before, model):
    """Whether a step's fact follows from the fact before it and the one statement that it goes by."""
    [statement] = step.by
    s, p, o = before
    lower, _, upper = statement
    renamed = [(upper if s == lower else s, p, o), (s, p, upper if o == lower else o)]
    reached = {
        "subclass": [(s, p, upper)] if p == RDF.type and o == lower else [],
        "same": renamed,
        "subproperty": [(s, upper, o)] if p == lower else [],
        "inverse": [(o, upper, s)] if p == lower and not isinstance(o, Literal) else [],
        "domain": [(s, RDF.type, upper)] if p == lower and model.typing == "rdfs" else [],
        "range": [(o, RDF.type, upper)] if p == lower and model.typing == "rdfs" and not isinstance(o, Literal) else [],
    }
    return states(model, statement) and step.fact in reached[step.rule]


def begins(step, graph, model, names):
    asserted = {renamed(triple, names) for triple in graph.triples}
    match step.rule:
        case "stated":
            return step.fact in graph.triples
        case "known":
            return step.fact.property == RDF.type and step.fact.object in model.types[step.fact.subject]
        case "datatype":
            return step.fact == (step.fact.subject, RDF.type, step.fact.subject.datatype)
        case "every":
            every = EVERY_LITERAL if isinstance(step.fact.subject, Literal) else EVERY_RESOURCE
            return step.fact.object in every
        case "member":
            *rest, first = step.by
            cells = [step.fact.subject, *(arc.object for arc in rest)]
            linked = [(one, RDF.rest, other) for one, other in pairwise(cells)]
            return rest == linked and first == (cells[-1], RDF.first, step.fact.object) and {*step.by} <= asserted


def check(chain, end, graph, model, names):
    first, *rest = chain
    assert begins(first, graph, model, names), first
    before = first
    for step in rest:
        assert follows(step, before.fact, model), (before, step)
        before = step
    assert before.fact == end


@settings(max_examples=400, deadline=None)
@given(worlds())
def test_every_triple_of_the_closed_event_is_derived_step_by_step(world):
    graph, model = world.event.graph, world.model
    closed = close(graph, model)
    why = Derivations(graph, closed)
    for triple in closed.closed:
        check(why.of(triple), triple, graph, model, closed.names)
    for triple in closed.relations:
        chain = why.of_relation(triple)
        check(chain, triple, graph, model, closed.names)
        assert chain[0].fact.property != RDF.type
        assert {step.rule for step in chain} <= {"stated", "member", "same", "subproperty", "inverse"}
    for triple in closed.asserted:
        chain = why.of_statement(triple)
        check(chain, triple, graph, model, closed.names)
        assert {step.rule for step in chain} <= {"stated", "same"}


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_every_class_of_a_vertex_is_derived_step_by_step(world):
    graph, model = world.event.graph, world.model
    closed = close(graph, model)
    why = Derivations(graph, closed)
    for vertex in closed.vertices:
        for cls in CLASS_NAMES:
            if closed.has_class(vertex, cls):
                check(why.of_class(vertex, cls), (vertex, RDF.type, cls), graph, model, closed.names)


def test_the_shortest_derivation_is_told():
    ontology = """@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:D . ex:A rdfs:subClassOf ex:C , ex:D ."""
    model = model_of(read_ontology(ontology, "text/turtle", "ontology"))
    graph = parse_event(cloud_event("_:H a <http://example.org/A> .")).graph
    chain = Derivations(graph, close(graph, model)).of(Triple(graph.home, RDF.type, NamedNode("http://example.org/D")))
    assert [step.rule for step in chain] == ["stated", "subclass"]
