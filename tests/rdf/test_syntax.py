"""Reading RDF: every syntax gives the same graph, and unnamed blank nodes get stable names."""

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.errors import EventError
from triplewire.rdf.syntax import FORMATS, read, write
from triplewire.rdf.terms import Triple

EX = "http://example.org/"
SAME = {
    "text/turtle": f'_:H <{EX}p> "x"@en .',
    "application/n-triples": f'_:H <{EX}p> "x"@en .',
    "application/n-quads": f'_:H <{EX}p> "x"@en <{EX}g> .',
    "application/trig": f'<{EX}g> {{ _:H <{EX}p> "x"@en }}',
    "application/ld+json": f'{{"@id": "_:H", "{EX}p": {{"@value": "x", "@language": "en"}}}}',
    "application/rdf+xml": f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="{EX}">'
    '<rdf:Description rdf:nodeID="H"><e:p xml:lang="en">x</e:p></rdf:Description></rdf:RDF>',
}


def test_there_is_an_example_for_every_format():
    assert SAME.keys() == FORMATS.keys()


@pytest.mark.parametrize("media_type", SAME)
def test_every_syntax_gives_the_same_graph_with_named_graphs_united(media_type):
    assert read(SAME[media_type], media_type) == [
        Triple(BlankNode("H"), NamedNode(EX + "p"), Literal("x", language="en"))
    ]


@pytest.mark.parametrize("media_type", FORMATS)
def test_what_is_written_is_read_back(media_type):
    triples = read(SAME["text/turtle"], "text/turtle")
    assert read(write(triples, media_type), media_type) == triples


def test_unnamed_blank_nodes_are_called_the_same_every_time_and_like_no_named_one():
    text = f"_:b0 <{EX}p> [ <{EX}q> [] ] ."
    first, second = read(text, "text/turtle"), read(text, "text/turtle")
    assert first == second
    assert {t.object for t in first} == {BlankNode("b1"), BlankNode("b2")}


def test_a_label_that_looks_random_is_kept_if_the_document_gives_it():
    (triple,) = read(f"_:deadbeef <{EX}p> 1 .", "text/turtle")
    assert triple.subject == BlankNode("deadbeef")


@pytest.mark.parametrize(
    ("text", "media_type", "reason"),
    [
        ("<a> <b>", "text/turtle", "line 1 between columns"),
        (b"\xff\xfe", "text/turtle", "not UTF-8: byte 0xff at offset 0"),
        ('{"@context": "https://example.org/context", "a": 1}', "application/ld+json", "context"),
        ('<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>', "application/rdf+xml", "rdf"),
        (f"<< <{EX}a> <{EX}b> <{EX}c> >> <{EX}d> 1 .", "text/turtle", ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(text, media_type, reason):
    with pytest.raises(EventError, match=f"(?i){reason}"):
        read(text, media_type)
