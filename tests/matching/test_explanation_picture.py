"""The picture of an explanation: event and subscription, the mapping between them, and what fails set apart."""

import json
import re
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given, settings

from tests.worlds import worlds
from triplewire.concepts.load import load_model
from triplewire.lift.cloudevents import parse_event
from triplewire.matching.explanation import as_dict, as_text, explain, picture
from triplewire.subscriptions.languages import parse_subscription

AUCTION = Path(__file__).parents[2] / "examples/auction"
MUSIC = Path(__file__).parents[2] / "examples/music-news"
REFERENCE = Path(__file__).parents[2] / "docs/reference/explanation.md"
MODEL = load_model([AUCTION / "ontology.ttl"])


def names(value):
    """The keys of a JSON value, and what kinds and rules it names."""
    if isinstance(value, list):
        yield from chain.from_iterable(map(names, value))
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not key.startswith(("?", "_:")):
                yield key
            yield from [inner] if key in ("kind", "rule", "scope") else names(inner)


def records(name):
    return {record["id"]: record for record in map(json.loads, (AUCTION / name).read_text().splitlines())}


def drawn(subscription, event):
    record = records("subscriptions.ndjson")[subscription]
    found = parse_event(records("events.ndjson")[event])
    told = explain(parse_subscription(record, MODEL), found, MODEL)
    return ElementTree.fromstring(picture(told, record["prefixes"]))


def elements(svg, name, **attributes):
    found = svg.iter(f"{{http://www.w3.org/2000/svg}}{name}")
    return [e for e in found if all(e.get(key) == value for key, value in attributes.items())]


def texts(svg):
    return ["".join(text.itertext()) for text in elements(svg, "text")]


def test_every_mapped_vertex_has_a_line_to_what_it_stands_for():
    svg = drawn("s1", "event-2")
    assert len(elements(svg, "path", **{"class": "mapping"})) == 5  # the home vertex, three variables, the dollar
    assert len(elements(svg, "circle")) == 10
    assert "?1 = _:pc" in texts(svg)


def test_both_ends_of_a_line_have_one_number_and_colour():
    svg = drawn("s1", "event-2")
    badges = [
        (badge.get("fill"), "".join(number.itertext()))
        for badge, number in zip(
            elements(svg, "circle"), elements(svg, "text", **{"class": "badge-number"}), strict=True
        )
    ]
    assert badges[::2] == badges[1::2]
    assert len(set(badges)) == 5


def test_the_steps_through_the_ontology_are_named_where_they_are_taken():
    assert [line for line in texts(drawn("s1", "event-2")) if line == "NotebookPC ⊑ Computer"] != []
    assert "cellPhoneNumber ⊑ telephoneNumber" in texts(drawn("call-123456789", "event-4"))
    model = load_model([MUSIC / "ontology.ttl"])
    event = parse_event(json.loads((MUSIC / "events.ndjson").read_text().splitlines()[0]))
    record = {"id": "i", "language": "interest", "pattern": {"concepts": ["Music"]}}
    svg = ElementTree.fromstring(picture(explain(parse_subscription(record, model), event, model)))
    assert "Pop ≈ Music 0.84" in texts(svg)
    assert len(elements(svg, "path", **{"class": "mapping"})) == 1


def test_what_fails_is_dashed_and_has_a_cross():
    svg = drawn("s1", "event-1")
    assert len(elements(svg, "rect", **{"stroke-dasharray": "9 4"})) == 1
    assert "✗ ?3 < 400.00" in texts(svg)
    assert "✗ ?3 < 400.00: it is 450.00" in texts(svg)
    assert not elements(drawn("s1", "event-2"), "rect", **{"stroke-dasharray": "9 4"})
    missing_arc = drawn("own-hard-disk", "event-5")
    assert "✗ manufacture" in texts(missing_arc)
    assert len(elements(missing_arc, "path", **{"stroke-dasharray": "9 4"})) == 1


def test_arcs_that_nothing_rests_on_are_faint():
    """Of the event's seven arcs four are the subscription's, which has as many of its own."""
    drawn_arcs = [path.get("stroke") for path in elements(drawn("s1", "event-2"), "path")]
    assert (drawn_arcs.count("#52606d"), drawn_arcs.count("#c3cad1")) == (8, 3)


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_every_explanation_can_be_told_in_every_way(world):
    explanation = explain(world.subscription, world.event, world.model)
    svg = ElementTree.fromstring(picture(explanation))
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert all(0 <= float(c.get("cx")) <= width and 0 <= float(c.get("cy")) <= height for c in elements(svg, "circle"))
    told = as_dict(explanation)
    assert json.loads(json.dumps(told)) == told
    assert {f"`{name}`" for name in names(told)} <= set(re.findall(r"`[a-z_\-]+`", REFERENCE.read_text()))
    assert sum(not condition["holds"] for condition in told["conditions"]) == told["missing"]
    lines = as_text(explanation).splitlines()
    assert sum(line.startswith("✗") for line in lines) == told["missing"]
    assert (" trips " in lines[0]) == told["matched"]
