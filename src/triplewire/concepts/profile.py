"""What events and their vertices are about: their profiles, which are sets of concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import words_for
from triplewire.concepts.similarity import Similarity
from triplewire.concepts.synonyms import resolve
from triplewire.concepts.taxonomy import Attached
from triplewire.rdf.graph import Graph
from triplewire.rdf.terms import RDF, Resource, Term

Choices = set[tuple[NamedNode, ...]]
"""The concepts that may be meant, place by place."""


class Profiles:
    """The profiles of one event and of its vertices.

    Where a text may mean several concepts, it means those that are most similar to one of the event's others. With
    concepts that are ``attached``, it is as if the model had them.
    """

    def __init__(self, graph: Graph, model: ConceptModel, attached: Attached = ()) -> None:
        self.graph = graph
        self.model = model
        self._attached = attached
        self._new = frozenset(concept for concept, _ in attached)
        self._known: dict[Term, frozenset[NamedNode]] = {}

    @cached_property
    def event(self) -> frozenset[NamedNode]:
        """Every concept that is a class or vertex of the event as asserted, or that the home vertex's literals name."""
        return self._certain | self._resolved(self._named)

    def of(self, vertex: Term) -> frozenset[NamedNode]:
        """What a vertex is about: itself and its asserted classes, if concepts; what a literal names.

        The home vertex stands for the event.
        """
        if vertex not in self._known:
            self._known[vertex] = self._of(vertex)
        return self._known[vertex]

    @cached_property
    def measure(self) -> Similarity:
        """By which concepts are compared with the event's."""
        return self.model.similarity.extended(self._attached) if self._attached else self.model.similarity

    def similarity(self, vertex: Term, concept: NamedNode) -> float:
        """The best similarity of a concept to one of a vertex's."""
        return max((self.measure.concepts(concept, given) for given in self.of(vertex)), default=0.0)

    @cached_property
    def home_texts(self) -> list[Literal]:
        """The home vertex's literals."""
        return home_texts(self.graph, self.model)

    def spot(self, text: str) -> Iterator[tuple[NamedNode, ...]]:
        """What a text names, place by place."""
        dictionary = self.model.dictionary
        return dictionary.spot_beside(words_for(self._new), text) if self._new else dictionary.spot(text)

    def _of(self, vertex: Term) -> frozenset[NamedNode]:
        if isinstance(vertex, Literal):
            choices = set(self.spot(vertex.value))
            return _only(choices) | self._resolved(choices)
        names = self.model.aliases(vertex)
        if self.graph.home in names:
            return self.event
        return self._concepts([*names, *(cls for name in names for cls in self._classes.get(name, ()))])

    @cached_property
    def _classes(self) -> dict[Resource, list[Term]]:
        """The asserted classes of each vertex."""
        found: dict[Resource, list[Term]] = {}
        for subject, property_, object_ in self.graph.triples:
            if property_ == RDF.type:
                found.setdefault(subject, []).append(object_)
        return found

    @cached_property
    def _certain(self) -> frozenset[NamedNode]:
        """What the event is about beyond doubt."""
        return self._concepts(self.graph.resources) | _only(self._named)

    @cached_property
    def _named(self) -> Choices:
        """What the home vertex's literals name."""
        return {choice for text in self.home_texts for choice in self.spot(text.value)}

    def _concepts(self, terms: Collection[Term]) -> frozenset[NamedNode]:
        """Those of some terms that are concepts, under all their names."""
        names = (n for term in terms if not isinstance(term, Literal) for n in self.model.aliases(term))
        known = self.model.concept_parents
        return frozenset(n for n in names if isinstance(n, NamedNode) and (n in known or n in self._new))

    def _resolved(self, choices: Choices) -> frozenset[NamedNode]:
        """What is meant where several concepts may be, beside all that is certain."""
        several = [choice for choice in choices if len(choice) > 1]
        return frozenset(resolve(several, self._certain | _only(choices), self.measure) if several else ())


def event_profile(graph: Graph, model: ConceptModel, attached: Attached = ()) -> frozenset[NamedNode]:
    """What an event is about."""
    return Profiles(graph, model, attached).event


def names_in(graph: Graph, model: ConceptModel) -> Iterator[Resource]:
    """What the event's resources are called, by the event and by the model."""
    return (name for vertex in graph.resources for name in model.aliases(vertex))


def home_texts(graph: Graph, model: ConceptModel) -> list[Literal]:
    """The literals of the home vertex, which may go by several names."""
    homes = frozenset() if graph.home is None else model.aliases(graph.home)
    return [t.object for t in graph.triples if t.subject in homes and isinstance(t.object, Literal)]


def frequencies(graphs: Iterable[Graph], model: ConceptModel) -> Counter[NamedNode]:
    """In how many events each concept occurs: what the information content of concepts is taken from."""
    return Counter(concept for graph in graphs for concept in event_profile(graph, model))


def _only(choices: Choices) -> frozenset[NamedNode]:
    """Those concepts that there is no choice about."""
    return frozenset(choice[0] for choice in choices if len(choice) == 1)
