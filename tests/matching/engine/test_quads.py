"""The quick way from N-Quads to numbers agrees with the way through the closed event."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse

from tests import worlds
from triplewire.matching.engine.encoded import EncodedEvent, EncodedEvents
from triplewire.matching.engine.events import Encoder
from triplewire.matching.engine.facts import Facts
from triplewire.matching.engine.kernels.quads import ODD, read_documents
from triplewire.matching.engine.quads import QuickEncoder, Reader
from triplewire.matching.engine.tables import lay_out, prepare
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import write
from triplewire.rdf.terms import Term


def joined(texts: list[bytes]):
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)], dtype=np.int64)


def read_all(reader: Reader, texts: list[str], homes: list[str]):
    return reader.read(*joined([text.encode() for text in texts]), *joined([home.encode() for home in homes]))


def home_of(graph: Graph) -> str:
    return "" if graph.home is None else str(graph.home)


def told(encoded: EncodedEvent, terms: list[Term]):
    """What an event says in numbers, by term: labels, ranks, and arcs."""
    vertices = {}
    for v, term in enumerate(terms):
        labels = encoded.labels[encoded.label_offsets[v] : encoded.label_offsets[v + 1]].tolist()
        assert labels == sorted(set(labels))
        vertices[term] = (labels, encoded.ranks[:, v].tolist(), bool(encoded.resource[v]))
    return vertices, {(terms[s], p, terms[o]) for s, p, o in encoded.arcs.tolist()}


def one_of(events: EncodedEvents, number: int) -> EncodedEvent:
    first, last = events.vertices[number : number + 2].tolist()
    start, end = events.arc_offsets[number : number + 2].tolist()
    offsets = events.label_offsets[first : last + 1]
    return EncodedEvent(
        offsets - offsets[0],
        events.labels[offsets[0] : offsets[-1]],
        events.ranks[:, first:last],
        events.arcs[start:end],
        events.resource[first:last],
    )


def vertices_of(graph: Graph) -> list[Term]:
    return list(dict.fromkeys(end for arc in graph.arcs for end in (arc.subject, arc.object)))


def agreement(rng: Random) -> tuple[int, int]:
    """Encode some events both ways; returns how many went the quick way, and how many did not."""
    model = worlds.model(rng)
    layout, _, _ = lay_out(prepare(worlds.subscription(rng, str(i)), model) for i in range(rng.choice([1, 3])))
    encoder = Encoder(layout.vocabulary, model)
    reader = Reader()
    quick = QuickEncoder(encoder, reader)
    graphs = [Graph(tuple(graph.triples), graph.home) for graph in (worlds.graph(rng) for _ in range(3))]
    if not quick.able:
        return 0, len(graphs)
    odd = 0
    for _ in range(2):  # the second time nothing is new
        documents = read_all(reader, [write(graph.arcs) for graph in graphs], [home_of(graph) for graph in graphs])
        events = quick.encode(documents)
        for number, graph in enumerate(graphs):
            if documents.status[number] == ODD:
                odd += 1
                continue
            facts = Facts(Event("source", "event", graph), model)
            expected, certain = encoder.encode(facts)
            assert certain
            entered = [facts.vertices[vertex] for vertex in encoder.entered(facts, encoder.arcs(facts)[0])]
            vertices, arcs = told(expected, entered)
            said, said_arcs = told(one_of(events, number), vertices_of(graph))
            assert {term: said[term] for term in said if term in vertices} == {
                t: vertices[t] for t in vertices if t in said
            }
            assert said_arcs == arcs
    return 2 * len(graphs) - odd, odd


@given(st.integers(0, 2**32))
@settings(max_examples=160, deadline=None)
def test_both_ways_say_the_same_in_numbers(seed):
    agreement(Random(seed))


def test_most_events_go_the_quick_way_where_the_model_allows_it():
    quick, odd = np.sum([agreement(Random(seed)) for seed in range(200)], axis=0)
    assert quick > odd / 3


SPICE = [
    *(
        "\\u00e9",
        "\\t",
        "\\n",
        '\\"',
        "\\x",
        "\\",
        "é",
        "\u0080",
        "\ue000",
        "𝒳",
        "\x00",
        "\x7f",
        "%41",
        "%4",
        "[",
        "|",
        "-",
    ),
    *(" ", "\t", "\n", "\r", "#", ".", "_:", "<", ">", '"', "@en", "@EN-gb", "^^", "<a:b>", "<b>"),
    "<http://www.w3.org/2001/XMLSchema#string>",
]
LINES = [
    '_:a <http://e/p> "x\\ty"@en-gb .',
    '<http://e/s> <http://e/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e/g> .',
    "_:a.b <urn:p> _:c-d .",
    '_:a <http://e/é> "é\\\\" . # a comment',
    "",
    "\t_:a\t<http://e/p> <http://e/%41> _:g .\r",
]  # fmt: skip


def changed(rng: Random) -> str:
    text = "\n".join(rng.choice(LINES) for _ in range(rng.choice([1, 3])))
    for _ in range(rng.choice([0, 1, 2])):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(SPICE) + text[place + rng.choice([0, 0, 1, 4]) :]
    return text


@pytest.mark.parametrize("read", [read_documents, read_documents.py_func], ids=["compiled", "as Python"])
def test_what_is_read_is_what_the_parser_reads_and_what_it_refuses_is_odd(read, monkeypatch):
    monkeypatch.setattr("triplewire.matching.engine.quads.read_documents", read)
    plain = 0
    for seed in range(3_000):
        text = changed(Random(seed))
        reader = Reader()
        documents = read_all(reader, [text], [""])
        if documents.status[0] == ODD:
            continue
        plain += 1
        quads = list(parse(text.encode(), RdfFormat.N_QUADS))
        known = [reader.text(term) for term in range(len(reader))]
        vertices = list(dict.fromkeys(str(end) for quad in quads for end in (quad.subject, quad.object)))
        names = [known[term].decode() if term >= 0 else None for term in documents.terms[: documents.vertices[1]]]
        assert names == [None if name.startswith("_:") else name for name in vertices]
        arcs = documents.arcs[: documents.arc_offsets[1]].tolist()
        assert [(vertices[s], known[p].decode(), vertices[o]) for s, p, o in arcs] == [
            (str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads
        ]
    assert plain > 500


def test_a_home_that_is_no_vertex_makes_an_event_odd():
    text = "_:a <urn:p> _:b ."
    documents = read_all(Reader(), [text] * 3, ["_:b", "", "_:c"])
    assert documents.home[:2].tolist() == [1, -1]
    assert (documents.status == ODD).tolist() == [False, False, True]


def test_terms_are_forgotten_when_they_are_very_many(monkeypatch):
    monkeypatch.setattr("triplewire.matching.engine.quads.MOST_TERMS", 20)
    rng = Random(1)
    model = worlds.model(rng)
    layout, _, _ = lay_out([prepare(worlds.subscription(rng), model)])
    reader = Reader()
    quick = QuickEncoder(Encoder(layout.vocabulary, model), reader)
    for round_ in range(5):
        texts = [f"<urn:s{round_}{i}> <{worlds.PROPERTIES[0].value}> <urn:o{i}> ." for i in range(30)]
        documents = read_all(reader, texts, [""] * 30)
        assert quick.encode(documents).vertices[-1] == 60
    assert reader.forgot > 1
