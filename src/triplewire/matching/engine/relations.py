"""Relations: which of the words of patterns are above others."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyoxigraph import NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.compile import SCOPES
from triplewire.matching.engine.encoded import Relations
from triplewire.matching.engine.events import Vocabulary
from triplewire.rdf.terms import RDF
from triplewire.subscriptions.pattern import Scope


def relations_of(vocabulary: Vocabulary, model: ConceptModel) -> Relations:
    """What a model says of a vocabulary's words: classes by kind of label, properties by scope."""
    classes = _above(list(vocabulary.labels.texts), (b"c", b"t"), model.superclasses)
    closed = (SCOPES[Scope.CLOSED], SCOPES[Scope.RELATIONS])
    properties = _above(
        list(vocabulary.properties.texts), closed, lambda name: model.superproperties(name) - {RDF.type}
    )
    below = [0] * len(properties)
    for row in properties:
        for number in row:
            below[number] += 1
    general = (max(row, key=lambda number: (below[number], -number)) for row in properties)
    return Relations.of([[0], *([1 + number for number in row] for row in classes)], general)


def _above(
    texts: list[bytes], kinds: tuple[bytes, ...], above: Callable[[NamedNode], Iterable[NamedNode]]
) -> list[set[int]]:
    """For each word, the numbers of those of the same kind above it, and its own."""
    numbers = {text: number for number, text in enumerate(texts) if text[:1] in kinds}
    found = [{number} for number in range(len(texts))]
    for text, number in numbers.items():
        if text[1:2] == b"<":
            name = NamedNode(text[2:-1].decode("utf-8", "surrogatepass"))
            upper = (numbers.get(text[:1] + str(one).encode("utf-8", "surrogatepass")) for one in above(name))
            found[number].update(one for one in upper if one is not None)
    return found
