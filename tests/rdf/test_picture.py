"""An event's picture shows every vertex and arc of its graph, once, as SVG that stands alone."""

from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from tests.worlds import worlds
from triplewire.rdf.graph import Graph, event_graph
from triplewire.rdf.picture import diagram, picture
from triplewire.rdf.svg import arrange
from triplewire.rdf.syntax import read
from triplewire.rdf.terms import RDF, Triple

SVG = "{http://www.w3.org/2000/svg}"
FIGURE_1 = """
@prefix ex: <http://example.org/auction#> . @prefix units: <http://example.org/units#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
_:H a ex:Selling ; ex:price _:price ; ex:target _:pc .
_:price a ex:MoneyValue ; ex:currency units:dollar ; rdf:value 450.00 .
_:pc a ex:DesktopPC ; ex:maker ex:IBM . ex:IBM a ex:Company .
"""


def drawn(svg):
    """The texts of each box, and of each arrow."""
    root = ElementTree.fromstring(svg)
    groups = list(root.iter(f"{SVG}g"))
    boxes = [[t.text for t in g.findall(f"{SVG}text")] for g in groups if "box" in g.get("class", "").split()]
    arrows = [[t.text for t in g.findall(f"{SVG}text")] for g in groups if g.get("class") == "arrow"]
    return boxes, arrows


def graph_of(turtle):
    return event_graph(read(turtle, "text/turtle"))


def test_figure_1_in_miniature():
    svg = picture(graph_of(FIGURE_1), {"units": "http://example.org/units#"})
    boxes, arrows = drawn(svg)
    assert sorted(boxes) == [
        ["450.00"],
        ["IBM", "Company"],
        ["_:H", "Selling"],
        ["_:pc", "DesktopPC"],
        ["_:price", "MoneyValue"],
        ["units:dollar"],
    ]
    assert sorted(arrows) == [["currency"], ["maker"], ["price"], ["rdf:value"], ["target"]]
    assert 'class="box home"' in svg


@settings(deadline=None, max_examples=100)
@given(worlds())
def test_every_vertex_and_arc_is_drawn_once_and_no_boxes_overlap(world):
    graph = world.event.graph
    classes = {t for t in graph.triples if t.property == RDF.type and isinstance(t.object, NamedNode)}
    arcs = graph.triples - classes
    vertices = {end for arc in arcs for end in (arc.subject, arc.object)} | {t.subject for t in classes}
    plan = diagram(graph)
    assert {box.key for box in plan.boxes} == {str(vertex) for vertex in vertices} | {str(graph.home)} - {"None"}
    assert len(plan.boxes) == len({box.key for box in plan.boxes})
    ends = [(arrow.start, arrow.tip, arrow.end) for arrow in plan.arrows]
    assert sorted(ends) == sorted((str(s), str(p), str(o)) for s, p, o in arcs)
    rects = list(arrange(plan).boxes.values())
    assert not any(one.overlaps(two) for n, one in enumerate(rects) for two in rects[:n])
    boxes, arrows = drawn(picture(graph))
    assert (len(boxes), len(arrows)) == (len(plan.boxes), len(arcs))


def test_the_same_graph_is_drawn_the_same_way():
    one, two = (frozenset(read(FIGURE_1, "text/turtle")[::step]) for step in (1, -1))
    home = BlankNode("H")
    assert picture(Graph(one, home)) == picture(Graph(two, home))


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=60))
def test_any_text_can_be_drawn(text):
    graph = Graph(frozenset({Triple(BlankNode("H"), NamedNode("urn:p"), Literal(text))}))
    root = ElementTree.fromstring(picture(graph, title=text))
    assert root.tag == f"{SVG}svg"


def test_markup_in_a_literal_is_text():
    svg = picture(graph_of('_:H <urn:p> "<script>alert(1)</script>&amp;" .'))
    assert "<script" not in svg
    assert drawn(svg)[0][1] == ["<script>alert(1)</script>&amp;"]


def test_a_large_graph_is_drawn_from_the_home_vertex_on_and_says_what_is_left_out():
    far = "".join(f"_:v{n} <urn:next> _:v{n + 1} . " for n in range(40))
    svg = picture(graph_of(f"_:H <urn:next> _:v0 . {far}"), vertices=10)
    boxes, arrows = drawn(svg)
    assert [box[0] for box in boxes] == ["_:H", *(f"_:v{n}" for n in range(9))]
    assert len(arrows) == 9
    assert "Left out, furthest from the home vertex: 32 vertices and 32 arcs." in svg


def test_it_tells_those_who_cannot_see_it():
    root = ElementTree.fromstring(picture(graph_of(FIGURE_1), title="Event event-1"))
    assert root.find(f"{SVG}title").text == "Event event-1"
    assert root.find(f"{SVG}desc").text == "A graph of 6 vertices and 5 arcs, home vertex _:H."


def test_names_that_end_alike_are_told_apart():
    boxes, _ = drawn(picture(graph_of("_:H <urn:p> <http://a.org/x> , <http://b.org/x> .")))
    assert sorted(boxes) == [["<http://a.org/x>"], ["<http://b.org/x>"], ["_:H"]]


def test_a_graph_without_triples_or_home_is_an_empty_picture():
    assert drawn(picture(Graph(frozenset()))) == ([], [])
