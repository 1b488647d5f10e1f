"""Which new concepts a publication proposes, and what an ontology says once it has them."""

import pytest
from pyoxigraph import NamedNode

from triplewire import parse_event
from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.proposed import Proposal, proposed, publication_proposals, word_for
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
