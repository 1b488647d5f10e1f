"""Looking things up in a concept model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from triplewire.concepts import catalogue
from triplewire.concepts.catalogue import Catalogue
from triplewire.concepts.load import model_of
from triplewire.rdf.terms import RDFS, SKOS, Triple

LETTERS = "abcdefgh"
pairs = st.lists(st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS)), min_size=1, max_size=14)


def classes(below):
    return model_of(
        [Triple(NamedNode(f"urn:{child}"), RDFS.subClassOf, NamedNode(f"urn:{parent}")) for child, parent in below]
    )


@settings(max_examples=120, deadline=None)
@given(pairs)
def test_every_term_is_found_at_the_end_of_its_way_down_from_the_top(below):
    section = Catalogue(classes(below)).section("interests")
    whole = section.outline
    for node in whole.parents:
        first, *rest = way = section.way(node)
        assert first in whole.tops
        assert all(one in whole.children[above] for above, one in zip(way, rest, strict=False))
        assert way[-1] == node
        assert len(way) == len(set(way))


WORDS = {"Music": ["Music", "Musik"], "Pop": ["Pop music"], "Rock": ["Rock"], "Muse": ["The Muses"]}


def worded():
    triples = [Triple(NamedNode(f"urn:{name}"), SKOS.broader, NamedNode("urn:Music")) for name in WORDS]
    labels = [
        Triple(NamedNode(f"urn:{name}"), SKOS.altLabel, Literal(word))
        for name, words in WORDS.items()
        for word in words
    ]
    return Catalogue(model_of([*triples, *labels])).section("interests")


def test_those_called_just_so_come_first_then_those_that_begin_so_then_the_others():
    found = [term.value.removeprefix("urn:") for term in worded().search("mus")]
    assert found == ["Music", "Muse", "Pop"]
    assert [term.value for term in worded().search("ROCK")] == ["urn:Rock"]
    assert worded().search("jazz") == []


@pytest.mark.parametrize("many", [0, 5_000])
def test_a_misspelt_word_leads_to_the_nearest_one(monkeypatch, many):
    monkeypatch.setattr(catalogue, "MANY", many)
    assert worded().nearest("Musick")[0] == NamedNode("urn:Music")
    assert worded().nearest("astronomy") == []
