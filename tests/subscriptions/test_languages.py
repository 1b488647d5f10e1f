"""Records of subscriptions: the fields, and the five languages behind them."""

import pytest
from pyoxigraph import Literal

from triplewire.concepts.load import model_of, read_ontology
from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import Vocabulary
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import AttributeExists, AttributeTest, Call, IsA, Scope, Variable
from triplewire.testing import trips

EX = Vocabulary("http://example.org/")
PREFIXES = {"ex": EX.base}
MODEL = model_of(
    read_ontology(
        """@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        ex:price rdfs:label "Preis"@de, "price"; rdfs:domain ex:Offer . ex:brand rdfs:domain ex:Offer .
        ex:seller rdfs:domain ex:Offer . ex:name rdfs:domain ex:Person . ex:title rdfs:label "name" .
        ex:title rdfs:domain ex:Book . ex:Pop rdfs:subClassOf ex:Music; rdfs:label "pop music" .
        ex:Music a owl:Class .""",
        "text/turtle",
        "test",
    )
)


def parsed(language, pattern, **more):
    return parse_subscription({"id": "s", "language": language, "pattern": pattern, "prefixes": PREFIXES} | more, MODEL)


def pattern(language, text, **more):
    return parsed(language, text, **more).alternatives[0].pattern


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": None}, "needs an 'id'"),
        ({"id": 3}, "needs an 'id'"),
        ({"language": "opps"}, "Expected ops, gtopss, sparql, filter or interest. Did you mean ops?"),
        ({"language": None}, "'language' is missing."),
        ({"pattern": None}, "'pattern' should be a text"),
        ({"pattern": ["x"]}, "'pattern' should be a text"),
        ({"mapping": "bijective"}, "Expected injective or homomorphic"),
        ({"threshold": "high"}, "'threshold' should be a number"),
        ({"threshold": 1.5}, "'threshold' should be between 0 and 1, not 1.5"),
        ({"threshold": float("nan")}, "'threshold' should be between 0 and 1, not nan"),
        ({"prefixes": ["ex"]}, "'prefixes' should map prefixes to IRIs"),
        ({"prefixes": {"ex": 1}}, "'prefixes' should map prefixes to IRIs"),
        ({"prefixes": {"ex": "http://e/> SERVICE <http://x/"}}, "is no prefix with its IRI"),
        ({"prefixes": {"e x": "http://e/"}}, "is no prefix with its IRI"),
        ({"language": "filter", "pattern": "price < 3", "mapping": "injective"}, "for ops and gtopss only"),
    ],
)
def test_a_record_with_a_wrong_field_is_refused(change, message):
    record = {"id": "s", "language": "ops", "pattern": "(_:H, ?1, (ex:A, ex:p, ex:B))", "prefixes": PREFIXES} | change
    with pytest.raises(SubscriptionError) as caught:
        parse_subscription(record, MODEL)
    assert message in str(caught.value)


def test_unknown_classes_and_properties_are_warnings_with_the_nearest_name():
    warnings = parsed("ops", "(_:H, ?1, (ex:Ofer, ex:prise, xsd:decimal))").warnings
    assert warnings == (
        "the ontology has no class <http://example.org/Ofer>; did you mean <http://example.org/Offer>?",
        "the ontology has no property <http://example.org/prise>; did you mean <http://example.org/price>?",
    )


def test_rdf_type_in_ops_is_a_warning():
    assert "never matches" in parsed("ops", "(_:H, ?1, (ex:Offer, rdf:type, ex:Offer))").warnings[0]


def test_gtopss_tuples():
    found = pattern(
        "gtopss",
        '[["?x", "?p", "ex:a", [["?x", "<=", "ex:Music"]], []], ["?x", "ex:year", "?y", [], [["?y", ">", 2000]]]]',
    )
    x, y = Variable("x"), Variable("y")
    assert [arc.scope for arc in found.arcs] == [Scope.ASSERTED] * 2
    assert found.is_a == (IsA(x, "<=", EX.Music),)
    assert found.filters == (Call(">", (Call("number", (y,)), Literal(2000))),)
    assert found.mapping == "homomorphic"


@pytest.mark.parametrize(
    ("tuples", "message"),
    [
        ([], "non-empty array"),
        ("[[", "line 1, column 3: not JSON"),
        ([["?x", "ex:p"]], "tuple 1: expected [subject, property, object"),
        ([["?x", "ex:p", "?y", [["?y", "<", 1]]]], 'the constraint is on "?y", but ?x stands here'),
        ([["?x", "ex:p", "?y", [["?x", "~", 1]]]], '"~" is no operator. Expected =, !=, <, <=, > or >='),
        ([["?x", "exx:p", "?y"]], "the prefix 'exx:' is not declared. Did you mean ex:p?"),
        ([["?x", "_:p", "?y"]], "_:p is no vertex that a subscription can name"),
        ([["?x", "plain", "?y"]], "a property is an IRI or a variable"),
        ([['"x"', "ex:p", "?y"]], "cannot be a subject"),
    ],
)
def test_gtopss_errors(tuples, message):
    with pytest.raises(SubscriptionError) as caught:
        parsed("gtopss", tuples)
    assert message in str(caught.value)


def test_filter_attributes_are_found_by_label_name_prefix_and_path():
    value = Variable("value")
    expected = Call(
        "and",
        (
            AttributeTest((EX.price,), Call("<", (value, Literal(400)))),
            AttributeTest((EX.brand,), Call("strstarts", (value, Literal("Len")))),
            Call("not", (AttributeExists((EX.seller, EX.title)),)),
        ),
    )
    text = 'Preis < 400 and brand startswith "Len" and not exists seller.ex:title'
    assert pattern("filter", text).filters == (expected,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prise < 400", "line 1, column 1: no property is called 'prise'. Did you mean price?"),
        ("price < ", "the text ends here. Expected a value."),
        ("price % 3", "line 1, column 7"),
        ('brand matches "("', "RE2 refuses"),
        ("brand contains ex:x", "contains takes a text"),
    ],
)
def test_filter_errors(text, message):
    with pytest.raises(SubscriptionError) as caught:
        parsed("filter", text)
    assert message in str(caught.value)


def test_a_word_that_the_model_does_not_know_is_a_key_of_plain_json():
    event = {"specversion": "1.0", "id": "e", "source": "s", "type": "t", "datacontenttype": "application/json"}
    event["data"] = {"price": 380, "brand": "IBM", "seller": {"home town": "Graz", "rating": 4.5}}
    for text, matches in [
        ('price < 400 and brand = "IBM"', True),
        ('price < 400 and brand = "Lenovo"', False),
        ("seller.rating >= 4.5 and not exists colour", True),
    ]:
        assert (trips(event, {"language": "filter", "pattern": text}) is not None) == matches


def test_an_ambiguous_word_is_refused_with_its_meanings():
    ontology = """<http://e/a> <http://www.w3.org/2000/01/rdf-schema#domain> <http://e/A> .
        <http://f/a> <http://www.w3.org/2000/01/rdf-schema#domain> <http://e/A> ."""
    with pytest.raises(SubscriptionError, match="'a' may mean <http://e/a>, <http://f/a>"):
        parse_subscription(
            {"id": "s", "language": "filter", "pattern": "a = 1"}, model_of(read_ontology(ontology, "text/turtle", "t"))
        )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("ASK { SERVICE <http://x.org/> { ?s ?p ?o } }", "line 1, column 7: SERVICE would ask another machine"),
        ("ASK {\n GRAPH ?g { ?s ?p ?o } }", "line 2, column 2: GRAPH asks for named graphs"),
        ("ASK FROM <http://x.org/> { ?s ?p ?o }", "FROM names another data set"),
        ("DESCRIBE <http://x.org/>", "DESCRIBE leaves open what it returns"),
        ("INSERT DATA { <a:b> <a:b> <a:b> }", "INSERT: updates change data"),
        ("LOAD <http://x.org/>", "LOAD: updates change data"),
        ("ASK { ?s ?p }", "line 1, column"),
        ("SELECT * {\n", "the text ends here"),
        ("ASK { ?s ?p ?o . #\r SERVICE <http://x.org/> { ?a ?b ?c }\n}", "line 2, column 2: SERVICE would ask"),
        ("SELECT (rand() AS ?r) { ?s ?p ?o }", "RAND would answer otherwise each time"),
        ("SELECT ?x { BIND(UUID() AS ?x) }", "UUID would answer otherwise each time"),
        ("ASK { ?s exx:p _:o }", "line 1, column 10: the prefix 'exx:' is not declared. Did you mean ex:?"),
        ("", "the text ends here"),
    ],
)
def test_sparql_refusals_are_by_name_and_place(query, message):
    with pytest.raises(SubscriptionError) as caught:
        parsed("sparql", query)
    assert message in str(caught.value)
    assert caught.value.language == "sparql"


def test_words_inside_texts_comments_and_names_are_not_refused():
    assert parsed("sparql", 'ASK { ?s ex:service "GRAPH SERVICE" } # LOAD')


def test_interest_concepts_are_found_by_name_label_and_iri():
    found = pattern("interest", {"concepts": ["POP music", "Music", "ex:Offer", "<http://example.org/Book>"]}).interests
    assert found[0].concepts == (EX.Pop, EX.Music, EX.Offer, EX.Book)
    assert found[0].threshold == 0.7


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"concepts": ["Musik"]}, "no concept is called 'Musik'. Did you mean music?"),
        ({"concepts": []}, "names no concept"),
        ({"concepts": [3]}, "should hold a concept's name, not 3"),
        ({"concepts": 5}, "should hold a list of concepts' names, not 5"),
        ({"concepts": "Music"}, "should hold a list of concepts' names"),
        ("[" + "9" * 5000 + "]", "not JSON that can be read"),
        ("[", "not JSON"),
        ([], "expected {"),
        ("\n pop music, Musik", "line 2, column 13: no concept is called 'Musik'"),
        ("¡Musik!", "no concept is called '¡Musik!'"),
        ({"interest": "Music", "type": "🎸"}, "'🎸' has no letter and no digit"),
        ({"interest": "Music", "type": "\ud800"}, "has no letter and no digit"),
        ({"interest": "Music", "type": "zouk" * 51}, "may have 200 characters, not 204"),
    ],
)
def test_interest_errors(profile, message):
    with pytest.raises(SubscriptionError) as caught:
        parsed("interest", profile)
    assert message in str(caught.value)


def test_the_testing_helper_answers_with_the_bindings():
    subscription = {"language": "filter", "pattern": "ex:price < 400", "prefixes": PREFIXES}
    assert trips("_:H <http://example.org/price> 380 .", subscription)
    assert trips("_:H <http://example.org/price> 450 .", subscription) is None


def test_the_same_text_is_parsed_once_and_told_apart_by_model_and_record():
    text = "price < 400"
    first, again = parsed("filter", text), parsed("filter", text, id="t")
    assert (first.id, again.id) == ("s", "t")
    assert again.alternatives is first.alternatives
    other = model_of(
        read_ontology("<urn:price> <http://www.w3.org/2000/01/rdf-schema#label> 'price' .", "text/turtle", "t")
    )
    record = {"id": "s", "language": "filter", "pattern": text, "prefixes": PREFIXES}
    assert parse_subscription(record, other).alternatives != first.alternatives
    assert parsed("filter", text, prefixes={}).alternatives == first.alternatives
    ops = "(_:H, ?1, (ex:Offer, ex:price, xsd:decimal))"
    assert parsed("ops", ops, mapping="homomorphic").alternatives != parsed("ops", ops).alternatives


def test_a_word_of_ones_own_counts_until_the_ontology_knows_it():
    record = {"id": "s", "language": "interest", "pattern": {"concepts": ["zouks"]}, "own": {"Zouk": "Music"}}
    text = "@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    music = text + 'ex:Music rdfs:label "Music" ; a rdfs:Class . '
    known = [
        model_of(read_ontology(t, "text/turtle", "o")) for t in (music, music + 'ex:Z rdfs:label "Zouk" ; a ex:Music .')
    ]
    own, shared = (parse_subscription(record, model).alternatives[0].pattern.interests[0] for model in known)
    assert [(str(new), str(up)) for new, up in own.attached] == [
        ("<urn:triplewire:proposed:zouk>", "<http://example.org/Music>")
    ]
    assert (shared.attached, [str(concept) for concept in shared.concepts]) == ((), ["<http://example.org/Z>"])


@pytest.mark.parametrize(
    ("own", "language", "said"),
    [
        ({"Zouk": "Moosic"}, "interest", "'Zouk' cannot be put under 'Moosic'"),
        ({"Zouk": 3}, "interest", "'own' should map words"),
        ({"Zouk": "Music"}, "filter", "'own' has a meaning for interest only"),
    ],
)
def test_words_of_ones_own_that_make_no_sense_are_refused(own, language, said):
    record = {"id": "s", "language": language, "pattern": "Music", "own": own}
    with pytest.raises(SubscriptionError, match=said):
        parse_subscription(record, MODEL)


def test_a_new_concept_is_put_in_its_place_if_it_is_told_by_its_iri_too():
    said = pattern("interest", {"interest": "Music", "type": "ex:ZoukLove", "to": "<http://example.org/Pop>"}).interests
    assert said[0].concepts == (EX.Music, EX.ZoukLove, EX.Pop)
    assert said[0].attached == ((EX.ZoukLove, EX.Music),)
    assert not pattern("interest", {"concepts": ["Music", "ex:Zouk"]}).interests[0].attached


def test_a_new_concept_is_put_under_the_nearest_one_that_is_known():
    [said] = pattern("interest", {"interest": "Music", "type": "Zouk", "kind": "Zouk love"}).interests
    assert [parent for _, parent in said.attached] == [EX.Music, EX.Music]


def test_plain_words_are_a_list_of_them():
    said = pattern("interest", "pop music; ex:Music,\n<http://example.org/Book> ,").interests
    assert said == pattern("interest", {"concepts": ["pop music", "ex:Music", "<http://example.org/Book>"]}).interests
    with pytest.raises(SubscriptionError, match="no concept is called 'Mussic'"):
        parsed("interest", "pop music, Mussic")
