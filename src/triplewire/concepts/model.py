"""The concept model: what is a kind of what, for classes, properties and named instances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as Choice
from typing import TypeVar

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.datatypes import datatype_tree
from triplewire.concepts.similarity import Similarity
from triplewire.concepts.words import Words, words_of
from triplewire.rdf.terms import DAML, DAML_2000, OWL, RDFS, SKOS, Resource

Typing = Choice["asserted", "rdfs"]
Parents = Mapping[Resource, frozenset[Resource]]

THINGS: frozenset[Resource] = frozenset({OWL.Thing, DAML.Thing, DAML_2000.Thing})
EVERY_RESOURCE: frozenset[Resource] = THINGS | {RDFS.Resource}
EVERY_LITERAL: frozenset[Resource] = frozenset({RDFS.Literal, RDFS.Resource})

_NO_CONCEPTS: frozenset[Resource] = EVERY_RESOURCE | {SKOS.Concept, RDFS.Literal}

Node = TypeVar("Node")


@dataclass(frozen=True)
class ConceptModel:
    """An immutable concept model.

    ``class_parents`` and ``property_parents`` hold the direct parents; things that are equivalent are each other's
    parents. ``types`` are the classes asserted of the instances that the ontology names.
    """

    class_parents: Parents = field(default_factory=dict)
    property_parents: Parents = field(default_factory=dict)
    inverses: Parents = field(default_factory=dict)
    same: Parents = field(default_factory=dict)
    types: Parents = field(default_factory=dict)
    domains: Parents = field(default_factory=dict)
    ranges: Parents = field(default_factory=dict)
    broader: Parents = field(default_factory=dict)
    labels: Mapping[Resource, tuple[Literal, ...]] = field(default_factory=dict)
    typing: Typing = "asserted"

    @cached_property
    def _class_edges(self) -> Mapping[Resource, frozenset[Resource]]:
        edges: dict[Resource, frozenset[Resource]] = {c: frozenset(ps) for c, ps in datatype_tree().items()}
        for table in (self.class_parents, self.same):
            for child, parents in table.items():
                edges[child] = edges.get(child, frozenset()) | parents
        return edges

    @cached_property
    def _superclasses(self) -> dict[Resource, frozenset[NamedNode]]:
        return {}

    @cached_property
    def _entailed(self) -> dict[NamedNode, frozenset[tuple[NamedNode, bool]]]:
        return {}

    def superclasses(self, cls: Resource) -> frozenset[NamedNode]:
        """The named classes above a class, itself and its equivalents included."""
        if cls not in self._superclasses:
            reached = reachable(cls, lambda c: self._class_edges.get(c, ()))
            self._superclasses[cls] = frozenset(c for c in reached if isinstance(c, NamedNode))
        return self._superclasses[cls]

    def superproperties(self, property_: NamedNode) -> frozenset[NamedNode]:
        """The properties above a property, itself and its equivalents included."""
        start: Resource = property_
        reached = reachable(start, lambda p: self.property_parents.get(p, ()))
        return frozenset(p for p in reached if isinstance(p, NamedNode))

    def entailed(self, property_: NamedNode) -> frozenset[tuple[NamedNode, bool]]:
        """The properties that hold wherever this one does, each with whether its arc runs the other way round."""
        if property_ not in self._entailed:
            start: tuple[Resource, bool] = (property_, False)
            reached = reachable(start, self._entailed_directly)
            self._entailed[property_] = frozenset((p, back) for p, back in reached if isinstance(p, NamedNode))
        return self._entailed[property_]

    def _entailed_directly(self, state: tuple[Resource, bool]) -> Iterable[tuple[Resource, bool]]:
        property_, back = state
        for parent in self.property_parents.get(property_, ()):
            yield parent, back
        for inverse in self.inverses.get(property_, ()):
            yield inverse, not back

    def is_subclass(self, child: Resource, parent: Resource) -> bool:
        """Whether ``child ⊑ parent``; reflexive."""
        return child == parent or parent in self.superclasses(child)

    def aliases(self, name: Resource) -> frozenset[Resource]:
        """All names that the model declares to be the same as this one, itself included."""
        return frozenset(reachable(name, lambda one: self.same.get(one, ())))

    @cached_property
    def names(self) -> dict[Resource, Resource]:
        """For every name with synonyms, the one name that stands for all: the first in code-point order."""
        return {name: min(self.aliases(name), key=str) for name in self.same}

    def literal_classes(self, literal: Literal) -> frozenset[Resource]:
        """The classes of a literal: its datatype and what is above it. A literal is never an ``owl:Thing``."""
        return (self.superclasses(literal.datatype) | EVERY_LITERAL) - THINGS

    @cached_property
    def classes(self) -> frozenset[Resource]:
        """Every class that the ontology mentions."""
        used = (frozenset(self.class_parents), *self.class_parents.values(), *self.types.values())
        return frozenset().union(*used, *self.domains.values(), *self.ranges.values())

    @cached_property
    def properties(self) -> frozenset[Resource]:
        """Every property that the ontology mentions."""
        tables = (self.property_parents, self.inverses, self.domains, self.ranges)
        return frozenset().union(*tables, *self.property_parents.values(), *self.inverses.values())

    @cached_property
    def concept_parents(self) -> Mapping[NamedNode, frozenset[NamedNode]]:
        """Every concept that an interest may name, with what is directly above it.

        Concepts are classes, SKOS concepts and named instances; above them are superclasses, broader concepts and
        classes. What is above everything, or merely says that something is a concept, is no concept itself.
        """
        parents: dict[NamedNode, set[NamedNode]] = defaultdict(set)
        for table in (self.class_parents, self.types, self.broader):
            for child, above in table.items():
                for concept in {child, *above} - _NO_CONCEPTS:
                    if isinstance(concept, NamedNode) and isinstance(child, NamedNode) and child not in _NO_CONCEPTS:
                        parents[child] |= {concept} - {child}
                        parents[concept] |= set()
        return {child: frozenset(above) for child, above in parents.items()}

    @cached_property
    def similarity(self) -> Similarity:
        return Similarity(self.concept_parents)

    @cached_property
    def words(self) -> Words:
        return words_of(self.concept_parents, self.properties, self.labels)


def reachable(start: Node, next_: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Everything that can be reached, the start included."""
    seen = {start}
    frontier = [start]
    while frontier:
        new = set(next_(frontier.pop())) - seen
        seen |= new
        frontier.extend(new)
    return seen
