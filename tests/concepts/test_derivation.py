"""Why a triple is in G*: each step is looked up in the ontology as it is written, and nowhere else."""

from hypothesis import given, settings
from pyoxigraph import NamedNode

from tests.derivations import check_chain
from tests.worlds import CLASS_NAMES, worlds
from triplewire.concepts.closure import close
from triplewire.concepts.derivation import Derivations
from triplewire.concepts.load import model_of, read_ontology
from triplewire.lift.cloudevents import parse_event
from triplewire.rdf.terms import RDF, Triple
from triplewire.testing import cloud_event


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_every_triple_of_the_closed_event_is_derived_step_by_step(world):
    graph, model = world.event.graph, world.model
    closed = close(graph, model)
    why = Derivations(graph, closed)
    for triple in closed.closed:
        check_chain(why.of(triple), triple, graph, model, closed.names)
    for triple in closed.relations:
        chain = why.of_relation(triple)
        check_chain(chain, triple, graph, model, closed.names)
        assert chain[0].fact.property != RDF.type
        assert {step.rule for step in chain} <= {"stated", "member", "same", "subproperty", "inverse"}
    for triple in closed.asserted:
        chain = why.of_statement(triple)
        check_chain(chain, triple, graph, model, closed.names)
        assert {step.rule for step in chain} <= {"stated", "same"}


@settings(max_examples=120, deadline=None)
@given(worlds())
def test_every_class_of_a_vertex_is_derived_step_by_step(world):
    graph, model = world.event.graph, world.model
    closed = close(graph, model)
    why = Derivations(graph, closed)
    for vertex in closed.vertices:
        for cls in CLASS_NAMES:
            if closed.has_class(vertex, cls):
                check_chain(why.of_class(vertex, cls), (vertex, RDF.type, cls), graph, model, closed.names)


def test_the_shortest_derivation_is_told():
    ontology = """@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:D . ex:A rdfs:subClassOf ex:C , ex:D ."""
    model = model_of(read_ontology(ontology, "text/turtle", "ontology"))
    graph = parse_event(cloud_event("_:H a <http://example.org/A> .")).graph
    chain = Derivations(graph, close(graph, model)).of(Triple(graph.home, RDF.type, NamedNode("http://example.org/D")))
    assert [step.rule for step in chain] == ["stated", "subclass"]
