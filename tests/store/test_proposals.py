"""Proposed concepts: made once, decided once, and every decision that changes the ontology is a version of it."""

import pytest
from pyoxigraph import NamedNode

from triplewire.concepts.load import model_of_documents
from triplewire.concepts.proposed import Proposal, proposed
from triplewire.errors import UsageError
from triplewire.rdf.terms import SKOS
from triplewire.store import Store

NEWS = "http://example.org/news#"
MUSIC, ALBUM = NamedNode(f"{NEWS}Music"), NamedNode(f"{NEWS}Album")
TEXT = f'<{NEWS}Music> a <{SKOS.base}Concept> ; <{SKOS.base}prefLabel> "Music" .'
ONTOLOGY = {"name": "news.ttl", "media_type": "text/turtle", "text": TEXT}


def under(parent, word="Grunge"):
    return Proposal(proposed(word), word, SKOS.broader, parent)


@pytest.fixture
def store(store_url):
    opened = Store(store_url)
    opened.put_ontology([ONTOLOGY], "ann", "the first")
    yield opened
    opened.close()


def states(store):
    return {(one.proposer, one.proposal.parent.value.removeprefix(NEWS)): one.state for one in store.proposals()}


def model(store):
    return model_of_documents(store.newest_ontology().documents)


def test_a_proposal_is_kept_once_for_each_proposer_and_place(store):
    for proposer, parent in [("lori", MUSIC), ("lori", MUSIC), ("jeff", MUSIC), ("lori", ALBUM)]:
        store.propose([under(parent)], proposer, "s")
    assert states(store) == {("lori", "Music"): "open", ("jeff", "Music"): "open", ("lori", "Album"): "open"}
    assert [one.proposer for one in store.proposals(proposer="jeff")] == ["jeff"]


def test_accepting_makes_a_version_with_author_and_reason_and_settles_the_word(store):
    store.append([("source", "e", "{}")])
    store.propose([under(MUSIC)], "lori", "s")
    store.propose([under(ALBUM)], "jeff", "t")
    one = store.accept(1, "ann", "many ask for it")
    assert (one.state, one.author, one.reason, one.version) == ("accepted", "ann", "many ask for it", 2)
    newest = store.newest_ontology()
    assert (newest.version, newest.since, newest.author, newest.reason) == (2, 1, "ann", "many ask for it")
    assert model(store).concept_parents[proposed("Grunge")] == {MUSIC}
    assert set(states(store).values()) == {"accepted"}


def test_merging_makes_the_word_a_synonym(store):
    store.propose([under(MUSIC, "Musick")], "lori", "s")
    assert store.merge(1, MUSIC, "ann").state == "merged"
    assert model(store).words.concepts_called("musick") == (MUSIC,)
    assert model(store).aliases(proposed("Musick")) == {MUSIC, proposed("Musick")}
    assert store.ontologies()[-1].author == "ann"


def test_rejecting_changes_no_ontology_and_leaves_other_places_open(store):
    store.propose([under(MUSIC)], "lori", "s")
    store.propose([under(ALBUM)], "jeff", "t")
    assert store.reject(1, "ann", "no").reason == "no"
    assert len(store.ontologies()) == 1
    assert states(store) == {("lori", "Music"): "rejected", ("jeff", "Album"): "open"}


def test_what_was_rejected_stays_so_when_another_proposal_of_the_word_is_accepted(store):
    store.propose([under(ALBUM)], "jeff", "t")
    store.reject(1, "ann", "no")
    store.propose([under(MUSIC)], "lori", "s")
    store.accept(2, "bob", "yes")
    assert [(one.state, one.author, one.reason) for one in store.proposals()] == [
        ("rejected", "ann", "no"),
        ("accepted", "bob", "yes"),
    ]


@pytest.mark.parametrize("first", ["accept", "reject"])
def test_a_proposal_is_decided_once(store, first):
    store.propose([under(MUSIC)], "lori", "s")
    getattr(store, first)(1, "ann")
    for again in (store.accept, store.reject):
        with pytest.raises(UsageError, match=r"proposal 1 is \w+ed already"):
            again(1, "ann")
    with pytest.raises(UsageError, match="no proposal 7"):
        store.accept(7, "ann")


def test_by_a_setting_proposals_are_accepted_as_they_are_made(store):
    store.accept_at_once(True)
    store.propose([under(MUSIC), under(MUSIC, "Zouk")], "lori", "s")
    store.propose([under(MUSIC)], "jeff", "t")
    assert [(one.version, one.author) for one in store.ontologies()] == [(1, "ann"), (2, "lori"), (3, "lori")]
    assert {proposed("Grunge"), proposed("Zouk")} <= model(store).concept_parents.keys()
    store.accept_at_once(False)
    store.propose([under(MUSIC, "Ska")], "lori", "s")
    assert store.proposals()[-1].state == "open"


def test_what_was_learnt_outlives_the_documents_beside_it(store):
    store.propose([under(MUSIC)], "lori", "s")
    store.accept(1, "ann")
    newer = store.put_ontology([ONTOLOGY | {"text": f"{TEXT} <{NEWS}Album> a <{SKOS.base}Concept> ."}], "bob", "albums")
    assert newer.author == "bob"
    assert {proposed("Grunge"), ALBUM} <= model(store).concept_parents.keys()
    assert store.put_ontology([ONTOLOGY | {"text": newer.documents[0]["text"]}]).version == newer.version
    forgotten = {"name": "learnt.nt", "media_type": "application/n-triples", "text": ""}
    store.put_ontology([ONTOLOGY, forgotten], "bob", "start again")
    assert proposed("Grunge") not in model(store).concept_parents
