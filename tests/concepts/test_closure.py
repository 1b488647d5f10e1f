"""The closed event against a closure that is naive on purpose."""

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal

from tests import worlds
from triplewire.concepts.closure import close
from triplewire.concepts.load import model_of, read_ontology
from triplewire.rdf.graph import event_graph
from triplewire.rdf.syntax import read
from triplewire.rdf.terms import OWL, RDF, RDFS, Triple

PREFIX = """
@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""


def closed(ontology, event, typing="asserted"):
    model = model_of(read_ontology(PREFIX + ontology, "text/turtle", "test"), typing)
    return close(event_graph(read(PREFIX + event, "text/turtle")), model).closed


def triples(turtle):
    return set(read(PREFIX + turtle, "text/turtle"))


@settings(max_examples=160, deadline=None)
@given(st.randoms(use_true_random=False))
def test_superclasses_are_the_naive_transitive_closure(rng):
    model = worlds.model(rng)
    pairs = {(c, p) for table in (model.class_parents, model.same) for c, ps in table.items() for p in ps}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    for cls in worlds.CLASSES:
        assert model.superclasses(cls) == {cls} | {above for below, above in pairs if below == cls}


@settings(max_examples=160, deadline=None)
@given(worlds.worlds())
def test_closing_a_closed_event_adds_nothing(world):
    once = close(world.event.graph, world.model)
    again = close(event_graph(once.closed), world.model)
    known = {t for t in again.closed if t.property == RDF.type}
    assert again.closed - known <= once.closed
    assert once.closed <= again.closed


def test_types_close_upward_through_several_parents_and_equivalence():
    ontology = """ex:EBook rdfs:subClassOf ex:Book, ex:Digital . ex:Book rdfs:subClassOf ex:Product .
        ex:Digital owl:equivalentClass ex:Immaterial ."""
    expected = "_:b a ex:EBook, ex:Book, ex:Digital, ex:Product, ex:Immaterial ."
    assert closed(ontology, "_:b a ex:EBook .") == triples(expected)


def test_arcs_close_under_super_properties_and_inverses_of_them():
    ontology = """ex:cell rdfs:subPropertyOf ex:phone . ex:sells owl:inverseOf ex:soldBy .
        ex:soldBy rdfs:subPropertyOf ex:about ."""
    assert closed(ontology, '_:a ex:cell "1" . _:a ex:sells _:b .') == triples(
        '_:a ex:cell "1"; ex:phone "1"; ex:sells _:b . _:b ex:soldBy _:a; ex:about _:a .'
    )


def test_a_cycle_of_subclasses_makes_its_members_equivalent():
    ontology = "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:C . ex:C rdfs:subClassOf ex:A ."
    assert closed(ontology, "_:x a ex:B .") == triples("_:x a ex:A, ex:B, ex:C .")


def test_domain_and_range_add_types_only_when_asked():
    ontology = "ex:p rdfs:domain ex:A; rdfs:range ex:B . ex:A rdfs:subClassOf ex:Top ."
    assert closed(ontology, '_:x ex:p _:y; ex:p "l" .') == triples('_:x ex:p _:y, "l" .')
    assert closed(ontology, '_:x ex:p _:y; ex:p "l" .', "rdfs") == triples(
        '_:x ex:p _:y, "l" ; a ex:A, ex:Top . _:y a ex:B .'
    )


def test_restrictions_and_other_unnamed_classes_never_enter_an_event():
    ontology = "ex:A rdfs:subClassOf [ a owl:Restriction; owl:onProperty ex:p ], ex:B ."
    assert closed(ontology, "_:x a ex:A .") == triples("_:x a ex:A, ex:B .")


def test_instances_bring_their_types_and_nothing_else_of_the_ontology():
    ontology = 'ex:A a owl:Class . ex:ibm a ex:A, owl:NamedIndividual; ex:founded 1911; rdfs:label "IBM" .'
    assert closed(ontology, "_:x ex:by ex:ibm .") == triples("_:x ex:by ex:ibm . ex:ibm a ex:A .")


def test_broader_is_subsumption_only_where_the_concepts_are_classes():
    plain = "ex:Jazz a skos:Concept; skos:broader ex:Music . ex:Music a skos:Concept ."
    assert closed(plain, "_:x a ex:Jazz .") == triples("_:x a ex:Jazz . ex:Jazz a skos:Concept .")
    classes = plain + "skos:Concept rdfs:subClassOf owl:Class ."
    assert Triple(*next(iter(triples("_:x a ex:Music .")))) in closed(classes, "_:x a ex:Jazz .")


def test_the_class_of_a_literal_is_its_datatype_and_all_above_it():
    model = model_of([])
    assert RDFS.Literal in model.literal_classes(Literal(1))
    assert OWL.Thing not in model.literal_classes(Literal(1))
    assert {c.value.rpartition("#")[2] for c in model.literal_classes(Literal(1))} == {
        "integer", "decimal", "urn:triplewire:Number", "anyAtomicType", "Literal", "Resource",
    }  # fmt: skip
