"""``triplewire ontology show | check | diff``, on small ontologies and on those of the real world."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.commands import run
from tests.test_cli import AUCTION

DATA = Path(__file__).parents[2] / "shared" / "data"
ONTOLOGY = AUCTION / "ontology.ttl"
HEAD = """@prefix ex: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def write(path, turtle):
    path.write_text(HEAD + turtle)
    return path


@pytest.fixture
def cyclic(tmp_path):
    return write(tmp_path / "cyclic.ttl", "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A .")


def test_the_auction_in_numbers():
    found = run("ontology", "show", ONTOLOGY, "--json")
    assert found.returncode == 0
    summary = json.loads(found.stdout)
    assert summary["classes"] == {"named": 14, "in_hierarchy": 9, "several_parents": 1, "depth": 2}
    assert summary["properties"]["depth"] == 2
    assert summary["instances"] == 3
    assert summary["not_used"] == {"http://www.w3.org/2000/01/rdf-schema#comment": 1}
    assert summary["imports"] == summary["warnings"] == []
    assert len(summary["content"]) == 64


def test_the_auction_has_the_papers_figure_2():
    tree = json.loads(run("ontology", "show", ONTOLOGY, "--tree", "--json").stdout)["tree"]
    found = {
        (node["term"].partition("#")[2], parent.partition("#")[2])
        for kind in ("classes", "properties")
        for node in tree[kind]
        for parent in node["parents"]
    }
    figure = """Computer Product, Book Product, DigitalProduct Product, DesktopPC Computer, NotebookPC Computer,
        EBook Book, EBook DigitalProduct, MP3 DigitalProduct, telephoneNumber contactInformation,
        postalAddress contactInformation, homePhoneNumber telephoneNumber, cellPhoneNumber telephoneNumber"""
    assert found - {("HardDisk", "Product")} == {tuple(pair.split()) for pair in figure.split(",")}


def test_the_auction_in_a_table():
    table = [line.split() for line in run("ontology", "show", ONTOLOGY).stdout.splitlines()]
    assert ["classes", "14", "9", "1", "2"] in table
    assert ["1", "rdfs:comment"] in table


def test_a_tree_shows_a_term_under_each_of_its_parents():
    lines = run("ontology", "show", ONTOLOGY, "--tree", "--kind", "classes").stdout.splitlines()
    assert lines[0] == "classes"
    assert sum("E-Book" in line for line in lines) == 2
    assert sum("Product" in line for line in lines) == 2  # and Digital Product


def test_a_depth_or_a_kind_is_asked_of_a_tree():
    assert run("ontology", "show", ONTOLOGY, "--depth", 0, "--kind", "properties").stdout.startswith(
        "properties\n├── Con"
    )


def test_a_search_shows_what_is_above_and_below():
    found = run("ontology", "show", ONTOLOGY, "--search", "phone", "--depth", 0)
    assert [line.strip("│└├─ ") for line in found.stdout.splitlines()] == [
        "properties",
        "Contact information",
        "Telephone number",
        "Cell phone number",
        "Home phone number",
    ]
    tree = json.loads(run("ontology", "show", ONTOLOGY, "--search", "E-Book", "--json").stdout)["tree"]
    assert tree["properties"] == []
    (ebook,) = [node for node in tree["classes"] if node["label"] == "E-Book"]
    assert [parent.rpartition("#")[2] for parent in ebook["parents"]] == ["Book", "DigitalProduct"]


def test_a_picture_of_what_was_asked_for(tmp_path):
    svg = tmp_path / "computers.svg"
    run("ontology", "show", ONTOLOGY, "--search", "Computer", "--svg", svg)
    texts = [
        element.text for element in ElementTree.fromstring(svg.read_text()).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert sorted(texts) == ["Computer", "Desktop PC", "Notebook PC", "Product"]


def test_unread_imports_and_cycles_are_told(tmp_path, cyclic):
    importing = write(tmp_path / "i.ttl", "<http://e.org/o> a owl:Ontology ; owl:imports <http://e.org/other> .")
    found = run("ontology", "show", importing, cyclic)
    assert "imports http://e.org/other, which is not among the files" in found.stdout
    assert "<http://example.org/A>, <http://example.org/B>" in found.stdout
    summary = json.loads(run("ontology", "show", importing, cyclic, "--json").stdout)
    assert summary["imports"] == ["http://e.org/other"]
    assert len(summary["warnings"]) == 1


def test_check_says_what_is_sound(cyclic):
    assert run("ontology", "check", ONTOLOGY, "--strict").returncode == 0
    lenient = run("ontology", "check", cyclic)
    assert lenient.returncode == 0
    assert "warning" in lenient.stdout
    told = json.loads(run("ontology", "check", cyclic, "--json").stdout)
    assert told["sound"]
    assert len(told["warnings"]) == 1


def test_a_cycle_is_unsound_if_strict_and_names_its_members(cyclic):
    found = run("ontology", "check", cyclic, "--strict")
    assert (found.returncode, found.stdout) == (3, "")
    assert "<http://example.org/A>, <http://example.org/B>" in found.stderr
    assert len(found.stderr.splitlines()) == 1
    found = run("ontology", "check", cyclic, "--strict", "--json")
    assert found.returncode == 3
    told = json.loads(found.stdout)
    assert not told["sound"]
    assert "<http://example.org/A>, <http://example.org/B>" in told["error"]


def test_diff_tells_what_appeared_and_what_went(tmp_path):
    old = write(tmp_path / "old.ttl", "ex:A rdfs:subClassOf ex:B . ex:B a owl:Class . ex:C a owl:Class .")
    new = write(tmp_path / "new.ttl", "ex:A rdfs:subClassOf ex:C . ex:B a owl:Class . ex:p rdfs:subPropertyOf ex:q .")
    found = run("ontology", "diff", old, new)
    assert found.returncode == 0
    lines = [line.split() for line in found.stdout.splitlines()]
    assert ["+", "A", "⊑", "C", "classes"] in lines
    assert ["-", "A", "⊑", "B", "classes"] in lines
    assert ["+", "p", "⊑", "q", "properties"] in lines
    told = json.loads(run("ontology", "diff", old, new, "--json").stdout)
    pair = {"lower": "http://example.org/A", "upper": "http://example.org/B"}
    assert pair in told["classes"]["gone"]
    assert pair not in told["classes"]["appeared"]
    assert "no difference" in run("ontology", "diff", old, old).stdout


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["show", "nowhere.ttl"], 2, "nowhere.ttl: no such file"),
        (["check", "examples"], 2, "examples: a folder, not a file"),
        (["diff", ONTOLOGY, "nowhere.ttl"], 2, "nowhere.ttl: no such file"),
        (["show", "Makefile"], 3, "the suffix should be one of"),
        (["show", ONTOLOGY, "--search", "Computr"], 2, "nothing here is called 'Computr'. Did you mean Computer?"),
        (["show", ONTOLOGY, "--svg", "nowhere/x.svg"], 2, "nowhere/x.svg: No such file or directory"),
    ],
)
def test_a_users_mistake_is_one_line(arguments, status, message):
    found = run("ontology", *arguments)
    assert found.returncode == status
    assert message in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_a_broken_file_is_bad_input(tmp_path):
    path = tmp_path / "broken.ttl"
    path.write_text("ex:A a")
    for command in ("show", "check"):
        found = run("ontology", command, path)
        assert found.returncode == 3
        assert str(path) in found.stderr
        assert len(found.stderr.splitlines()) == 1


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real data is not here")
@pytest.mark.parametrize(
    ("file", "kind", "counts"),
    [
        (
            "schemaorg/data/releases/30.0/schemaorg-current-https.nt",
            "classes",
            {"in_hierarchy": 958, "several_parents": 57},
        ),
        (
            "schemaorg/data/releases/30.0/schemaorg-current-https.ttl",
            "classes",
            {"in_hierarchy": 958, "several_parents": 57},
        ),
        ("dbpedia-ontology/dbo.nq", "classes", {"in_hierarchy": 767, "depth": 7}),
        ("daml/tambis-full.daml", "classes", {"in_hierarchy": 375, "several_parents": 39}),
        ("stw/stw-skos.ttl", "concepts", {"in_hierarchy": 6244, "several_parents": 4566, "depth": 12}),
        ("media-topics/mediatopic.ttl", "concepts", {"in_hierarchy": 1361}),
    ],
)
def test_the_counts_of_real_ontologies(file, kind, counts):
    summary = json.loads(run("ontology", "show", DATA / file, "--json").stdout)
    assert {name: summary[kind][name] for name in counts} == counts
