"""Event graphs: the home vertex, and the checks of strict mode."""

import pytest
from pyoxigraph import BlankNode, NamedNode

from triplewire.errors import EventError
from triplewire.rdf.graph import check_strict, event_graph
from triplewire.rdf.syntax import read

PREFIX = "@prefix ex: <http://example.org/> .\n"


def graph(turtle, home=None):
    return event_graph(read(PREFIX + turtle, "text/turtle"), home)


@pytest.mark.parametrize(
    ("turtle", "named", "home"),
    [
        ("_:a ex:p _:H . _:c ex:p _:H .", None, BlankNode("H")),
        ("_:a ex:p _:b .", None, BlankNode("a")),
        ("ex:a ex:p _:b .", None, NamedNode("http://example.org/a")),
        ("_:a ex:p _:b . _:c ex:p _:b .", None, None),
        ("_:a ex:p _:b . _:b ex:p _:a .", None, None),
        ("_:a ex:p _:a .", None, None),
        ("", None, None),
        ("_:H ex:p _:b .", "_:b", BlankNode("b")),
        ("_:H ex:p ex:b .", "http://example.org/b", NamedNode("http://example.org/b")),
        ("_:H ex:p ex:b .", "<http://example.org/b>", NamedNode("http://example.org/b")),
    ],
)
def test_the_home_vertex_is_the_named_one_else_h_else_the_one_without_incoming_arcs(turtle, named, home):
    assert graph(turtle, named).home == home


@pytest.mark.parametrize("home", ["_:nobody", "http://example.org/nobody", "not an iri", ""])
def test_a_home_that_is_no_vertex_is_refused(home):
    with pytest.raises(EventError):
        graph("_:H ex:p ex:b .", home)


def test_strict_mode_takes_what_the_paper_allows():
    check_strict(graph('_:H a ex:A; ex:p ex:b; ex:q "x" . ex:b a ex:B .'))
    check_strict(graph("_:H a ex:A; ex:p ex:b ."), typed_elsewhere={NamedNode("http://example.org/b")})


@pytest.mark.parametrize(
    ("turtle", "reason"),
    [
        ("_:a a ex:A . _:b a ex:B .", "no home vertex"),
        ("_:H a ex:A . _:b a ex:B .", "no path leads from the home vertex _:H to _:b"),
        ("_:H a ex:A ; ex:p _:b .", "gives no class (rdf:type) for _:b"),
    ],
)
def test_strict_mode_says_which_restriction_is_broken(turtle, reason):
    with pytest.raises(EventError, match=reason.replace("(", r"\(").replace(")", r"\)")):
        check_strict(graph(turtle))
