"""A hierarchy's picture shows every term once, with a line to each of its parents."""

from xml.etree import ElementTree

from hypothesis import given, settings
from pyoxigraph import NamedNode

from tests.worlds import worlds
from triplewire.concepts.load import model_of
from triplewire.concepts.outline import KINDS, outline, search
from triplewire.concepts.picture import diagram, picture
from triplewire.rdf.svg import arrange
from triplewire.rdf.syntax import read

SVG = "{http://www.w3.org/2000/svg}"
FIGURE_2 = """
@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Computer rdfs:subClassOf ex:Product . ex:Book rdfs:subClassOf ex:Product .
ex:DigitalProduct rdfs:subClassOf ex:Product ; rdfs:label "digital product" .
ex:DesktopPC rdfs:subClassOf ex:Computer . ex:NotebookPC rdfs:subClassOf ex:Computer .
ex:EBook rdfs:subClassOf ex:Book , ex:DigitalProduct . ex:MP3 rdfs:subClassOf ex:DigitalProduct .
ex:telephoneNumber rdfs:subPropertyOf ex:contactInformation .
ex:Selling a rdfs:Class .
"""


def model(turtle):
    return model_of(read(turtle, "text/turtle"))


def labels(nodes):
    return [node.label for node in nodes]


def lines(plan):
    return {(arrow.end.rpartition("/")[2][:-1], arrow.start.rpartition("/")[2][:-1]) for arrow in plan.arrows}


def test_figure_2():
    plan = diagram([outline(model(FIGURE_2), kind) for kind in KINDS])
    names = "Product Computer Book DesktopPC NotebookPC EBook MP3 telephoneNumber contactInformation".split()
    assert sorted(box.lines[0] for box in plan.boxes) == sorted([*names, "digital product"])
    assert len(plan.arrows) == len(lines(plan)) == 9
    assert lines(plan) >= {("EBook", "Book"), ("EBook", "DigitalProduct"), ("telephoneNumber", "contactInformation")}
    assert plan.description == "8 classes and 2 properties, the general above the special."


def test_the_general_stands_above_the_special():
    plan = diagram([outline(model(FIGURE_2), "classes")])
    boxes = arrange(plan).boxes
    for arrow in plan.arrows:
        assert boxes[arrow.start].y + boxes[arrow.start].height < boxes[arrow.end].y


@settings(deadline=None, max_examples=100)
@given(worlds())
def test_every_term_is_drawn_once_with_its_parents_and_no_boxes_overlap(world):
    whole = outline(world.model, "classes")
    terms = [term for node in whole.parents for term in node.terms]
    stated = {(c, p) for c, ps in world.model.class_parents.items() for p in ps if isinstance(p, NamedNode)}
    assert len(terms) == len(set(terms))
    assert set(terms) == {term for pair in stated for term in pair if isinstance(term, NamedNode)}
    at = {term: node for node in whole.parents for term in node.terms}
    for child, parent in stated:
        if isinstance(child, NamedNode):
            assert at[child] == at[parent] or at[parent] in whole.parents[at[child]]
    plan = diagram([whole])
    rects = list(arrange(plan).boxes.values())
    assert not any(one.overlaps(two) for n, one in enumerate(rects) for two in rects[:n])
    root = ElementTree.fromstring(picture([whole]))
    assert len([g for g in root.iter(f"{SVG}g") if g.get("class") == "box"]) == len(plan.boxes)
    assert picture([whole]) == picture([outline(world.model, "classes")])


def test_a_cycle_is_one_node():
    turtle = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <http://example.org/> . "
    whole = outline(model(turtle + "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A , ex:C ."), "classes")
    assert {node.label: labels(above) for node, above in whole.parents.items()} == {"A = B": ["C"], "C": []}


def test_terms_of_the_same_label_are_told_apart():
    turtle = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . <urn:a/Person> rdfs:subClassOf <urn:b/Person> ."
    plan = diagram([outline(model(turtle), "classes")])
    assert {box.lines for box in plan.boxes} == {("Person", "<urn:a/Person>"), ("Person", "<urn:b/Person>")}


def test_a_part_is_found_by_label_or_name():
    ontology = model(FIGURE_2)
    whole = outline(ontology, "classes")
    assert labels(search(ontology, whole, "digital")) == ["digital product"]
    assert labels(search(ontology, whole, "Book")) == ["Book"]
    assert labels(search(ontology, whole, "ook")) == ["Book", "EBook", "NotebookPC"]
    assert labels(search(ontology, whole, "http://example.org/MP3")) == ["MP3"]
    assert search(ontology, whole, "phone") == []
    part = whole.around(search(ontology, whole, "Computer"), 0)
    assert labels(part.parents) == ["Computer", "Product"]
    assert labels(whole.down_to(1).parents) == ["Book", "Computer", "digital product", "Product", "Selling"]


def test_a_large_hierarchy_is_drawn_from_the_top_and_says_what_is_left_out():
    chain = " ".join(f"<urn:c{n}> rdfs:subClassOf <urn:c{n - 1}> ." for n in range(1, 40))
    whole = outline(model(f"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {chain}"), "classes")
    plan = diagram([whole], terms=10)
    assert {box.lines[0] for box in plan.boxes} == {f"c{n}" for n in range(10)}
    assert plan.note == "Left out, furthest from the top: 30 of 40 terms."
