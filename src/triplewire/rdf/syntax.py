"""Reading and writing RDF in its syntaxes, through pyoxigraph. Nothing is ever fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import BlankNode, DefaultGraph, Quad, RdfFormat, parse, serialize
from pyoxigraph import Triple as OxTriple

from triplewire.errors import EventError
from triplewire.rdf.graph import Arcs, Graph, event_graph
from triplewire.rdf.terms import Resource, Triple

FORMATS: dict[str, RdfFormat] = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/n-quads": RdfFormat.N_QUADS,
    "application/trig": RdfFormat.TRIG,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/rdf+xml": RdfFormat.RDF_XML,
}

_UNNAMED = re.compile(r"[\[(~]|<<|\{\|")
"""What blank nodes without a name, and triples for terms, are written with in Turtle and TriG."""
_PLAIN = {"text/turtle": _UNNAMED, "application/trig": _UNNAMED} | dict.fromkeys(
    ("application/n-triples", "application/n-quads"), re.compile("<<")
)
_GRAPH = DefaultGraph()
_GENERATED = re.compile(r"[0-9a-f]{1,32}")
_WORD = re.compile(r"[0-9A-Za-z]+")


def read(data: str | bytes, media_type: str, base: str | None = None) -> list[Triple]:
    """The triples of a document, all its named graphs united.

    Blank nodes keep the labels the document gives them. Those it leaves unnamed are called ``b0``, ``b1``, … in the
    order in which they are met, so that the same document always gives the same terms.
    """
    text = data if isinstance(data, str) else _decode(data)
    return list(_named(_plain(_quads(text, media_type, base)), text))


def read_graph(data: str | bytes, media_type: str, home: str | None = None) -> Graph:
    """The graph of a document, with its home vertex."""
    return event_graph(read_arcs(data, media_type), home)


def read_arcs(data: str | bytes, media_type: str) -> Arcs:
    """The arcs of a document, quicker than ``read`` where terms are as they stand: where every blank node is named."""
    text = data if isinstance(data, str) else _decode(data)
    if media_type in _PLAIN and not _PLAIN[media_type].search(text):
        return _quads(text, media_type)
    return read(text, media_type)


def _quads(text: str, media_type: str, base: str | None = None) -> list[Quad]:
    try:
        return list(parse(text, FORMATS[media_type], base_iri=base))
    except SyntaxError as error:
        raise EventError(f"not well-formed {media_type}: {error.args[0]}") from None
    except ValueError as error:  # JSON-LD with a remote context, and the like
        raise EventError(f"cannot read {media_type}: {error}") from None


def write(
    arcs: Iterable[Triple] | Iterable[Quad],
    media_type: str = "application/n-triples",
    prefixes: Mapping[str, str] | None = None,
) -> str:
    """A document of these arcs in one graph, abbreviated by prefixes where the syntax has them."""
    quads = (
        arc if isinstance(arc, Quad) and arc.graph_name == _GRAPH else Quad(arc[0], arc[1], arc[2], _GRAPH)
        for arc in arcs
    )
    return (serialize(quads, format=FORMATS[media_type], prefixes=dict(prefixes or {})) or b"").decode()


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EventError(f"not UTF-8: byte {data[error.start]:#04x} at offset {error.start}") from None


def _plain(quads: Iterable[Quad]) -> Iterator[Triple]:
    """The quads as triples; RDF 1.2's triple terms have no meaning here."""
    for quad in quads:
        if isinstance(quad.subject, OxTriple) or isinstance(quad.object, OxTriple):
            raise EventError(f"{quad} has a triple for a term, which no subscription can speak of")
        yield Triple(quad.subject, quad.predicate, quad.object)


def _named(triples: Iterable[Triple], text: str) -> Iterator[Triple]:
    """Replace the random labels that the parser gave to unnamed blank nodes by stable ones."""
    triples = list(triples)
    names: dict[BlankNode, BlankNode] = {}
    labels = {n.value for t in triples for n in (t.subject, t.object) if isinstance(n, BlankNode)}
    random = {label for label in labels if _GENERATED.fullmatch(label)}
    if random:  # but for those that the document itself uses
        random -= set(_WORD.findall(text))
    fresh = (f"b{i}" for i in range(2 * len(labels) + 1))

    def name(node: Resource) -> Resource:
        if not isinstance(node, BlankNode):
            return node
        if node not in names:
            unnamed = node.value in random
            names[node] = BlankNode(next(label for label in fresh if label not in labels)) if unnamed else node
        return names[node]

    for subject, predicate, object_ in triples:
        yield Triple(name(subject), predicate, name(object_) if isinstance(object_, BlankNode) else object_)
