"""Subscriptions as pictures: everything is in them, and nothing lies on anything else."""

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import worlds
from triplewire.concepts.load import load_model
from triplewire.concepts.model import ConceptModel
from triplewire.rdf.svg import arrange
from triplewire.rdf.terms import RDF
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Variable
from triplewire.subscriptions.picture import diagram, picture

AUCTION = load_model([Path(__file__).parents[2] / "examples/auction/ontology.ttl"])
PREFIXES = {"": "http://example.org/auction#", "units": "http://example.org/units#"}
SVG = "{http://www.w3.org/2000/svg}"


def drawn(language, pattern, model=AUCTION):
    record = {"id": "s", "language": language, "pattern": pattern, "prefixes": PREFIXES}
    return diagram(parse_subscription(record, model), model, PREFIXES)


def test_figure_3_has_its_vertices_arcs_and_filter():
    figure = drawn(
        "ops",
        "(_:H, ?1, (:Selling, :target, :Computer)) (_:H, ?2, (:Selling, :price, :MoneyValue))"
        "(?2, units:dollar, (:MoneyValue, :currency, daml:Thing))"
        "(?2, ?3, (:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)",
    )
    assert {(box.lines, box.shape) for box in figure.boxes} == {
        (("_:H", "Selling"), "round"),
        (("?1", "Computer"), "oval"),
        (("?2", "MoneyValue"), "oval"),
        (("units:dollar",), "round"),
        (("?3", "xsd:decimal", "?3 < 400.00"), "oval"),
    }
    assert [box.lines[0] for box in figure.boxes if box.strong] == ["_:H"]
    assert [arrow.label for arrow in figure.arrows] == ["target", "price", "currency", "rdf:value"]
    assert figure.note == "Different vertices stand for different resources."
    assert figure.description.startswith("Selling events whose target is a Computer")


def test_what_is_no_arc_stands_in_a_note():
    figure = drawn("filter", 'size < 4 and name contains "x" and (size > 1 or name = "y") and not exists part')
    assert [box.lines for box in figure.boxes if box.shape == "note"] == [
        ('size > 1 or name = "y"', "not exists part"),
    ]
    assert [box.lines for box in figure.boxes if box.shape == "oval"] == [("< 4",), ('contains "x"',)]


def test_each_concept_of_an_interest_is_drawn_and_their_similarity_is_a_note():
    figure = drawn("interest", {"concepts": ["Computer", "Book"]})
    assert [box.lines for box in figure.boxes] == [("Computer",), ("Book",), ("mean similarity > 0.7",)]


def test_of_very_many_arcs_the_first_are_drawn():
    chain = "".join(f"({'_:H' if n == 0 else f'?{n}'}, ?{n + 1}, (:A, :p, :A))" for n in range(1200))
    figure = drawn("ops", chain)
    assert len(figure.arrows) == 200
    assert len(figure.boxes) == 201
    assert figure.note.startswith("Left out: 1000 arcs.")


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_vertex_and_arc_is_drawn_and_no_box_lies_on_another(rng):
    subscription = worlds.subscription(rng)
    figure = diagram(subscription, ConceptModel())
    texts = " ".join(line for box in figure.boxes for line in box.lines)
    for pattern in (alternative.pattern for alternative in subscription.alternatives):
        assert all(str(v) in texts for v in pattern.vertices if isinstance(v, Variable))
        drawn_arcs = [arc for arc in pattern.arcs if arc.property != RDF.type]
        assert len(figure.arrows) >= len(drawn_arcs)
    layout = arrange(figure)
    assert not any(one.overlaps(other) for one, other in combinations(layout.boxes.values(), 2))


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_picture_is_svg_with_title_and_description(rng):
    svg = picture(worlds.subscription(rng), ConceptModel())
    root = ElementTree.fromstring(svg)
    assert root.find(f"{SVG}title").text == "Subscription s"
    assert root.find(f"{SVG}desc").text.endswith(".")
