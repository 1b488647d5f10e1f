"""The synonym dictionary: whole words, the longest first, without case, accents and plural; words of two meanings."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from triplewire import SubscriptionError, parse_event, parse_subscription
from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.profile import event_profile
from triplewire.concepts.synonyms import Dictionary, words_in
from triplewire.testing import cloud_event

EX = "http://example.org/"


def dictionary(**labels):
    called = {NamedNode(EX + name): (Literal(text),) for name, text in labels.items()}
    return Dictionary(called, called)


def spotted(text, **labels):
    return [concept.value.removeprefix(EX) for choice in dictionary(**labels).spot(text) for concept in choice]


def test_spotting_takes_whole_words_and_the_longest_label():
    found = spotted("A pop  STAR, not popular; a star.", pop="Pop", star="star", popstar="Pop Star")
    assert found == ["popstar", "star"]


LABELS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(" ".join), max_size=12, unique=True)


@settings(max_examples=300, deadline=None)
@given(LABELS, st.lists(st.sampled_from("abcde"), max_size=20))
def test_spotting_finds_what_trying_every_label_at_every_place_finds(labels, words):
    place, expected = 0, []
    while place < len(words):
        fits = [label for label in labels if label.split() == words[place : place + len(label.split())]]
        longest = max(fits, key=len, default=None)
        expected += [longest.replace(" ", "_")] if longest else []
        place += len(longest.split()) if longest else 1
    assert spotted(" ".join(words), **{label.replace(" ", "_"): label for label in labels}) == expected


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Movie", "two movies"),
        ("Movies", "the movie"),
        ("Église", "eglise"),
        ("Eglise", unicodedata.normalize("NFD", "ÉGLISE")),
        ("Straße", "STRASSE"),
        ("City", "cities"),
        ("Church", "churches"),
        ("Boxes", "box"),
        ("P!nk", "P!NK comes"),
        ("news", "News"),
    ],
)
def test_words_are_the_same_without_case_accents_and_plural(label, text):
    assert spotted(text, it=label) == ["it"]


@pytest.mark.parametrize(
    ("label", "text"), [("News", "new"), ("Bus", "bu"), ("Glass", "glas"), ("Analysis", "analysi"), ("Ethics", "ethic")]
)
def test_words_that_only_look_like_plurals_keep_their_endings(label, text):
    assert spotted(text, it=label) == []


@given(st.text())
def test_a_text_names_the_label_that_it_is(text):
    assert spotted(text, it=text) == (["it"] if words_in(text) else [])


PREFIXES = "@prefix : <http://example.org/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> . "
TWO_MEANINGS = model_of(
    read_ontology(
        PREFIXES
        + """
        :Jaguar skos:broader :Cat ; skos:prefLabel "Jaguar" .
        :JaguarCar skos:broader :Car ; skos:prefLabel "Jaguars"@en .
        :Cat skos:broader :Animal ; skos:prefLabel "Cat" . :Car skos:broader :Vehicle ; skos:prefLabel "Car" .
        :Tiger skos:broader :Cat ; skos:prefLabel "Tiger" . :Weather skos:broader :Nature ; skos:prefLabel "Weather" .
        """,
        "text/turtle",
        "test",
    )
)


def profile(text):
    event = parse_event(cloud_event(f'_:H <urn:text> "{text}" .'))
    return {concept.value.removeprefix(EX) for concept in event_profile(event.graph, TWO_MEANINGS)}


def test_a_word_of_two_meanings_means_the_one_that_the_profile_is_near():
    assert profile("a jaguar and a tiger") == {"Jaguar", "Tiger"}
    assert profile("a jaguar is a car") == {"JaguarCar", "Car"}


def test_a_word_of_two_meanings_means_both_where_nothing_tells():
    assert profile("a jaguar") == {"Jaguar", "JaguarCar"}
    assert profile("a jaguar and the weather") == {"Jaguar", "JaguarCar", "Weather"}


def interest(*words):
    record = {"id": "i", "language": "interest", "pattern": {"concepts": list(words)}}
    return parse_subscription(record, TWO_MEANINGS).alternatives[0].pattern.interests[0].concepts


def test_words_of_an_interest_are_resolved_by_its_other_words():
    assert interest("jáguar", "Tigers") == tuple(NamedNode(EX + name) for name in ("Jaguar", "Tiger"))
    assert interest("Cars", "jáguar") == tuple(NamedNode(EX + name) for name in ("Car", "JaguarCar"))


def test_a_label_to_the_letter_comes_before_those_that_differ_by_plural_or_accent():
    assert interest("JAGUARS", "Tigers") == tuple(NamedNode(EX + name) for name in ("JaguarCar", "Tiger"))


def test_a_word_of_an_interest_that_nothing_resolves_is_refused_with_its_meanings():
    with pytest.raises(SubscriptionError, match=re.escape(f"may mean <{EX}Jaguar>, <{EX}JaguarCar>")):
        interest("jáguar", "weather")
