"""Similarity to a concept as a condition in a pattern: ``?x ~ ex:Jazz @ 0.7``."""

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal

from tests.worlds import BLANKS, CLASSES, LITERALS, NAMES, PROPERTIES, graph, model, pattern
from triplewire import load_model, parse_event, parse_subscription
from triplewire.concepts.closure import close
from triplewire.errors import SubscriptionError
from triplewire.matching import MATCHERS, BruteForce, make_matcher
from triplewire.matching.brute import _mappings, image, match_one
from triplewire.matching.engine.index import Index
from triplewire.matching.explanation import explain
from triplewire.matching.explanation.text import as_text
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import write
from triplewire.rdf.terms import RDF, XSD, Triple
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.covering import covers_pattern
from triplewire.subscriptions.english import sentence
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    Alternative,
    AttributeTest,
    Call,
    Pattern,
    Subscription,
    Variable,
)
from triplewire.subscriptions.picture import picture
from triplewire.subscriptions.printing import as_ops, as_sparql
from triplewire.subscriptions.serial import from_json, to_json
from triplewire.testing import cloud_event

ONTOLOGY = """
ex:Music rdfs:label "Music" ; a owl:Class .
ex:Pop rdfs:label "Pop" ; rdfs:subClassOf ex:Music .
ex:Jazz rdfs:label "Jazz" ; rdfs:subClassOf ex:Music .
ex:Bebop rdfs:label "Bebop" ; rdfs:subClassOf ex:Jazz .
ex:Sport rdfs:label "Sport" ; a owl:Class .
ex:about a rdf:Property . ex:price a rdf:Property .
"""
THRESHOLDS = [Literal(text, datatype=XSD.decimal) for text in ("0.0", "0.3", "0.5", "0.7", "0.95")]


def similar(rng, vertices):
    return Call("~", (rng.choice(vertices), rng.choice([*CLASSES, *NAMES]), rng.choice(THRESHOLDS)))


def graded(rng, depth=0):
    """An expression over attributes and the whole event, with similarities in it."""
    if depth < 2 and rng.random() < 0.5:
        parts = (graded(rng, depth + 1), graded(rng, depth + 1))
        return rng.choice([Call("and", parts), Call("or", parts), Call("not", parts[:1])])
    path = (rng.choice(PROPERTIES),)
    test = rng.choice([similar(rng, [VALUE]), similar(rng, [VALUE]), Call("=", (VALUE, rng.choice(LITERALS)))])
    return similar(rng, [HOME]) if rng.random() < 0.3 else AttributeTest(path, test)


def drawn(rng):
    """A model with labels, some of which may mean two concepts; an event; and two graded patterns."""
    labels = {c: (Literal(rng.choice(["abc", "x", "q", "2"])),) for c in [*CLASSES, *NAMES] if rng.random() < 0.4}
    types = [Triple(rng.choice(BLANKS[:2]), RDF.type, rng.choice(CLASSES)) for _ in range(2)]
    found = graph(rng)
    patterns = []
    for _ in range(2):
        plain = pattern(rng)
        vertices = sorted((v for v in plain.vertices if isinstance(v, Variable)), key=str)
        condition = similar(rng, [*vertices, HOME]) if rng.random() < 0.6 else graded(rng)
        mapping = "homomorphic" if rng.random() < 0.5 else plain.mapping
        patterns.append(replace(plain, filters=(*plain.filters, condition), mapping=mapping))
    event = Event("source", "event", Graph(found.triples | set(types), found.home))
    return replace(model(rng), labels=labels), event, patterns


def of(pattern_, id_="s"):
    return Subscription(id_, (Alternative(pattern_),))


@settings(max_examples=80, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_engine_finds_the_matches_scores_bindings_and_pairs_that_brute_force_finds(rng):
    model_, event, patterns = drawn(rng)
    subscriptions = [of(one, str(n)) for n, one in enumerate(patterns)]
    brute = BruteForce(model_)
    for one in subscriptions:
        brute.add(one)
    index = Index.build(subscriptions, model_)
    assert index.match(event) == brute.match(event)
    assert index.match(event, bindings=True) == brute.match(event, bindings=True)


@settings(max_examples=80, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_vertex_is_similar_if_one_of_its_concepts_is_and_the_best_mapping_gives_the_score(rng):
    model_, event, (graded_, _) = drawn(rng)
    *rest, condition = graded_.filters
    if condition.__class__ is not Call or condition.name != "~":
        return
    vertex, concept, threshold = condition.arguments
    closed = close(event.graph, model_)
    found = match_one(of(graded_), closed)
    if closed.home is None and graded_.needs_home:
        assert found is None
        return
    nearness = []
    for mu in _mappings(replace(graded_, filters=tuple(rest)), closed):
        term = image(mu, vertex, closed)
        profile = closed.profiles.of(term) if term is not None else ()
        nearness.append(max((model_.similarity.concepts(concept, one) for one in profile), default=0.0))
    above = [one for one in nearness if one > float(threshold.value)]
    assert (found is None) == (not above)
    if above:
        assert found.score == max(above)


@settings(max_examples=80, deadline=None)
@given(st.randoms(use_true_random=False))
def test_canonical_form_and_json_keep_matches_and_scores_and_what_covers_matches_too(rng):
    model_, event, (one, other) = drawn(rng)
    closed = close(event.graph, model_)
    found = match_one(of(one), closed)
    again = match_one(of(canonical(one, model_)[0]), closed)
    assert (found and found.score) == (again and again.score)
    assert from_json(to_json(of(one))) == of(one)
    if found is not None and covers_pattern(other, one, model_):
        assert match_one(of(other), closed) is not None


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_an_explanation_has_the_score_of_the_match(rng):
    model_, event, (one, _) = drawn(rng)
    found = match_one(of(one), close(event.graph, model_))
    told = explain(of(one), event, model_)
    assert told.matched == (found is not None)
    if found is not None:
        assert told.score == found.score


@pytest.fixture(scope="module")
def music(tmp_path_factory):
    file = tmp_path_factory.mktemp("music") / "music.ttl"
    prefixes = "@prefix ex: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    prefixes += "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    prefixes += "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    file.write_text(prefixes + ONTOLOGY)
    return load_model([file])


def event_with(arcs):
    return parse_event(cloud_event(f"@prefix ex: <http://example.org/> . _:H {arcs} ."))


def said(pattern_, model_, language="filter", **more):
    record = {"id": "s", "language": language, "pattern": pattern_, "prefixes": {"ex": "http://example.org/"}, **more}
    return parse_subscription(record, model_)


@pytest.mark.parametrize("matcher", ["engine", "brute"])
@pytest.mark.parametrize(
    ("filter_", "event", "score"),
    [
        ("price < 400 and about ~ ex:Jazz @ 0.7", "ex:price 380 ; ex:about ex:Bebop", 0.868421053),
        ("price < 400 and about ~ ex:Jazz @ 0.7", "ex:price 480 ; ex:about ex:Bebop", None),
        ("price < 400 and about ~ ex:Jazz @ 0.9", "ex:price 380 ; ex:about ex:Bebop", None),
        ("about ~ Jazz", "ex:about 'an evening of bebop'", 0.868421053),
        ("about ~ Jazz", "ex:about [ a ex:Jazz ]", 1.0),
        ("about ~ Jazz @ 0.7", "ex:title 'Jazz' ; ex:about ex:Sport", None),
        ("~ Jazz @ 0.7", "ex:title 'Jazz' ; ex:about ex:Sport", 1.0),
        ("not (about ~ Jazz)", "ex:about ex:Sport", 1.0),
        ("not (about ~ Jazz)", "ex:price 3", None),
        ("about ~ Jazz @ 0.5 or price < 3", "ex:about ex:Pop ; ex:price 2", 1.0),
        ("about ~ Jazz @ 0.5 or price < 3", "ex:about ex:Pop ; ex:price 4", 0.571428571),
    ],
)
def test_what_a_filter_says_of_similarity(matcher, filter_, event, score, music):
    made = make_matcher(matcher, music)
    made.add(said(filter_, music))
    found = made.match(event_with(event))
    assert [one.score for one in found] == ([] if score is None else [pytest.approx(score)])


def test_a_record_s_threshold_is_that_of_similarities_that_give_none(music):
    event = event_with("ex:about ex:Pop")
    for threshold, matches in ((0.5, True), (0.6, False)):
        made = make_matcher("engine", music)
        made.add(said("about ~ Jazz", music, threshold=threshold))
        assert bool(made.match(event)) == matches


def test_ops_asks_it_of_a_vertex_and_of_the_home_vertex_and_is_printed_back(music):
    text = "(_:H, ?1, (rdfs:Resource, ex:about, rdfs:Resource), ?1 ~ ex:Jazz @ 0.7 and not _:H ~ ex:Sport @ 0.5)"
    (alternative,) = said(text, music, "ops").alternatives
    assert as_ops(alternative.pattern, {"ex": "http://example.org/"}, music) == text
    made = make_matcher("engine", music)
    made.add(said(text, music, "ops"))
    (match,) = made.match(event_with("ex:about ex:Bebop"), bindings=True)
    assert match.score == pytest.approx(0.868421053)
    assert match.bindings == ({"?1": "<http://example.org/Bebop>"},)
    (pair,) = match.pairs
    assert (pair.closest.value, pair.through.value) == ("http://example.org/Bebop", "http://example.org/Jazz")
    assert not made.match(event_with("ex:about ex:Bebop, ex:Sport"))


@pytest.mark.parametrize(
    ("wider", "narrower", "covers"),
    [
        ("about ~ Jazz @ 0.7", "about ~ Jazz @ 0.8", True),
        ("about ~ Jazz @ 0.8", "about ~ Jazz @ 0.7", False),
        ("about ~ Jazz @ 0.7", "about ~ Pop @ 0.8", False),
        ("about ~ Jazz @ 0.7", "about ~ Jazz @ 0.7 and price < 3", True),
        ("~ Jazz @ 0.7", "~ Jazz @ 0.8 and price < 3", True),
        ("~ Jazz @ 0.7", "about ~ Jazz @ 0.8", False),
        ("not (about ~ Jazz @ 0.8)", "not (about ~ Jazz @ 0.7)", True),
        ("not (~ Jazz @ 0.8)", "not (~ Jazz @ 0.7) and price < 3", True),
        ("not (~ Jazz @ 0.7)", "not (~ Jazz @ 0.8)", False),
        ("about = 'a' and price < 3", "about = 'a' and about ~ Jazz and price < 3", True),
        ("about ~ Jazz or price < 9", "price < 3", True),
    ],
)
def test_a_higher_threshold_implies_a_lower_one(wider, narrower, covers, music):
    one, other = (said(text, music).alternatives[0].pattern for text in (wider, narrower))
    assert covers_pattern(one, other, music) == covers


def test_what_differs_in_the_writing_of_a_threshold_is_one_pattern(music):
    forms = {
        canonical(said(text, music).alternatives[0].pattern, music)[0] for text in ("~ Jazz @ .70", "~ jazz @ 0.7")
    }
    assert len(forms) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("about ~ Jaz", "line 1, column 9: no concept is called 'Jaz'. Did you mean jazz?"),
        ("about ~ Jazz @ 1", "line 1, column 16: a similarity is between 0 and 1, and never greater than 1."),
        ("about ~ 3", "line 1, column 9: found '3'."),
    ],
)
def test_mistakes_are_told_with_their_place(text, message, music):
    with pytest.raises(SubscriptionError) as error:
        said(text, music)
    assert message in str(error.value)


def test_an_unknown_concept_by_its_iri_is_a_warning_with_the_nearest(music):
    (warning,) = said("about ~ ex:Jaz @ 0.5", music).warnings
    assert warning == "the ontology has no concept <http://example.org/Jaz>; did you mean <http://example.org/Jazz>?"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "price < 400 and about ~ Jazz @ 0.7",
            "whose price is below 400 and whose about is similar to Jazz (above 0.7)",
        ),
        ("~ Jazz @ 0.7", "Events that are similar to Jazz (above 0.7)."),
        ("not (~ Jazz @ 0.7)", "Events that are not similar to Jazz (above 0.7)."),
    ],
)
def test_it_is_told_in_english(text, told, music):
    assert told in sentence(said(text, music), music)


def test_other_languages_and_matchers_refuse_it_by_name(music):
    subscription = said("about ~ Jazz", music)
    with pytest.raises(SubscriptionError, match="sparql: cannot ask for similarity"):
        as_sparql(subscription.alternatives[0].pattern, {}, music)
    for name in set(MATCHERS) - {"engine", "brute"}:
        with pytest.raises(SubscriptionError, match=f"the {name} matcher takes no .*similarity"):
            make_matcher(name, music).add(subscription)


def test_the_engine_verifies_those_alone_that_are_near_enough(music):
    index = Index.build(
        [
            replace(said(f"about ~ {one} @ 0.{n}", music), id=f"{one}{n}")
            for one in ("Jazz", "Sport")
            for n in range(1, 9)
        ],
        music,
    )
    found = index.match(event_with("ex:about ex:Pop"))
    assert [match.subscription for match in found] == [f"Jazz{n}" for n in range(1, 6)]
    assert index.work["candidates verified"] == len(found)


@pytest.mark.parametrize(
    ("text", "event", "told"),
    [
        (
            "price < 400 and about ~ Jazz @ 0.7",
            "ex:price 380 ; ex:about 'an evening of bebop'",
            '✓ ex:about ~ ex:Jazz @ 0.7: Jazz ≈ Bebop 0.87 through Jazz, named by "an evening of bebop"',
        ),
        (
            "about ~ Jazz @ 0.7",
            "ex:about ex:Pop",
            "✗ ex:about ~ ex:Jazz @ 0.7: Jazz ≈ Pop 0.57 through Music, 0.13 too little",
        ),
        (
            "not (about ~ Jazz @ 0.7)",
            "ex:about ex:Bebop",
            "✗ not (ex:about ~ ex:Jazz @ 0.7): Jazz ≈ Bebop 0.87 through Jazz, 0.17 too much",
        ),
        ("about ~ Jazz", "ex:price 3", "✗ ex:about ~ ex:Jazz @ 0.7: there is no ex:about"),
        ("about ~ Jazz", "ex:about 'the'", "✗ ex:about ~ ex:Jazz @ 0.7: Jazz 0.00, as nothing there is a concept"),
    ],
)
def test_what_is_closest_and_what_would_be_needed_is_explained(text, event, told, music):
    explanation = explain(said(text, music), event_with(event), music)
    assert told in as_text(explanation, {"ex": "http://example.org/"})


def test_a_batch_of_events_is_matched_as_one_by_one(music):
    subscriptions = [replace(said(text, music), id=text) for text in ("about ~ Jazz", "~ Pop @ 0.9", "price < 3")]
    index = Index.build(subscriptions, music)
    events = ["ex:about ex:Bebop ; ex:price 2", "ex:title 'pop' ; ex:price 4", "ex:about ex:Sport"]
    graphs = [event_with(one).graph for one in events]
    columns = {"id": list("012"), "home": ["_:H"] * 3, "data": [write(one.triples) for one in graphs]}
    found = index.match_batch(pa.RecordBatch.from_pydict(columns))
    one_by_one = [(match.subscription, match.score) for one in events for match in index.match(event_with(one))]
    assert list(zip(found.subscriptions.to_pylist(), found.scores.tolist(), strict=True)) == one_by_one != []


def test_a_pattern_that_asks_for_similarity_can_be_drawn(music):
    assert "~" in picture(said("price < 400 and about ~ Jazz @ 0.7", music), music)


def test_pattern_without_similarity_is_not_graded():
    assert not Pattern(filters=(Call("=", (VALUE, Literal(1))),)).is_graded
