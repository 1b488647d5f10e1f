"""An event's profile: the concepts that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.words import fold
from triplewire.rdf.graph import Graph

_WORD = re.compile(r"\w+")


def event_profile(graph: Graph, model: ConceptModel) -> frozenset[NamedNode]:
    """Every concept that is a class or a vertex of the event as asserted, or that the home vertex's literals name."""
    concepts = model.concept_parents
    names = (name for vertex in graph.resources for name in model.aliases(vertex))
    asserted = {name for name in names if isinstance(name, NamedNode) and name in concepts}
    texts = (t.object.value for t in graph.triples if t.subject == graph.home and isinstance(t.object, Literal))
    return frozenset(asserted | {concept for text in texts for concept in spot(text, model)})


def spot(text: str, model: ConceptModel) -> Iterator[NamedNode]:
    """The concepts that a text names by a label: whole words, at each place the longest label only."""
    words = _WORD.findall(fold(text))
    labels, longest = _labels(model)
    place = 0
    while place < len(words):
        for length in range(min(longest, len(words) - place), 0, -1):
            found = labels.get(tuple(words[place : place + length]))
            if found:
                yield from found
                place += length
                break
        else:
            place += 1


def _labels(model: ConceptModel) -> tuple[dict[tuple[str, ...], set[NamedNode]], int]:
    """The concepts by the words of their labels, and how many words the longest label has."""
    cached: tuple[dict[tuple[str, ...], set[NamedNode]], int] | None = model.__dict__.get("_label_words")
    if cached is None:
        labels: dict[tuple[str, ...], set[NamedNode]] = {}
        for concept in model.concept_parents:
            for label in model.labels.get(concept, ()):
                labels.setdefault(tuple(_WORD.findall(fold(label.value))), set()).add(concept)
        labels.pop((), None)
        cached = model.__dict__["_label_words"] = labels, max(map(len, labels), default=0)
    return cached
