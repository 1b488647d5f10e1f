"""An event's profile: the concepts that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.synonyms import resolve
from triplewire.rdf.graph import Graph


def event_profile(graph: Graph, model: ConceptModel) -> frozenset[NamedNode]:
    """Every concept that is a class or a vertex of the event as asserted, or that the home vertex's literals name.

    Where a text may mean several concepts, it means those that are most similar to one of the others.
    """
    concepts = model.concept_parents
    names = (name for vertex in graph.resources for name in model.aliases(vertex))
    asserted = {name for name in names if isinstance(name, NamedNode) and name in concepts}
    named = {choice for text in home_texts(graph) for choice in model.dictionary.spot(text.value)}
    certain = asserted | {choice[0] for choice in named if len(choice) == 1}
    unsure = [choice for choice in named if len(choice) > 1]
    return frozenset(certain | set(resolve(unsure, certain, model.similarity)) if unsure else certain)


def home_texts(graph: Graph) -> list[Literal]:
    """The home vertex's literals."""
    return [t.object for t in graph.triples if t.subject == graph.home and isinstance(t.object, Literal)]


def frequencies(graphs: Iterable[Graph], model: ConceptModel) -> Counter[NamedNode]:
    """In how many events each concept occurs: what the information content of concepts is taken from."""
    return Counter(concept for graph in graphs for concept in event_profile(graph, model))
