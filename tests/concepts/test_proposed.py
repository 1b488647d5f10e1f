"""Which new concepts a publication proposes, and what an ontology says once it has them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from triplewire import parse_event
from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.proposed import Proposal, check_decision, proposed, publication_proposals, unfit, word_for
from triplewire.concepts.synonyms import words_in
from triplewire.errors import UsageError
from triplewire.testing import cloud_event

EX = "http://example.org/"
PREFIXES = f"""@prefix ex: <{EX}> . @prefix tw: <urn:triplewire:> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
ONTOLOGY = """
ex:Music a skos:Concept ; skos:prefLabel "Music" ; skos:altLabel "Song" .
ex:Pop a skos:Concept ; skos:prefLabel "Pop" ; skos:broader ex:Music .
ex:Computer a owl:Class ; rdfs:label "Computer" .
"""


def triples_of(text):
    return read_ontology(PREFIXES + text, "text/turtle", "ontology.ttl")


MODEL = model_of(triples_of(ONTOLOGY))


def made(publication):
    event = parse_event(cloud_event(f"{PREFIXES} _:H {publication} ."))
    return [
        (one.concept.value, one.word, one.parent.value.removeprefix(EX))
        for one in publication_proposals(event.graph, MODEL)
    ]


@pytest.mark.parametrize(
    ("publication", "proposals"),
    [
        (
            'tw:publicationType ex:Music ; tw:publicationSubType "Grunge"',
            [(proposed("grunge").value, "Grunge", "Music")],
        ),
        (
            "tw:publicationType ex:Music ; tw:publicationSubType ex:HeavyMetal",
            [(f"{EX}HeavyMetal", "Heavy Metal", "Music")],
        ),
        ('tw:publicationType "songs" ; tw:publicationSubType "Ska"', [(proposed("Ska").value, "Ska", "Music")]),
        ('tw:publicationType ex:Music ; tw:publicationSubType "pops"', []),
        ("tw:publicationType ex:Music ; tw:publicationSubType ex:Pop", []),
        ('tw:publicationType "Unheard of" ; tw:publicationSubType "Grunge"', []),
        ('tw:publicationSubType "Grunge"', []),
        ("tw:publicationType ex:Music ; tw:publicationSubType <urn:another:Pop>", []),
        (f'tw:publicationType ex:Music ; tw:publicationSubType "{"long" * 51}"', []),
        ("tw:publicationType ex:Music ; tw:publicationSubType [], 17, '!!'", [(proposed("17").value, "17", "Music")]),
    ],
)
def test_an_unknown_subtype_is_proposed_under_a_known_type(publication, proposals):
    assert made(publication) == proposals


def test_words_that_are_read_alike_are_one_concept():
    assert proposed("Grunges") == proposed("  GRUNGE ") != proposed("Grunge rock")
    assert word_for(proposed("Grunge  Rock")) == "grunge rock"


@pytest.mark.parametrize("parent", ["Music", "Computer"])
def test_an_accepted_concept_is_below_its_parent_as_the_parent_is_in_the_ontology(parent):
    above = NamedNode(EX + parent)
    one = Proposal.under(above, proposed("new"), "New", MODEL)
    model = model_of([*triples_of(ONTOLOGY), *one.accepted()])
    assert model.concept_parents[one.concept] == {above}
    assert model.words.concepts_called("new") == (one.concept,)
    assert model.is_subclass(one.concept, above) == (parent == "Computer")


@given(st.text(max_size=6))
@example("3½ minutes")
@example("¯")
def test_a_new_concept_is_called_by_the_words_that_it_was_made_of(word):
    assert words_in(" ".join(words_in(word))) == words_in(word)
    assert unfit(word) or words_in(word_for(proposed(word))) == words_in(word)


def test_a_decision_that_would_change_what_others_mean_is_refused():
    pop, music = NamedNode(f"{EX}Pop"), NamedNode(f"{EX}Music")
    check_decision(Proposal.under(music, proposed("new"), "New", MODEL), MODEL)
    check_decision(Proposal.under(music, proposed("pop"), "pops", MODEL), MODEL, into=pop)
    with pytest.raises(UsageError, match=r"means <http://example\.org/Pop> already"):
        check_decision(Proposal.under(music, proposed("pop"), "pops", MODEL), MODEL)
    with pytest.raises(UsageError, match="no concept <urn:gone> any more"):
        check_decision(Proposal.under(NamedNode("urn:gone"), proposed("new"), "New", MODEL), MODEL)
