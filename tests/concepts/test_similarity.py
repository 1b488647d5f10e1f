"""The weighted-path measure: its laws, and figures worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.profile import spot
from triplewire.concepts.similarity import Similarity

NODES = [NamedNode(f"http://example.org/{i}") for i in range(8)]
A, B, C, D = NODES[:4]


@st.composite
def concept_graphs(draw):
    pairs = draw(st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=12))
    return {node: frozenset(p for c, p in pairs if c == node and p != node) for node in NODES}


@settings(max_examples=200, deadline=None)
@given(concept_graphs(), st.sampled_from(NODES), st.sampled_from(NODES))
def test_similarity_is_symmetric_between_0_and_1_and_1_for_a_concept_itself(parents, a, b):
    measure = Similarity(parents)
    assert measure.concepts(a, b) == pytest.approx(measure.concepts(b, a))
    assert 0 <= measure.concepts(a, b) <= 1
    assert measure.concepts(a, a) == 1


@given(st.integers(1, 6))
def test_along_a_chain_the_farther_the_less_similar(length):
    chain = {NODES[i + 1]: frozenset({NODES[i]}) for i in range(length)} | {NODES[0]: frozenset()}
    measure = Similarity(chain)
    values = [measure.concepts(NODES[length], NODES[i]) for i in range(length, -1, -1)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


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


def test_spotting_takes_whole_words_and_the_longest_label():
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    owl_class = "a <http://www.w3.org/2002/07/owl#Class>"
    texts = {"pop": "Pop", "star": "star", "popstar": "Pop Star"}
    turtle = "\n".join(f'<http://example.org/{n}> {owl_class}; {label} "{t}" .' for n, t in texts.items())
    model = model_of(read_ontology(turtle, "text/turtle", "test"))
    assert [c.value[19:] for c in spot("A pop  STAR, not popular; a star.", model)] == ["popstar", "star"]
