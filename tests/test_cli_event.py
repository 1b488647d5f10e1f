"""``triplewire event show``: tables for people, JSON for programs, a picture."""

import json
from xml.etree import ElementTree

import pytest

from tests.commands import run
from tests.test_cli import AUCTION, event, lines
from triplewire.rdf.terms import RDF

EVENTS = AUCTION / "events.ndjson"


def test_figure_1_as_a_table():
    found = run("event", "show", EVENTS, "--number", 1)
    assert found.returncode == 0
    table = [line.split() for line in found.stdout.splitlines()]
    assert ["_:H", "rdf:type", "ex:Selling"] in table
    assert ["_:price", "ex:currency", "units:dollar"] in table
    assert ["_:wang", "ex:name", '"Jinling', 'Wang"'] in table
    assert "home vertex: _:H a ex:Selling; 16 triples" in found.stdout
    assert "warning: the event gives no class (rdf:type) for <http://example.org/units#dollar>" in found.stdout


def test_the_auctions_first_event_is_the_papers_figure_1():
    shown = json.loads(run("event", "show", EVENTS, "--number", 1, "--json").stdout)
    names = {prefix: space for prefix, space in shown["prefixes"].items() if prefix != "ex"}

    def short(term):
        term = term.replace("http://example.org/auction#", "").partition("^^")[0]
        for prefix, space in names.items():
            term = term.replace(space, f"{prefix}:")
        return term.strip("<>")

    figure = """_:H a Selling, _:H seller _:wang, _:H price _:price, _:H target _:pc, _:wang a Customer,
        _:price a MoneyValue, _:price currency units:dollar, _:price rdf:value "450.00", _:pc a DesktopPC,
        _:pc manufacture IBM, _:pc part _:disk, _:disk a HardDisk, _:disk size "40", _:disk manufacture IBM,
        IBM a Company"""
    arcs = {" ".join(map(short, triple.values())).replace("rdf:type", "a") for triple in shown["triples"]}
    assert arcs == {" ".join(arc.split()) for arc in figure.split(",")} | {'_:wang name "Jinling Wang"'}


def test_an_ontology_gives_classes_to_what_it_names():
    found = run("event", "show", EVENTS, "--number", 1, "--json", "--ontology", AUCTION / "ontology.ttl")
    shown = json.loads(found.stdout)
    assert shown["warnings"] == []
    assert shown["home"] == "_:H"
    assert shown["types"]["_:H"] == ["<http://example.org/auction#Selling>"]
    assert len(shown["triples"]) == 16
    assert {"subject": "_:pc", "property": "<http://example.org/auction#part>", "object": "_:disk"} in shown["triples"]


def test_the_file_may_come_after_an_ontology():
    ontology = ["--ontology", AUCTION / "ontology.ttl"]
    found = run("event", "show", "--number", 1, "--json", *ontology, *ontology, EVENTS)
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout)["warnings"] == []


def test_every_event_is_shown_and_a_broken_one_is_told(tmp_path):
    svg = tmp_path / "first.svg"
    found = run("event", "show", EVENTS, "--json", "--svg", svg)
    assert found.returncode == 3
    assert [json.loads(line)["event"] for line in found.stdout.splitlines()] == [f"event-{n}" for n in range(1, 7)]
    refused = json.loads(found.stderr)
    assert (refused["event"], refused["line"], refused["error"]) == ("event-7", 7, "EventError")
    assert ElementTree.fromstring(svg.read_text()).find("{http://www.w3.org/2000/svg}title").text == "Event event-1"


def test_a_broken_event_is_one_line_for_people():
    found = run("event", "show", EVENTS, "--number", 7)
    assert (found.returncode, found.stdout) == (3, "")
    assert found.stderr.startswith(f"triplewire: {EVENTS}, line 7: not well-formed text/turtle")
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.ttl", '@prefix ex: <http://e.org/> . _:H a ex:A ; ex:p "x" .'),
        ("e.nt", f'_:H <http://e.org/p> "x" .\n_:H {RDF.type} <http://e.org/A> .'),
        ("e.jsonld", '{"@context": {"@vocab": "http://e.org/"}, "@id": "_:H", "@type": "A", "p": "x"}'),
    ],
)
def test_a_file_without_an_envelope_is_one_event(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    found = run("event", "show", tmp_path / name, "--json")
    shown = json.loads(found.stdout)
    assert (shown["event"], shown["home"], shown["warnings"]) == (name, "_:H", [])
    assert shown["triples"][0] == {"subject": "_:H", "property": "<http://e.org/p>", "object": '"x"'}


def test_a_json_file_may_be_a_cloudevent(tmp_path):
    path = lines(tmp_path / "e.json", [event("mine")])
    assert json.loads(run("event", "show", path, "--json").stdout)["event"] == "mine"


def test_each_row_of_a_table_is_an_event(tmp_path):
    (tmp_path / "offers.csv").write_text("title,price\nBlue,3.50\nRed,4\n")
    found = run("event", "show", tmp_path / "offers.csv", "--json")
    shown = [json.loads(line) for line in found.stdout.splitlines()]
    assert [one["event"] for one in shown] == ["offers.csv#1", "offers.csv#2"]
    assert json.loads(run("event", "show", tmp_path / "offers.csv", "--json", "--number", 2).stdout) == shown[1]


def test_names_mean_what_the_mapping_of_their_type_says(tmp_path):
    (tmp_path / "mappings").mkdir()
    mapping = {"for": "offer", "prefixes": {"ex": "http://e.org/"}, "properties": {"price": "ex:cost"}}
    (tmp_path / "mappings" / "offer.json").write_text(json.dumps(mapping))
    (tmp_path / "o.json").write_text('{"price": 3}')
    found = run("event", "show", tmp_path / "o.json", "--json", "--lifting", tmp_path, "--type", "offer")
    (triple,) = json.loads(found.stdout)["triples"]
    assert triple["property"] == "<http://e.org/cost>"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nowhere.ttl"], 2, "nowhere.ttl: no such file"),
        (["examples"], 2, "examples: a folder, not a file"),
        (["Makefile"], 2, "the suffix should be one of .ndjson"),
        ([EVENTS, "--number", 8], 2, "there is no event number 8"),
        ([EVENTS, "--number", 1, "--svg", "nowhere/x.svg"], 2, "nowhere/x.svg: No such file or directory"),
        ([EVENTS, "--ontology", "nowhere.ttl"], 2, "nowhere.ttl: no such file"),
        ([EVENTS, "--lifting", "nowhere"], 2, "nowhere: no such folder"),
    ],
)
def test_a_users_mistake_is_one_line(arguments, status, message):
    found = run("event", "show", *arguments)
    assert found.returncode == status
    assert message in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_brackets_in_an_event_are_no_markup(tmp_path):
    path = lines(tmp_path / "e.ndjson", [event("[bold]", '_:H <http://e.org/p> "[red]x[/red]" .')])
    shown = run("event", "show", path).stdout
    assert "[bold]" in shown
    assert '"[red]x[/red]"' in shown
