"""An event's profile: the concepts that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.words import words_in
from triplewire.rdf.graph import Graph


def event_profile(graph: Graph, model: ConceptModel) -> frozenset[NamedNode]:
    """Every concept that is a class or a vertex of the event as asserted, or that the home vertex's literals name."""
    concepts = model.concept_parents
    names = (name for vertex in graph.resources for name in model.aliases(vertex))
    asserted = {name for name in names if isinstance(name, NamedNode) and name in concepts}
    texts = (t.object.value for t in graph.triples if t.subject == graph.home and isinstance(t.object, Literal))
    return frozenset(asserted | {concept for text in texts for concept in spot(text, model)})


def frequencies(graphs: Iterable[Graph], model: ConceptModel) -> Counter[NamedNode]:
    """In how many events each concept occurs: what the information content of concepts is taken from."""
    return Counter(concept for graph in graphs for concept in event_profile(graph, model))


def spot(text: str, model: ConceptModel) -> Iterator[NamedNode]:
    """The concepts that a text names by a label: whole words, at each place the longest label only."""
    words = words_in(text)
    labels = model.label_words
    place = 0
    while place < len(words):
        for length in range(min(model.longest_label, len(words) - place), 0, -1):
            found = labels.get(tuple(words[place : place + length]))
            if found:
                yield from found
                place += length
                break
        else:
            place += 1
