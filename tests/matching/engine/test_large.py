"""Patterns and events that are larger than any word."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from pyoxigraph import BlankNode, NamedNode

from tests.worlds import PROPERTIES
from triplewire.concepts.load import model_of
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event, event_graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Pattern, Subscription, Variable

MODEL = model_of([])


def chain(length):
    """A pattern, and an event, of so many arcs one after the other from the home vertex."""
    vertices = [HOME, *(Variable(f"x{number}") for number in range(length))]
    arcs = tuple(Arc(a, PROPERTIES[0], b) for a, b in pairwise(vertices))
    nodes = [BlankNode("H"), *(BlankNode(f"n{number}") for number in range(length))]
    triples = [Triple(a, PROPERTIES[0], b) for a, b in pairwise(nodes)]
    return Pattern(arcs=arcs, mapping="injective"), Event("source", "event", event_graph(triples, "_:H"))


@pytest.mark.parametrize("length", [70, 300])
def test_patterns_and_events_may_be_long(length):
    pattern, event = chain(length)
    longer, _ = chain(length + 1)
    index = Index.build([Subscription(i, (Alternative(p),)) for i, p in (("as", pattern), ("more", longer))], MODEL)
    assert [match.subscription for match in index.match(event)] == ["as"]
    assert len(index.match(event, bindings=True)[0].bindings[0]) == length


def test_an_event_of_ten_thousand_vertices_is_matched():
    rng = Random(1)
    nodes = [BlankNode("H"), *(BlankNode(f"n{number}") for number in range(10_000))]
    triples = [Triple(nodes[rng.randrange(i)], rng.choice(PROPERTIES), nodes[i]) for i in range(1, len(nodes))]
    x, y = Variable("x"), Variable("y")
    patterns = {
        "path": (Arc(HOME, PROPERTIES[0], x), Arc(x, PROPERTIES[1], y)),
        "loop": (Arc(x, PROPERTIES[0], x),),
        "fork": (Arc(x, PROPERTIES[2], NamedNode("http://example.org/n0")),),
    }
    index = Index.build([Subscription(i, (Alternative(Pattern(arcs=arcs)),)) for i, arcs in patterns.items()], MODEL)
    home = {t.object for t in triples if t.subject == nodes[0] and t.property == PROPERTIES[0]}
    assert any(t.subject in home and t.property == PROPERTIES[1] for t in triples)
    event = Event("source", "event", event_graph(triples, "_:H"))
    assert [match.subscription for match in index.match(event)] == ["path"]
