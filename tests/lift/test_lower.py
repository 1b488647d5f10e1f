"""The way back: what is lifted comes back as it was, where that is defined."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lift.documents import ATOM, RSS_2, lifted
from triplewire.errors import EventError
from triplewire.lift.documents import read_json, write_json
from triplewire.lift.lower import lower
from triplewire.rdf.syntax import FORMATS

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
NUMBERS = st.integers(-(10**20), 10**20) | st.decimals(-(10**9), 10**9, places=2)
SCALARS = TEXTS | NUMBERS | st.booleans()
KEYS = TEXTS.filter(lambda key: not key.startswith("@"))


def objects(inner):
    """Objects in which no member is null, an empty array or an array of one: those have another form."""
    several = st.lists(SCALARS, min_size=2, max_size=4, unique_by=lambda one: (type(one), str(one)))
    return st.dictionaries(KEYS, SCALARS | several | inner, max_size=4)


TREES = st.recursive(objects(st.nothing()), objects, max_leaves=8).filter(lambda tree: isinstance(tree, dict))


def plain(tree):
    """A tree in which the order of an array's elements makes no difference, and 1 is neither 1.0 nor true."""
    if isinstance(tree, dict):
        return {key: plain(member) for key, member in tree.items()}
    return sorted(map(repr, tree)) if isinstance(tree, list) else repr(tree)


@given(TREES)
def test_json_comes_back_as_it_was(tree):
    [event] = lifted("application/json", write_json(tree))
    assert plain(read_json(lower(event.graph, "application/json"))) == plain(tree)


@given(TREES)
def test_what_is_lowered_is_lifted_to_the_same_text_again(tree):
    [event] = lifted("application/json", write_json(tree))
    text = lower(event.graph, "application/json")
    [again] = lifted("application/json", text)
    assert len(again.graph.triples) == len(event.graph.triples)
    assert plain(read_json(lower(again.graph, "application/json"))) == plain(read_json(text))


@pytest.mark.parametrize("media_type", FORMATS)
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("application/json", {"price": Decimal("3.50"), "by": {"name": 'Thé "vert"\n'}}),
        ("application/xml", "<a b='1'><c>x</c></a>"),
        ("application/rss+xml", RSS_2),
        ("application/atom+xml", ATOM),
        ("text/csv", "a,b\n1,2\n"),
    ],
)
def test_every_event_comes_back_in_every_syntax_of_rdf(kind, data, media_type):
    for event in lifted(kind, data):
        [again] = lifted(media_type, lower(event.graph, media_type))
        assert again.graph.triples == event.graph.triples


@pytest.mark.parametrize(
    ("turtle", "reason"),
    [
        ("_:H <urn:p> 1 .", "<urn:p> is not of the default vocabulary"),
        ("_:H <urn:triplewire:key:a> <urn:x> .", "<urn:x> is no text, number or boolean"),
        ("_:H <urn:triplewire:key:a> 1e0 .", "no text, number or boolean"),
        ("_:H <urn:triplewire:key:a> _:x ; <urn:triplewire:key:b> _:x . ", "two arcs lead to _:x"),
        ("<urn:x> <urn:triplewire:key:a> 1 .", "<urn:x> is not below _:H"),
    ],
)
def test_a_graph_that_is_no_tree_of_keys_has_no_json_form(turtle, reason):
    [event] = lifted("text/turtle", turtle)
    with pytest.raises(EventError) as refused:
        lower(event.graph, "application/json")
    assert reason in str(refused.value)


def test_an_unknown_format_is_refused_by_name():
    [event] = lifted("text/turtle", "")
    with pytest.raises(EventError, match="no graph is written as 'text/csv'"):
        lower(event.graph, "text/csv")
