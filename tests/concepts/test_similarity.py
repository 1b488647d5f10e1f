"""The measures of similarity: their laws, and figures worked out by hand."""

from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from triplewire import OntologyError, parse_event
from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.measures import MEASURES
from triplewire.concepts.profile import frequencies
from triplewire.concepts.serial import from_json, to_json
from triplewire.concepts.similarity import Similarity
from triplewire.testing import cloud_event

NODES = [NamedNode(f"http://example.org/{i}") for i in range(8)]
A, B, C, D = NODES[:4]


@st.composite
def concept_graphs(draw):
    pairs = draw(st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=12))
    return {node: frozenset(p for c, p in pairs if c == node and p != node) for node in NODES}


@st.composite
def trees(draw):
    """Each node under an earlier one, or at the top."""
    above = [draw(st.integers(-1, i - 1)) for i in range(len(NODES))]
    return {NODES[i]: frozenset({NODES[up]} if up >= 0 else ()) for i, up in enumerate(above)}


counts = st.dictionaries(st.sampled_from(NODES), st.integers(0, 1000))
every_measure = pytest.mark.parametrize("name", MEASURES)


@every_measure
@settings(max_examples=100, deadline=None)
@given(parents=concept_graphs(), frequencies=counts, a=st.sampled_from(NODES), b=st.sampled_from(NODES))
def test_similarity_is_symmetric_between_0_and_1_and_1_for_a_concept_itself(name, parents, frequencies, a, b):
    measure = Similarity(parents, name, frequencies)
    assert measure.concepts(a, b) == pytest.approx(measure.concepts(b, a))
    assert 0 <= measure.concepts(a, b) <= 1
    assert measure.concepts(a, a) == 1


@every_measure
@settings(max_examples=100, deadline=None)
@given(parents=concept_graphs(), frequencies=counts, a=st.sampled_from(NODES), b=st.sampled_from(NODES))
def test_a_new_concept_is_below_its_parent_and_changes_nothing_between_known_ones(name, parents, frequencies, a, b):
    measure, new = Similarity(parents, name, frequencies), NamedNode("urn:new")
    extended = measure.extended(((new, a),))
    assert extended.concepts(a, b) == measure.concepts(a, b)
    if name != "lin":  # which counts concepts, and a new one only once it is known
        assert extended.concepts(new, b) == Similarity(parents | {new: frozenset({a})}, name).concepts(new, b)
        assert extended.concepts(new, a) < 1
    assert extended.concepts(new, b) <= extended.concepts(new, a) <= extended.concepts(new, new) == 1


@every_measure
@settings(max_examples=100, deadline=None)
@given(tree=trees(), frequencies=counts, start=st.sampled_from(NODES))
def test_the_farther_up_a_tree_the_less_similar(name, tree, frequencies, start):
    measure = Similarity(tree, name, frequencies)
    way = [start]
    while tree[way[-1]]:
        way += tree[way[-1]]
    values = [measure.concepts(start, ancestor) for ancestor in way]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


@every_measure
@settings(max_examples=100, deadline=None)
@given(parents=concept_graphs(), frequencies=counts, a=st.sampled_from(NODES), b=st.sampled_from(NODES))
def test_the_ways_told_lead_from_both_concepts_to_where_they_meet(name, parents, frequencies, a, b):
    measure = Similarity(parents, name, frequencies)
    similarity, up_a, up_b = measure.meeting(a, b)
    assert similarity == measure.concepts(a, b)
    assert up_a[-1] == up_b[-1]
    for start, way in ((a, up_a), (b, up_b)):
        assert measure.concepts(start, way[0]) == 1


@every_measure
def test_two_concepts_that_meet_only_at_the_root_and_an_unknown_one_have_nothing_in_common(name):
    measure = Similarity({A: frozenset(), B: frozenset({A}), C: frozenset()}, name)
    assert measure.concepts(B, C) == measure.concepts(B, D) == 0
    assert measure.concepts(D, D) == 1


def test_wu_and_palmer_worked_out_by_hand():
    # root → A → B → D, A → C; B is at depth 2, D at 3; D and C meet at A, at depth 1, 2 and 1 steps up.
    measure = Similarity({A: frozenset(), B: frozenset({A}), C: frozenset({A}), D: frozenset({B})}, "wu-palmer")
    assert measure.concepts(D, C) == pytest.approx(2 * 1 / (2 + 1 + 2 * 1))
    assert measure.concepts(D, B) == pytest.approx(2 * 2 / (1 + 0 + 2 * 2))


def test_lin_worked_out_by_hand():
    # Counts, each one more than it occurs: B 1 + 2, C 1 + 5, A 1 + B + C = 10, D 1 + 8; 20 in all with the unknown.
    parents = {A: frozenset(), B: frozenset({A}), C: frozenset({A}), D: frozenset()}
    measure = Similarity(parents, "lin", {B: 2, C: 5, D: 8})
    assert measure.concepts(B, C) == pytest.approx(2 * log(20 / 10) / (log(20 / 3) + log(20 / 6)))
    assert measure.concepts(A, B) == pytest.approx(2 * log(20 / 10) / (log(20 / 10) + log(20 / 3)))


def read(turtle):
    prefixes = "@prefix tw: <urn:triplewire:> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> . "
    return model_of(read_ontology(f"{prefixes} @prefix : <http://example.org/> . {turtle}", "text/turtle", "test"))


HIERARCHY = ":1 skos:broader :0 . :2 skos:broader :0 . "


def test_an_ontology_chooses_its_measure_and_keeps_it_when_it_is_written_and_read():
    model = read(HIERARCHY + ':o tw:measure "lin" . :1 tw:frequency 3 . :1 tw:frequency 4 .')
    assert (model.measure, model.frequencies) == ("lin", {B: 7})
    expected = Similarity(model.concept_parents, "lin", {B: 7}).concepts(B, C)
    assert model.similarity.concepts(B, C) == from_json(to_json(model)).similarity.concepts(B, C) == expected
    assert read(HIERARCHY).similarity.concepts(B, C) == Similarity(model.concept_parents).concepts(B, C) != expected
    assert (
        len({read(HIERARCHY + more).content_hash for more in ("", ':o tw:measure "lin" .', ":1 tw:frequency 3 .")}) == 3
    )


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (':o tw:measure "linn" .', "there is no measure 'linn'; known are path, wu-palmer, lin"),
        (':o tw:measure "lin", "path" .', "one measure can be chosen, not lin and path"),
        (":1 tw:frequency -3 .", "the frequency of <http://example.org/1> should be a number of times"),
    ],
)
def test_a_measure_that_cannot_be_is_refused(stated, said):
    with pytest.raises(OntologyError, match=said):
        read(stated)


def test_a_concept_counts_once_in_an_event_that_names_it_twice():
    model = read(HIERARCHY + ':1 skos:prefLabel "Jazz" .')
    graph = parse_event(
        cloud_event("_:H a <http://example.org/1> ; <urn:p> 'Jazz, jazz', <http://example.org/2> .")
    ).graph
    assert frequencies([graph, graph], model) == {B: 2, C: 2}


def test_the_formula_worked_out_by_hand():
    # root → A → B, A → C: w(root→A) = 1 + 1/2⁰ = 2, w(A→B) = w(A→C) = 1 + 1/2¹ = 1.5; B and C meet at A.
    measure = Similarity({A: frozenset(), B: frozenset({A}), C: frozenset({A}), D: frozenset()})
    assert measure.concepts(B, C) == pytest.approx(1 - (0.5 * 1.5 / 3.5 + 0.5 * 1.5 / 3.5))
    assert measure.concepts(A, B) == pytest.approx(1 - 0.5 * 1.5 / 3.5)
    assert measure.concepts(B, D) == 0
    assert measure.profiles([B, D], [A, D]) == pytest.approx((1 - 0.5 * 1.5 / 3.5 + 1) / 2)
    assert measure.profiles([B], []) == 0


def test_concepts_on_a_cycle_are_one_concept():
    measure = Similarity({A: frozenset({B}), B: frozenset({A, C}), C: frozenset()})
    assert measure.concepts(A, B) == 1
    assert 0 < measure.concepts(A, C) < 1


def test_a_kind_of_skos_concepts_is_no_concept_and_brings_none_together():
    kinds = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :K rdfs:subClassOf skos:Concept . "
    model = read(kinds + ":1 a :K ; skos:broader :0 . :2 a :K . :3 a :K ; skos:broader :1 .")
    assert set(model.concept_parents) == {A, B, C, D}
    assert model.similarity.concepts(D, C) == 0
    assert model.similarity.concepts(D, A) > 0
