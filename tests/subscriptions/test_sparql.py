"""What ``sparql`` queries are compiled into, and how their mistakes are told."""

import pytest
from pyoxigraph import Literal

from tests.worlds import EX
from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce
from triplewire.rdf.terms import RDF
from triplewire.subscriptions import sparql_tree
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.ops import parse_ops
from triplewire.subscriptions.pattern import Call, Variable
from triplewire.subscriptions.sparql import parse_sparql
from triplewire.subscriptions.sparql_ways import MOST_WAYS
from triplewire.testing import cloud_event

PREFIXES = {"ex": EX}


def meaning(text):
    return parse_sparql(text, PREFIXES)


def pattern(text):
    (alternative,) = meaning(text).alternatives
    return alternative.pattern


def matches(text, turtle, bindings=True):
    matcher = BruteForce(ConceptModel())
    record = {"id": "s", "language": "sparql", "pattern": text, "prefixes": PREFIXES}
    matcher.add(parse_subscription(record, ConceptModel()))
    return matcher.match(parse_event(cloud_event(f"@prefix ex: <{EX}> .\n{turtle}")), bindings)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { ?x ex:p ?y ; ex:q [] FILTER(?y < 3 && ?y != ?x) }",
        "SELECT ?x { { ?x ex:p 1 } UNION { ?x ex:q ?y FILTER(!(?y IN (1, 2))) } }",
        "SELECT ?x { VALUES (?x ?y) { (ex:a UNDEF) (ex:b 2) } ?x ex:p ?y }",
        "SELECT ?x { ?x ex:p/^ex:q/ex:r? ?y }",
        "SELECT DISTINCT ?x { ?x !(ex:p|ex:q) ?y }",
        "SELECT ?x { ?x a/rdfs:subClassOf* ex:C ; ex:p ?y FILTER(SHA1(STR(?y)) = 'x' || xsd:integer(?y) > 3) }",
        "SELECT DISTINCT ?x { ?x (ex:p|ex:q)/(ex:r/ex:s)? ?y }",
        "ASK { ?x ex:p ?y OPTIONAL { ?y ex:q ?z } }",
        "ASK { ?x ex:p ?y { SELECT ?y (COUNT(*) AS ?n) { ?y ex:q ?z } GROUP BY ?y } } LIMIT 3",
        "SELECT ?x ?name { ?x ex:p ?y BIND(ex:a AS ?name) }",
    ],
)
def test_what_patterns_can_say_needs_no_oxigraph(text):
    found = meaning(text)
    assert found.answer is None
    assert all(alternative.residual is None for alternative in found.alternatives)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x ?z { ?x ex:p ?y OPTIONAL { ?y ex:q ?z } }",
        "SELECT ?x (?y + 1 AS ?z) { ?x ex:p ?y }",
        "SELECT ?x (COUNT(*) AS ?n) { ?x ex:p ?y } GROUP BY ?x",
        "SELECT ?x { ?x ex:p|ex:q ?y }",
        "SELECT ?x { ?x !ex:p ?y }",
        "SELECT ?x { ?x ex:p ?y } LIMIT 1",
        "CONSTRUCT { ?x ex:q ?y } WHERE { ?x ex:p ?y }",
    ],
)
def test_what_patterns_decide_is_asked_for_bindings_alone(text):
    found = meaning(text)
    assert found.answer is not None
    assert all(alternative.residual is None for alternative in found.alternatives)


@pytest.mark.parametrize(
    ("text", "arcs"),
    [
        ("ASK { ?x ex:p ?y MINUS { ?x ex:q ?y } }", 1),
        ("ASK { ?x ex:p ?y FILTER NOT EXISTS { ?x ex:q ?y } }", 1),
        ("ASK { ?x ex:p ?y FILTER EXISTS { ?y ex:q ?z . ?z ex:r ?x } }", 3),
        ("ASK { ?x ex:p+ ?y }", 2),
        ("ASK { ?x (ex:p/ex:q)+ ?y . ?x ex:r* ?z }", 4),
        ("ASK { ?x ex:p ?y OPTIONAL { ?y ex:q ?z } FILTER(?z > 3) }", 1),
        ("SELECT ?x { ?x ex:p ?y } GROUP BY ?x HAVING(COUNT(*) > 1)", 1),
        ("ASK { ?x ex:p ?y { SELECT ?y { ?y ex:q ?z } LIMIT 1 } }", 2),
        ("SELECT * { ?x ex:p ?y } OFFSET 1", 1),
        ("ASK { { SELECT (COUNT(*) AS ?n) { ?x ex:p ?y } } FILTER(?n = 0) }", 0),
    ],
)
def test_the_necessary_part_of_a_residual_is_compiled(text, arcs):
    (alternative,) = meaning(text).alternatives
    assert alternative.residual is not None
    assert len(alternative.pattern.arcs) == arcs


def test_alternatives_are_bounded():
    union = "{ ?x ex:p ?y } UNION { ?x ex:q ?y }"
    found = meaning(f"ASK {{ {' '.join([f'{{ {union} }}'] * 40)} }}")
    assert len(found.alternatives) <= MOST_WAYS
    assert found.alternatives[0].residual is not None
    assert found.alternatives[0].pattern.arcs


def test_the_same_pattern_in_ops_and_sparql_is_equal():
    ops = """(_:H, ?1, (ex:Selling, ex:target, ex:Computer))
        (?1, ?2, (ex:Computer, ex:price, rdfs:Resource), ?2 < 400)"""
    query = "ASK { tw:home a ex:Selling ; ex:target ?x . ?x a ex:Computer ; ex:price ?y FILTER(?y < 400) }"
    model = ConceptModel()
    said = parse_ops(ops, PREFIXES, "homomorphic")
    assert canonical(said, model)[0] == canonical(pattern(query), model)[0]


def test_a_type_is_a_class_constraint_only_of_what_is_no_literal():
    assert not pattern("ASK { ?x a ex:C ; ex:p ?y }").arcs[1:]
    assert pattern("ASK { ?x ex:p ?y . ?y a ex:C }").arcs[1].property == RDF.type
    assert not matches("ASK { ?x ex:p ?y . ?y a ex:C }", '_:H ex:p "v"^^ex:C .')


def test_a_filter_tells_its_reading_only_where_readings_differ():
    (plain,) = pattern("ASK { ?x ex:p ?y FILTER(?y < 3 || regex(?y, 'a')) }").filters
    assert plain.name == "or"
    assert pattern("ASK { ?x ex:p ?y FILTER(?y != 3) }").filters[0].name == "sparql"
    assert matches("ASK { ?x ex:p ?y FILTER(?y != 3) }", "_:H ex:p 'a' .")


def test_the_idiom_for_superclasses_means_the_class():
    """Even where an event says itself what is below what: an event is no ontology."""
    event = "_:H a ex:D ; ex:p 1 . ex:D <http://www.w3.org/2000/01/rdf-schema#subClassOf> ex:C ."
    for typing in ("a", "rdf:type"):
        assert not matches(f"ASK {{ ?x {typing}/rdfs:subClassOf* ex:C }}", event)
        assert not matches(f"SELECT * {{ ?x {typing}/rdfs:subClassOf* ex:C OPTIONAL {{ ?x ex:p ?y }} }}", event)
        assert matches(f"ASK {{ ?x {typing}/rdfs:subClassOf* ex:D }}", event)


def test_a_construct_match_carries_its_graph():
    (match,) = matches("CONSTRUCT { ?x ex:q ?y } WHERE { ?x ex:p ?y }", "_:H ex:p 1.50, ex:a .")
    assert match.graph == (
        f'_:H <{EX}q> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .',
        f"_:H <{EX}q> <{EX}a> .",
    )
    assert '"graph": [' in match.as_line()
    (silent,) = matches("CONSTRUCT { ?x ex:q ?y } WHERE { ?x ex:p ?y }", "_:H ex:p 1 .", bindings=False)
    assert silent.graph is None


def test_an_iri_may_be_written_with_escapes():
    assert matches(
        r"BASE <http://ex\u0061mple.org/> ASK { ?x <http://example.org/\u0070> <\U00000061> }", "_:H ex:p ex:a ."
    )
    assert matches(
        r"PREFIX e: <http://ex\u0061mple.org/> ASK { ?x e:p ?y MINUS { ?x <\u0068ttp://q> ?y } }", "_:H ex:p 1 ."
    )


def test_a_negative_number_keeps_its_sign():
    for number in ("-3", "-3.5", "-3e0"):
        assert matches(f"SELECT * {{ VALUES ?y {{ {number} }} ?x ?p ?y }}", f"_:H ex:p {number} .")
        assert not matches(f"SELECT * {{ VALUES ?y {{ {number} }} ?x ?p ?y }}", f"_:H ex:p {number[1:]} .")


def test_an_offset_may_be_the_only_number():
    assert matches("SELECT * { ?x ?p ?y } OFFSET 1", "_:H ex:p 1, 2 .")
    assert not matches("SELECT * { ?x ?p ?y } OFFSET 1", "_:H ex:p 1 .")


def test_queries_that_differ_in_constants_and_names_of_variables_are_parsed_once():
    sparql_tree._shape.cache_clear()
    for n in range(50):
        filter_ = f"FILTER(?y < {n} && ?x{n} != <http://e.org/{n}>)"
        found = pattern(f"ASK {{ ?x{n} a ex:C{n} ; ex:p{n} ?y # {n}\n {filter_} }}")
        assert found.filters[0] == Call("<", (Variable("y"), Literal(n)))
        assert found.classes[0].cls.value == f"{EX}C{n}"
    assert sparql_tree._shape.cache_info().misses == 1


def test_numbers_are_those_of_the_text_however_close_they_stand():
    assert pattern("ASK { ?x a7 FILTER(?x<-3&&?x>+5) }").arcs[0].object == Literal(7)
    filters = pattern("ASK { ?x ex:p 1.FILTER(?x<-3&&?x>5.5) }").filters
    assert [one.arguments[1].value for one in filters] == ["-3", "5.5"]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("SELECT ?x { ?x ?p }", 19, "Expected '(', '[', a blank node, a literal"),
        ("SELECT ?x { ?x ex:a ?y FILTER(?y < ) }", 36, "Expected a value"),
        ("SELEC ?x { ?x ?p ?o }", 1, "perhaps SELECT was meant. Expected ASK, SELECT or CONSTRUCT"),
        ("SELECT ?x { ?x ?p ?o ", 21, "the text ends here: a '{' is not closed. Expected '}'"),
        ("ASK { ?s ?p ?o }}", 17, "it closes nothing"),
        ("SELECT ?x { ?x ?p 'abc }", 19, "the text is not closed"),
        ("ASK { ?s ?p ?o FILTER(contain(?o, 'a')) }", 23, "did you mean CONTAINS"),
        ("ASK { ?s ?p ?o FILTER(?o = 1 and ?o = 2) }", 30, "SPARQL writes &&"),
        ("ASK { ?s ?p ?o FILTER ?o > 3 }", 23, "stands in parentheses. Expected '('"),
        ("ASK { ?s ex:p ?o ?x }", 18, "Expected ',', '.', ';'"),
        ("ASK { ?s price ?o }", 10, "a variable begins with ?"),
        ("ASK { ?x a <b> }", 12, "one begins with a scheme"),
        ("ASK { ?s ex:p ?o FILTER(?o == 3) }", 29, "a single =. Expected a value"),
        ("ASK { ?s ex:p ?o FILTER(contains(?o)) }", 36, "Expected ',' or an operator"),
        ("ASK { ?s ex:p/ ?o }", 16, "Expected '!', '(', '^', 'a' or a name"),
        ("ASK { ?s _:p ?o }", 10, "Expected '!', '(', '^', 'a', a name or a variable"),
        ("ASK { ?s ex:p{2} ?o }", 14, "a path operator or a variable"),
        ("ASK { VALUES ?s { ?o } }", 19, "Expected '}', UNDEF, a literal or a name"),
        ("ASK { VALUES (?s ?o) { (1 2) (1) } }", 32, "the row has 1 of 2 values"),
        ("SELECT", 7, "the text ends here. Expected '(', '*'"),
        ("SELECT (COUNT(*) ?n) { ?s ?p ?o }", 18, "Expected AS"),
        ("SELECT (COUNT(*) AS ?n) ?s { ?s ?p ?o }", 25, "neither grouped by nor counted"),
        ("SELECT ?s ?s { ?s ?p ?o }", 11, "is shown already"),
        ("SELECT ?s { ?s ?p ?o } LIMIT -1", 30, "Expected a number"),
        ("SELECT ?s { ?s ?p ?o } ORDER ?s", 30, "Expected BY"),
        ("ASK { ?s ?p ?o FILTER(ex:f(?o)) }", 23, "no such function"),
        ("ASK { ?s ?p <http://a b> }", 14, "stands in angle brackets, without blanks"),
        ("PREFIX e: http://a/ ASK { ?s e:p ?o }", 8, "a prefix is declared as"),
        ("PREFIX ex <http://a/> ASK {}", 8, "a prefix is declared as PREFIX ex:"),
        ("SELECT ?x, ?y { ?x ex:p ?y }", 10, "Expected '(', '{', WHERE or a variable"),
        ("SELECT ?x ?y { ?x ?p ?y } GROUP BY ?x", 11, "neither grouped by nor counted"),
        ("ASK { ?x ?p ?o BIND(1 AS ?x) }", 26, "the variable has a value already"),
        ("ASK {_:a ?p ?o OPTIONAL {_:a ?q ?r}}", 26, "a blank node belongs to one group"),
        ("ASK { ?s ex:p ?o FILTER regex(?o, '(') }", 35, "RE2 refuses the regular expression"),
    ],
)
def test_a_mistake_is_told_where_it_is(text, column, message):
    with pytest.raises(SubscriptionError) as caught:
        meaning(text)
    assert message in str(caught.value)
    assert caught.value.place.column == column
