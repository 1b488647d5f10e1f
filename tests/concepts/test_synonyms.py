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


PIECES = ["pop", "Pops", "star", "STARS", "P!nk", "rock'n'roll", "Église", "eglises", "爵士", "爵士乐", "がき", "かき"]
PIECES += ["city", "Cities", "news", "’s", "-", "…", "\u0301", "a", "b", "b_a"]
TEXTS = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", " ", ", ", "-", "\n"])), max_size=20).map(
    lambda pieces: "".join(piece + gap for piece, gap in pieces)
)


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXTS.map(lambda text: text[:12]), max_size=12), TEXTS)
def test_spotting_finds_what_trying_every_label_at_every_place_finds(labels, text):
    called = {NamedNode(f"{EX}{n}"): (Literal(label),) for n, label in enumerate(labels)}
    words, place, expected = words_in(text), 0, []
    while place < len(words):
        fits = {
            concept: len(words_in(label.value))
            for concept, (label,) in called.items()
            if words_in(label.value) and words_in(label.value) == words[place : place + len(words_in(label.value))]
        }
        longest = max(fits.values(), default=0)
        expected += [tuple(sorted((c for c, n in fits.items() if n == longest), key=str))] if longest else []
        place += longest or 1
    assert list(Dictionary(called, called).spot(text)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Pink's tour, and the singers' own", "pink s tour and the singer own"),
        ("don’t stop Rock'n'Roll", "don t stop rock n roll"),
        ("hip-hop / R&B (live)", "hip hop r b live"),
        ("snake_case v2.0", "snake_case v2 0"),
        ("中国经济 GDP增长", "中 国 经 济 gdp 增 长"),
        ("がぎ か\u3099 ｶﾞ", "が ぎ が ガ"),
        ("한국 경제", "한국 경제"),
        ("naïve CAFÉS", "naive cafe"),
    ],
)
def test_where_words_begin_and_end(text, words):
    assert " ".join(words_in(text)) == words


def test_a_chinese_label_is_found_within_a_run_of_characters_and_the_longest_wins():
    assert spotted("今晚爵士乐队演出", jazz="爵士", band="爵士乐队", tonight="今晚") == ["tonight", "band"]


def test_labels_in_all_languages_count_in_the_order_in_which_they_are_stated():
    turtle = ':M skos:broader :A ; skos:prefLabel "Music"@en, "Musik"@de ; skos:altLabel "musique"@fr, "音楽"@ja .'
    model = model_of(read_ontology(PREFIXES + turtle, "text/turtle", "test"))
    music = NamedNode(EX + "M")
    assert [str(label) for label in model.labels[music]] == ['"Music"@en', '"Musik"@de', '"musique"@fr', '"音楽"@ja']
    for text in ("MUSIC", "Musik!", "la musique", "日本の音楽"):
        assert list(model.dictionary.spot(text)) == [(music,)]


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
