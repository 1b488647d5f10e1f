"""Synonyms from WordNet's database files and from a user's own: which words, for which concepts, in which order."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from triplewire import OntologyError
from triplewire.cli.app import app
from triplewire.concepts.load import load_model
from triplewire.concepts.wordlist import read_wordlist
from triplewire.concepts.wordnet import WordNet, synonyms

INDEX = """\
  1 This software and database is being provided to you, the LICENSEE, by
  2 somebody.
bank n 2 2 @ ~ 2 1 00000010 00000020
financial_institution n 1 1 @ 1 0 00000030
organization n 1 0 1 0 00000040
slope n 1 0 1 0 00000050
movie n 1 1 @ 1 1 00000060
picture n 2 1 @ 2 1 00000070 00000060
depository_financial_institution n 1 1 @ 1 0 00000020
credit_union n 1 1 @ 1 0 00000080
"""
DATA = """\
  1 This software and database is being provided to you, the LICENSEE, by
00000010 17 n 02 bank 0 riverbank 1 001 @ 00000050 n 0000 | sloping land | beside water
00000020 14 n 03 depository_financial_institution 0 bank 1 banking_company 0 001 @ 00000030 n 0000 | a company
00000030 14 n 01 financial_institution 0 001 @ 00000040 n 0000 | an institution
00000040 14 n 02 organization 0 organisation 0 000 | a group of people
00000050 17 n 02 slope 0 incline 0 000 | an elevated formation
00000060 10 n 0b movie 0 film 0 picture 2 moving_picture 0 moving-picture_show 0 motion_picture 0 picture_show 0 \
flick 0 pic 0 motion-picture_show 0 cinema 4 002 @ 00000040 n 0000 ~ 00000010 n 0000 | a form of entertainment
00000070 06 n 01 picture 0 000 | a visual representation
00000080 14 n 01 credit_union 0 001 @ 00000020 n 0000 | a bank of its members
"""
PREFIXES = "@prefix : <http://example.org/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> . "


@pytest.fixture
def wordnet(tmp_path):
    (tmp_path / "index.noun").write_text(INDEX)
    (tmp_path / "data.noun").write_text(DATA)
    return tmp_path


def ontology(folder, turtle):
    path = folder / "ontology.ttl"
    path.write_text(PREFIXES + turtle)
    return path


def words(folder, turtle):
    found = synonyms(load_model([ontology(folder, turtle)]), WordNet(folder))
    return [(concept.value.removeprefix("http://example.org/"), word.value) for concept, word in found]


def test_a_word_of_several_senses_has_none_where_nothing_tells(wordnet):
    assert words(wordnet, ':Bank skos:prefLabel "Bank"@en, "bank"@en-us ; skos:broader :Thing .') == []


def test_a_word_of_one_sense_has_it(wordnet):
    assert words(wordnet, ':S skos:prefLabel "Slope"@en ; skos:broader :Thing .') == [("S", "incline")]


@pytest.mark.parametrize(
    "turtle",
    [
        ':Bank skos:prefLabel "Banks"@en ; skos:broader :B . :B skos:broader :O . :O skos:prefLabel "Organization" .',
        ':Bank skos:prefLabel "Bank", "Depository financial institution" ; skos:broader :B .',
        ':Bank skos:prefLabel "Bank" ; skos:broader :B . :C skos:prefLabel "Credit union" ; skos:broader :Bank .',
    ],
    ids=["what is above it", "its other labels", "what is below it"],
)
def test_the_sense_is_taken_for_which_something_speaks(wordnet, turtle):
    assert ("Bank", "banking company") in words(wordnet, turtle)
    assert ("Bank", "riverbank") not in words(wordnet, turtle)


def test_words_come_in_wordnets_order_and_without_those_that_a_concept_is_called_by(wordnet):
    turtle = ':M skos:prefLabel "Movie" ; skos:altLabel "Film" ; skos:broader :E . :P skos:prefLabel "Flicks" ; a :E .'
    expected = "moving picture, moving-picture show, motion picture, picture show, pic, motion-picture show, cinema"
    assert ", ".join(word for _, word in words(wordnet, turtle)) == expected


def test_a_word_that_mostly_means_something_else_is_left_out(wordnet):
    assert "picture" not in [word for _, word in words(wordnet, ':M skos:prefLabel "Movie" ; skos:broader :E .')]


@pytest.mark.skipif(not Path("/usr/share/wordnet/data.noun").exists(), reason="WordNet is not installed")
def test_wordnets_own_files_give_music_news_right_words_and_no_wrong_ones():
    ontology = Path(__file__).parents[2] / "examples/music-news/ontology.ttl"
    found = {word.value for _, word in synonyms(load_model([ontology]), WordNet(Path("/usr/share/wordnet")))}
    assert {"motion picture", "film star", "serious music", "economic science"} <= found
    assert not {"air", "line", "picture", "word", "intelligence", "spot", "Jackson"} & found


def test_labels_in_other_languages_are_not_looked_up(wordnet):
    assert words(wordnet, ':Bank skos:prefLabel "Bank"@de ; skos:broader :Thing .') == []


def test_the_command_writes_labels_that_can_be_loaded_and_found(wordnet):
    path = ontology(wordnet, ':Bank skos:prefLabel "Bank"@en ; skos:broader :S . :S skos:prefLabel "Slope"@en .')
    found = CliRunner().invoke(app, ["synonyms", "import", "wordnet", str(path), "--dict", str(wordnet)])
    assert found.exit_code == 0
    more = wordnet / "words.ttl"
    more.write_text(found.stdout)
    model = load_model([path, more])
    assert [str(label) for label in model.labels[model.words.concepts_called("riverbank")[0]]] == [
        '"Bank"@en',
        '"riverbank"@en',
    ]


@pytest.mark.parametrize("name", ["index.noun", "data.noun"])
def test_a_broken_line_is_told_with_its_number(wordnet, name):
    path = wordnet / name
    path.write_text(path.read_text() + "broken line\n")
    with pytest.raises(OntologyError, match=rf"{name}, line \d+: not in the format"):
        WordNet(wordnet)


def test_a_folder_without_the_files_is_told(tmp_path):
    with pytest.raises(OntologyError, match=r"index\.noun: No such file or directory; WordNet's database files"):
        WordNet(tmp_path)


MUSIC = ':Music skos:prefLabel "Music"@en ; skos:broader :Art .'


def test_a_users_file_adds_its_words_in_order_and_with_their_languages(tmp_path):
    model = load_model([ontology(tmp_path, MUSIC)])
    path = tmp_path / "words.txt"
    path.write_text("# mine\n\nMusic => Melody, Musik@de,Tune ,\n<http://example.org/Art> => Fine art\n")
    assert [(concept.value[19:], str(word)) for concept, word in read_wordlist(path, model)] == [
        ("Music", '"Melody"'),
        ("Music", '"Musik"@de'),
        ("Music", '"Tune"'),
        ("Art", '"Fine art"'),
    ]
    found = CliRunner().invoke(app, ["synonyms", "import", "file", str(path), str(tmp_path / "ontology.ttl")])
    assert found.stdout.splitlines()[1] == (
        '<http://example.org/Music> <http://www.w3.org/2004/02/skos/core#altLabel> "Musik"@de .'
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Musik => Tune", "line 1: no concept is called 'Musik'. Did you mean Music?"),
        ("Music: Tune", "line 1: expected a line such as 'Music => Melody, Tune', not 'Music: Tune'"),
        ("Music =>", "line 1: expected a line such as"),
    ],
)
def test_a_line_that_cannot_be_read_is_told(tmp_path, line, said):
    path = tmp_path / "words.txt"
    path.write_text(line)
    with pytest.raises(OntologyError, match=re.escape(said)):
        list(read_wordlist(path, load_model([ontology(tmp_path, MUSIC)])))
