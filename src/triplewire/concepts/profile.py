"""An event's profile: the concepts that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import words_for
from triplewire.concepts.synonyms import resolve
from triplewire.concepts.taxonomy import Attached
from triplewire.rdf.graph import Graph
from triplewire.rdf.terms import Resource


def event_profile(graph: Graph, model: ConceptModel, attached: Attached = ()) -> frozenset[NamedNode]:
    """Every concept that is a class or a vertex of the event as asserted, or that the home vertex's literals name.

    Where a text may mean several concepts, it means those that are most similar to one of the others. With concepts
    that are ``attached``, it is as if the model had them.
    """
    new = frozenset(concept for concept, _ in attached)
    known = model.concept_parents
    asserted = {n for n in names_in(graph, model) if isinstance(n, NamedNode) and (n in known or n in new)}
    dictionary, words = model.dictionary, words_for(new)
    spots = (
        dictionary.spot_beside(words, text.value) if new else dictionary.spot(text.value) for text in home_texts(graph)
    )
    named = {choice for spotted in spots for choice in spotted}
    certain = asserted | {choice[0] for choice in named if len(choice) == 1}
    unsure = [choice for choice in named if len(choice) > 1]
    if not unsure:
        return frozenset(certain)
    similarity = model.similarity.extended(attached) if attached else model.similarity
    return frozenset(certain | set(resolve(unsure, certain, similarity)))


def names_in(graph: Graph, model: ConceptModel) -> Iterator[Resource]:
    """What the event's resources are called, by the event and by the model."""
    return (name for vertex in graph.resources for name in model.aliases(vertex))


def home_texts(graph: Graph) -> list[Literal]:
    """The home vertex's literals."""
    return [t.object for t in graph.triples if t.subject == graph.home and isinstance(t.object, Literal)]


def frequencies(graphs: Iterable[Graph], model: ConceptModel) -> Counter[NamedNode]:
    """In how many events each concept occurs: what the information content of concepts is taken from."""
    return Counter(concept for graph in graphs for concept in event_profile(graph, model))
