"""Have every kernel compiled, or loaded from where compiled ones are kept, before the first event comes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.kernels.cache import say_whole
from triplewire.matching.engine.quads import Reader
from triplewire.matching.engine.texts import Texts
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import write
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Call, Interest, Pattern, Subscription, Variable

_P = NamedNode("urn:triplewire:warmup")
_MANY = 100
"""More vertices than a word has bits."""


def warm() -> None:
    """Match a small and a large event, one by one and as a batch, with an index in memory and with a mapped one.

    What is mapped cannot be written, and kernels are compiled for that once more.
    """
    x, y = Variable("x"), Variable("y")
    arcs = (Arc(HOME, _P, x), Arc(x, _P, y))
    patterns = [
        Pattern(arcs, mapping="injective"),
        Pattern(arcs, filters=(Call("<", (y, Literal(1))), Call("strstarts", (x, Literal("a"))))),
        Pattern((*arcs, Arc(x, _P, HOME)), filters=(Call("=", (y, Literal(1))),)),
        Pattern(interests=(Interest((_P,), 0.5),)),
    ]
    subscriptions = [Subscription(str(number), (Alternative(one),)) for number, one in enumerate(patterns)]
    index = Index.build(subscriptions, ConceptModel())
    home = BlankNode("H")
    large = [Triple(home, _P, BlankNode(f"n{number}")) for number in range(_MANY)]
    small = [Triple(home, _P, BlankNode("a")), Triple(BlankNode("a"), _P, Literal(0))]
    for triples in (small, large):
        index.match(Event("", "", Graph(triples, home)))
    texts = [write(triples) for triples in (small, large)]
    batch = pa.RecordBatch.from_pydict({"id": ["", ""], "home": ["_:H", "_:H"], "data": texts})
    index.match_batch(batch)
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder))
        index.close()
        Index.open(Path(folder)).match_batch(batch)
    documents, homes = Texts.of(map(str.encode, texts)), Texts.of([b"", b"_:H"])
    Reader().homes(documents.data, documents.offsets, homes.data, homes.offsets)
    say_whole()


if __name__ == "__main__":
    warm()
