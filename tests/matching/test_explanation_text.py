"""What explanations say: true sentences, through the ontology, on lines of their own."""

import pytest

from triplewire.concepts.load import model_of, read_ontology
from triplewire.lift.cloudevents import parse_event
from triplewire.matching.explanation import as_text, explain, nearest_miss
from triplewire.subscriptions.languages import parse_subscription
from triplewire.testing import cloud_event

EX = "http://example.org/"
PREFIXES = f"""
@prefix ex: <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
ONTOLOGY = """
ex:Computer rdfs:subClassOf ex:Product . ex:PC rdfs:subClassOf ex:Computer . ex:Book rdfs:subClassOf ex:Product .
ex:IBM a ex:Company; owl:sameAs ex:BigBlue .
"""
MODEL = model_of(read_ontology(PREFIXES + ONTOLOGY, "text/turtle", "test"))
OFFER = '_:H a ex:Offer; ex:sells _:pc; ex:price 450; ex:brand "IBM" . _:pc a ex:PC; ex:madeBy ex:IBM .'


def told(language, pattern, event=OFFER, id_="s"):
    record = {"id": id_, "language": language, "pattern": pattern, "prefixes": {"ex": EX}}
    found = parse_event(cloud_event(PREFIXES + event))
    return as_text(explain(parse_subscription(record, MODEL), found, MODEL), {"ex": EX}).splitlines()


def is_a(operator, cls, event=OFFER, property_="ex:sells"):
    lines = told("gtopss", [["_:H", property_, "?x", [], [["?x", operator, cls]]]], event)
    return next(line for line in lines if line[2:].startswith(f"?x {operator}"))


@pytest.mark.parametrize(
    ("operator", "cls", "line"),
    [
        (
            "<=",
            "ex:Product",
            "✓ ?x <= ex:Product: _:pc is a ex:PC (stated), and ex:PC ⊑ ex:Computer, and ex:Computer ⊑ ex:Product",
        ),
        (
            "<=",
            "ex:Book",
            "✗ ?x <= ex:Book: _:pc is a ex:PC, which is not below ex:Book (nearest common class: ex:Product)",
        ),
        ("=", "ex:Computer", "✗ ?x = ex:Computer: _:pc is a ex:PC, and not directly ex:Computer"),
        ("!=", "ex:PC", "✗ ?x != ex:PC: _:pc is a ex:PC (stated)"),
        ("!=", "ex:Book", "✓ ?x != ex:Book: _:pc is a ex:PC"),
    ],
)
def test_an_instance_is_compared_with_a_class(operator, cls, line):
    assert is_a(operator, cls) == line


@pytest.mark.parametrize(
    ("operator", "cls", "line"),
    [
        (">=", "ex:PC", "✗ ?x >= ex:PC: ex:Book is not above ex:PC (nearest common class: ex:Product)"),
        (
            "<=",
            "ex:PC",
            "✗ ?x <= ex:PC: ex:Book ⊑ ex:Product, which is not below ex:PC (nearest common class: ex:Product)",
        ),
        ("<", "ex:Book", "✗ ?x < ex:Book: it is not to be ex:Book itself"),
        ("=", "ex:PC", "✗ ?x = ex:PC: ex:Book ⊑ ex:Product, and not directly ex:PC"),
    ],
)
def test_a_class_is_compared_with_a_class(operator, cls, line):
    assert is_a(operator, cls, "_:H ex:kind ex:Book .", "ex:kind") == line


def test_two_names_of_one_thing_are_told_to_be_the_same():
    statements = "(_:H, ?1, (ex:Offer, ex:sells, ex:PC))\n(?1, {}, (ex:PC, ex:madeBy, ex:Company){})"
    same = "ex:IBM is the same as ex:BigBlue"
    by_name = told("ops", statements.format("ex:BigBlue", ""))
    assert f"✓ ?1 –ex:madeBy→ ex:BigBlue: _:pc ex:madeBy ex:IBM (stated), and {same}" in by_name
    assert f"✓ ex:BigBlue is a ex:Company: ex:IBM is a ex:Company (the ontology knows), and {same}" in by_name
    by_filter = told("ops", statements.format("?2", ", ?2 != ex:BigBlue"))
    assert f"✗ ?2 != ex:BigBlue: it is ex:IBM, and {same}" in by_filter
    by_attribute = told("filter", "ex:sells.ex:madeBy = ex:BigBlue")
    assert f"✓ ex:sells.ex:madeBy = ex:BigBlue: ex:IBM = ex:BigBlue, and {same}" in by_attribute


def test_two_names_of_one_thing_are_one_vertex_and_need_not_be_different():
    pattern = "(_:H, ex:{}, (owl:Thing, ex:{}, owl:Thing))"
    both = f"{pattern.format('IBM', 'seller')}\n{pattern.format('BigBlue', 'maker')}"
    assert told("ops", both, "_:H ex:seller ex:IBM; ex:maker ex:IBM .")[0] == "event trips s."


def test_what_is_there_instead_is_told():
    lines = told("ops", '(_:H, "Dell", (ex:Offer, ex:brand, xsd:string))')
    assert '✗ _:H –ex:brand→ "Dell": _:H has ex:brand "IBM"' in lines


@pytest.mark.parametrize("either", ["{0} or {1}", "{1} or {0}"])
def test_the_fewest_parts_of_a_filter_that_would_have_to_change_are_told(either):
    pattern = either.format('ex:brand = "Dell"', "(ex:price > 600 and ex:price > 700)")
    [line] = told("filter", pattern)[1:]
    assert line.endswith(': ex:brand is "IBM"')


def test_of_alternatives_that_lack_as_much_the_one_of_which_more_holds_is_told():
    query = "ASK { { ?x a ex:Book } UNION { ?x a ex:Offer; ex:price ?p FILTER(?p < 400) } }"
    first, *lines = told("sparql", query)
    assert first == "event does not trip s: all but 1 of 3 conditions hold, in alternative 2 of 2."
    assert "✗ ?p < 400: it is 450" in lines


def test_a_type_is_told_in_words():
    assert told("sparql", "ASK { ?x a ex:Book }")[1:] == ["✗ ?x is a ex:Book: nothing is a ex:Book"]


def test_an_error_names_its_terms_as_people_read_them():
    line = '✗ ?1 < "abc": 450 < "abc" is an error: 450 and "abc" cannot be ordered'
    assert line in told("ops", '(_:H, ?1, (ex:Offer, ex:price, rdfs:Literal), ?1 < "abc")')


def test_nothing_in_event_or_subscription_can_break_a_line_or_command_the_terminal():
    event = '_:H ex:title "a\\n✓ forged\\u001b[31m" .'
    lines = told("ops", "(_:H, ?1, (rdfs:Resource, ex:title, rdfs:Literal), ?1 = 1)", event, "s\n✓ forged\x1b[31m")
    assert len(lines) == 6
    assert all(line.isprintable() for line in lines)


def test_a_long_literal_is_told_without_its_middle():
    lines = told("filter", 'ex:title = "x"', f'_:H ex:title "{"long " * 5000}" .')
    assert max(map(len, lines)) < 300


def test_an_injective_pattern_is_seen_to_match_although_its_mappings_are_too_many_to_try(monkeypatch):
    monkeypatch.setattr(nearest_miss, "MOST_MAPPINGS", 100)
    pattern = "\n".join(f"(_:H, ?{n}, (rdfs:Resource, ex:p, owl:Thing))" for n in range(8))
    event = "_:H ex:p " + ", ".join(f"_:n{n}" for n in range(60)) + " ."
    assert told("ops", pattern, event)[0] == "event trips s."
