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


def ops(filter_):
    return told(
        "ops", f"(_:H, ?x, (ex:Offer, ex:price, xsd:decimal))(_:H, ?y, (ex:Offer, ex:target, ex:Product), {filter_})"
    )


@pytest.mark.parametrize(
    ("filter_", "reason"),
    [
        ("?x < 3 and ?x > 5", "this can never be true: ?x is below 3 and ?x is above 5"),
        ("?x = 3 and ?x = 4", "this can never be true: ?x is 3 and ?x is 4"),
        ("1 = 2", "this can never be true: 1 is 2"),
        ('"a" < 1', 'this can never be true: "a" is below 1'),
        ('contains(?x, "a") and ?x < 3', 'this can never be true: ?x contains "a" and ?x is below 3'),
        ("not (?x < 3 or ?x = 4) and ?x = 4", "can never be true"),
    ],
)
def test_a_filter_that_can_never_be_true_is_a_warning_with_the_reason(filter_, reason):
    (warning,) = ops(filter_)
    assert reason in warning


@pytest.mark.parametrize(
    "filter_",
    [
        "?x < 3",
        "?x < ?y",
        "?x > 3 and ?x < 4",
        "?x != 3 and ?x != 4",
        'regex(?x, "a") and regex(?x, "b")',
        "?x = 1 or 1 = 2",
    ],
)
def test_a_filter_that_may_be_true_gives_no_warning(filter_):
    assert ops(filter_) == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("price < '' and exists brand", "no price is such that it is below"),
        ("price = 1 and not exists price", "an event cannot have a price and have none"),
        ("exists seller.name and not exists seller", "an event cannot have a seller and have none"),
    ],
)
def test_attributes_that_cannot_be_are_a_warning(text, reason):
    (warning,) = told("filter", text)
    assert reason in warning


@pytest.mark.parametrize(
    "group",
    [
        "tw:home ex:target ?x FILTER(?y > 3)",
        "tw:home ex:target ?x { ?x ex:price ?z FILTER(?y > 3) } ?x ex:price ?y",
        "?x ex:price ?z OPTIONAL { ?x ex:target ?w FILTER(?y > ?z) }",
        "?x ex:target ?z { SELECT ?x { ?x ex:price ?y } } FILTER(?y > 3)",
    ],
)
def test_a_filter_on_what_nothing_binds_is_a_warning_in_sparql(group):
    (warning,) = told("sparql", f"ASK {{ {group} }}")
    assert warning == "a filter uses ?y, which nothing binds where it stands"


@pytest.mark.parametrize(
    "group",
    [
        "FILTER(?y > 3) ?x ex:price ?y",
        "?x ex:target ?z OPTIONAL { ?z ex:price ?y } FILTER(!BOUND(?y))",
        "?x ex:price ?y OPTIONAL { ?x ex:target ?z FILTER(?y > 3) }",
        "?x ex:price ?y FILTER EXISTS { ?x ex:target ?z FILTER(?y > 3) }",
        "?x ex:target ?z { ?z ex:price ?y } UNION { ?x ex:price ?w } FILTER(?y > 3)",
        "?x ex:price ?z BIND(?z + 1 AS ?y) FILTER(?y > 3)",
        "{ SELECT (COUNT(*) AS ?y) { ?x ex:price ?z } } FILTER(?y > 3)",
        "?x ex:target* ?y FILTER(?y > 3)",
        "VALUES ?y { 1 2 } FILTER(?y > 1)",
    ],
)
def test_a_filter_on_what_may_be_bound_gives_no_warning(group):
    assert told("sparql", f"ASK {{ {group} }}") == ()


def test_alternatives_that_can_never_match_are_a_warning_if_all_are_so():
    assert told("sparql", "ASK { VALUES ?y { 1 2 } ?x ex:price ?y FILTER(?y > 1) }") == ()
    assert len(told("sparql", "ASK { VALUES ?y { 1 2 } ?x ex:price ?y FILTER(?y > 3) }")) == 2


def test_two_values_may_pass_what_one_cannot():
    assert told("filter", "price < 3 and price > 5") == ()


def test_a_constraint_that_cannot_hold_is_a_warning_in_gtopss():
    (warning,) = told("gtopss", [["?x", "ex:price", "?y", [], [["?y", "<", 3], ["?y", ">", 5]]]])
    assert "this can never be true" in warning
