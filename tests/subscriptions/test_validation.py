"""Warnings: what a subscription says that can hardly be meant, whatever its language."""

import pytest

from triplewire.concepts.load import model_of, read_ontology
from triplewire.rdf.terms import RDF, Vocabulary
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Pattern, Variable
from triplewire.subscriptions.validation import warnings

EX = Vocabulary("http://example.org/")
MODEL = model_of(
    read_ontology(
        """@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        ex:target rdfs:domain ex:Offer; rdfs:range ex:Product . ex:price rdfs:domain ex:Offer; rdfs:range xsd:decimal .
        ex:Computer rdfs:subClassOf ex:Product . ex:IBM a ex:Company . ex:Company rdfs:subClassOf ex:Agent .""",
        "text/turtle",
        "test",
    )
)


def told(language, pattern):
    record = {"id": "s", "language": language, "pattern": pattern, "prefixes": {"ex": EX.base}}
    return parse_subscription(record, MODEL).warnings


@pytest.mark.parametrize(
    ("language", "pattern", "wrong", "right"),
    [
        ("ops", "(_:H, ?1, (ex:Ofer, ex:target, ex:Product))", "class <http://example.org/Ofer>", "Offer"),
        ("ops", "(_:H, ?1, (ex:Offer, ex:tarket, ex:Product))", "property <http://example.org/tarket>", "target"),
        ("gtopss", [["?x", "ex:prize", "?y"]], "property <http://example.org/prize>", "price"),
        ("gtopss", [["?x", "ex:price", "?y", [["?x", "<=", "ex:Compter"]]]], "example.org/Compter>", "Computer"),
        ("gtopss", [["?x", "rdf:type", "ex:Prodct"]], "class <http://example.org/Prodct>", "Product"),
        ("filter", "<http://example.org/prixe> < 3", "property <http://example.org/prixe>", "price"),
        ("filter", "exists ex:target.ex:pryce", "property <http://example.org/pryce>", "price"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_known_one(language, pattern, wrong, right):
    (warning,) = told(language, pattern)
    assert wrong in warning
    assert warning.endswith(f"did you mean <http://example.org/{right}>?")


@pytest.mark.parametrize(
    ("language", "pattern"),
    [
        ("ops", "(_:H, ?1, (ex:Offer, ex:target, ex:Computer))\n(_:H, ?2, (ex:Offer, ex:price, xsd:integer), ?2 < 3)"),
        ("ops", "(_:H, ?1, (owl:Thing, rdf:value, rdfs:Literal))"),
        ("gtopss", [["?x", "rdf:type", "ex:Computer", [["?x", "=", "ex:IBM"], ["?x", "<", "xsd:decimal"]]]]),
        ("filter", "ex:price < 3 and exists anything_at_all"),
        ("sparql", "ASK { ?x a ex:Computer . tw:home ex:target ?x }"),
    ],
)
def test_what_is_known_gives_no_warning(language, pattern):
    assert told(language, pattern) == ()


def test_what_the_meta_statements_leave_no_room_for_is_a_warning_in_every_language():
    (by_ops,) = told("ops", "(_:H, ?1, (ex:Computer, ex:target, ex:Product))")
    assert "no meta-statement of the ontology leaves room for (<http://example.org/Computer>" in by_ops
    (by_gtopss,) = told("gtopss", [["?x", "ex:price", "?y", [["?x", "<=", "ex:Computer"]]]])
    assert "leaves room for (<http://example.org/Computer>, <http://example.org/price>" in by_gtopss
    typed = Pattern(arcs=(Arc(Variable("x"), RDF.type, EX.Agent), Arc(HOME, EX.target, Variable("x"))))
    (by_type,) = warnings([Alternative(typed)], MODEL)
    assert by_type.endswith("<http://example.org/target>, <http://example.org/Agent>)")
