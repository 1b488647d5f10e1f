"""The concept model: what is a kind of what, for classes, properties and named instances."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Literal as Choice
from typing import TypeVar

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.datatypes import datatype_tree
from triplewire.concepts.hierarchy import Hierarchy
from triplewire.concepts.measures import DEFAULT_MEASURE
from triplewire.concepts.metastatements import MetaStatement
from triplewire.concepts.report import LoadReport
from triplewire.concepts.similarity import Similarity
from triplewire.concepts.spelling import Names, Spelling
from triplewire.concepts.synonyms import Dictionary
from triplewire.concepts.words import Words, fold, local_name, words_of
from triplewire.rdf.terms import DAML, DAML_2000, OWL, RDF, RDFS, SKOS, Resource

Typing = Choice["asserted", "rdfs"]
Parents = Mapping[Resource, frozenset[Resource]]

THINGS: frozenset[Resource] = frozenset({OWL.Thing, DAML.Thing, DAML_2000.Thing})
EVERY_RESOURCE: frozenset[Resource] = THINGS | {RDFS.Resource}
EVERY_LITERAL: frozenset[Resource] = frozenset({RDFS.Literal, RDFS.Resource})

_NO_CONCEPTS: frozenset[Resource] = EVERY_RESOURCE | {SKOS.Concept, RDFS.Literal}

_MEMBERSHIP = re.compile(re.escape(RDF.base) + r"_[1-9][0-9]*")

Node = TypeVar("Node")


@dataclass(frozen=True)
class ConceptModel:
    """An immutable concept model.

    ``class_parents`` and ``property_parents`` hold the direct parents; things that are equivalent are each other's
    parents. ``types`` are the classes asserted of the instances that the ontology names. ``measure`` tells how the
    similarity of concepts is measured; ``frequencies``, how often they occur in a corpus of events.
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
    meta_statements: tuple[MetaStatement, ...] = ()
    typing: Typing = "asserted"
    measure: str = DEFAULT_MEASURE
    frequencies: Mapping[NamedNode, int] = field(default_factory=dict)
    report: LoadReport = field(default_factory=LoadReport, compare=False)

    @cached_property
    def class_hierarchy(self) -> Hierarchy[Resource]:
        """Classes and datatypes; those that are the same are equivalent."""
        edges: dict[Resource, frozenset[Resource]] = {c: frozenset(ps) for c, ps in datatype_tree().items()}
        for table in (self.class_parents, self.same):
            for child, parents in table.items():
                edges[child] = edges.get(child, frozenset()) | parents
        return Hierarchy(edges)

    @cached_property
    def property_hierarchy(self) -> Hierarchy[Resource]:
        return Hierarchy(self.property_parents)

    # What was worked out once. Only the model's own terms are remembered: events bring others without end.

    @cached_property
    def _superclasses(self) -> dict[Resource, frozenset[NamedNode]]:
        return {}

    @cached_property
    def _superproperties(self) -> dict[NamedNode, frozenset[NamedNode]]:
        return {}

    @cached_property
    def _allowed(self) -> dict[MetaStatement, bool]:
        return {}

    @cached_property
    def _entailed(self) -> dict[NamedNode, frozenset[tuple[NamedNode, bool]]]:
        return {}

    def superclasses(self, cls: Resource) -> frozenset[NamedNode]:
        """The named classes above a class, itself and its equivalents included."""
        found = self._superclasses.get(cls)
        if found is None:
            above = self.class_hierarchy.above(cls)
            found = frozenset(c for c in above if isinstance(c, NamedNode))
            if cls in self.class_hierarchy.numbers:
                self._superclasses[cls] = found
        return found

    def subclasses(self, cls: Resource) -> frozenset[NamedNode]:
        """The named classes below a class, itself and its equivalents included."""
        return frozenset(c for c in self.class_hierarchy.below(cls) if isinstance(c, NamedNode))

    def nearest_common(self, a: Resource, b: Resource) -> frozenset[NamedNode]:
        """The most special named classes that are above both."""
        return frozenset(c for c in self.class_hierarchy.nearest_common(a, b) if isinstance(c, NamedNode))

    def superproperties(self, property_: NamedNode) -> frozenset[NamedNode]:
        """The properties above a property, itself and its equivalents included."""
        found = self._superproperties.get(property_)
        if found is None:
            start: Resource = property_
            found = frozenset(p for p in reachable(start, self._parents_of) if isinstance(p, NamedNode))
            if property_ in self.property_parents:
                self._superproperties[property_] = found
        return found

    def entailed(self, property_: NamedNode) -> frozenset[tuple[NamedNode, bool]]:
        """The properties that hold wherever this one does, each with whether its arc runs the other way round."""
        found = self._entailed.get(property_)
        if found is None:
            start: tuple[Resource, bool] = (property_, False)
            reached = reachable(start, self.entailed_directly)
            found = frozenset((p, back) for p, back in reached if isinstance(p, NamedNode))
            if property_ in self.property_parents or property_ in self.inverses:
                self._entailed[property_] = found
        return found

    def entailed_directly(self, state: tuple[Resource, bool]) -> Iterable[tuple[Resource, bool]]:
        """One step up or round from a property, and whether its arc runs the other way round."""
        property_, back = state
        for parent in self._parents_of(property_):
            yield parent, back
        for inverse in self.inverses.get(property_, ()):
            yield inverse, not back

    def is_silent(self, property_: NamedNode) -> bool:
        """Whether an arc of a property says nothing more than itself."""
        return not (
            property_ in self.property_parents
            or property_ in self.inverses
            or property_.value.startswith(RDF.base)
            or (self.typing == "rdfs" and (property_ in self.domains or property_ in self.ranges))
        )

    def _parents_of(self, property_: Resource) -> Iterable[Resource]:
        """A property's parents; a container's ``rdf:_1``, ``rdf:_2``, … are below ``rdfs:member`` in every model."""
        yield from self.property_parents.get(property_, ())
        if _MEMBERSHIP.fullmatch(property_.value):
            yield RDFS.member

    def is_subclass(self, child: Resource, parent: Resource) -> bool:
        """Whether ``child ⊑ parent``; reflexive."""
        return self.class_hierarchy.is_below(child, parent)

    def is_below(self, lower: MetaStatement, upper: MetaStatement) -> bool:
        """Whether what satisfies one meta-statement satisfies the other: each part is below its counterpart."""
        return (
            self.is_subclass(lower.subject_class, upper.subject_class)
            and upper.property in self.superproperties(lower.property)
            and self.is_subclass(lower.object_class, upper.object_class)
        )

    def allows(self, pattern: MetaStatement) -> bool:
        """Whether some meta-statement on the property, or on one below it, leaves room for this one.

        It does if the classes at each end have one below them in common. A property of which the model says nothing
        allows everything.
        """
        stated = self._meta_statements_under.get(pattern.property, ())
        found = self._allowed.get(pattern)
        if found is None:
            found = not stated or any(
                self._overlap(pattern.subject_class, s.subject_class)
                and self._overlap(pattern.object_class, s.object_class)
                for s in stated
            )
            if stated and self._knows(pattern.subject_class) and self._knows(pattern.object_class):
                self._allowed[pattern] = found
        return found

    @cached_property
    def _meta_statements_under(self) -> Mapping[NamedNode, Sequence[MetaStatement]]:
        """The meta-statements on each property, those on the properties below it included."""
        under: dict[NamedNode, list[MetaStatement]] = defaultdict(list)
        for statement in self.meta_statements:
            for property_ in self.superproperties(statement.property):
                under[property_].append(statement)
        return dict(under)

    def _overlap(self, a: NamedNode, b: NamedNode) -> bool:
        everything = EVERY_LITERAL | EVERY_RESOURCE
        if a in everything or b in everything or not self._knows(a):
            return True
        return not self.class_hierarchy.below(a).isdisjoint(self.class_hierarchy.below(b))

    def _knows(self, cls: NamedNode) -> bool:
        return cls in self.classes or cls in self.class_hierarchy.numbers

    def label(self, term: Resource) -> str:
        """What a term is called: its first label in English or no language, else any, else the end of its IRI."""
        texts = self.labels.get(term, ())
        plain = [text for text in texts if not text.language or text.language.startswith("en")]
        if texts:
            return (plain or texts)[0].value
        return local_name(term) if isinstance(term, NamedNode) else str(term)

    def concepts_called(self, word: str) -> tuple[NamedNode, ...]:
        """The concepts that a word may mean: as their name or label, or else in another form of the word."""
        return self.words.concepts_called(word) or self.dictionary.called(word)

    def nearest(self, word: str) -> NamedNode | None:
        """The class, property or concept whose name or label a misspelt word most likely meant."""
        found = self._spelling.nearest(fold(word))
        if found is None:
            return None
        return (self.words.concepts_called(found) or self.words.properties_called(found))[0]

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling([*self.words.concepts, *self.words.properties])

    @cached_property
    def class_names(self) -> Names:
        return Names(self.classes)

    @cached_property
    def property_names(self) -> Names:
        return Names(self.properties)

    @cached_property
    def content_hash(self) -> str:
        """The same for two models that say the same, whatever files and order they came from."""
        tables = (self.class_parents, self.property_parents, self.inverses, self.same, self.types, self.domains)
        rows = [
            f"{number} {child} {parent}"
            for number, table in enumerate((*tables, self.ranges, self.broader, self.labels))
            for child, parents in table.items()
            for parent in parents
        ]
        rows += [" ".join(map(str, statement)) for statement in self.meta_statements]
        rows += [f"{concept} {frequency}" for concept, frequency in self.frequencies.items()]
        measure = [] if self.measure == DEFAULT_MEASURE else [self.measure]
        return sha256("\n".join([self.typing, *measure, *sorted(rows)]).encode()).hexdigest()

    def aliases(self, name: Resource) -> frozenset[Resource]:
        """All names that the model declares to be the same as this one, itself included."""
        if name not in self.same:
            return frozenset((name,))
        return frozenset(reachable(name, lambda one: self.same.get(one, ())))

    @cached_property
    def names(self) -> dict[Resource, Resource]:
        """For every name with synonyms, the one name that stands for all: the first in code-point order."""
        return {name: min(self.aliases(name), key=str) for name in self.same}

    def literal_classes(self, literal: Literal) -> frozenset[Resource]:
        """The classes of a literal: its datatype and what is above it. A literal is never an ``owl:Thing``."""
        return self.datatype_classes(literal.datatype)

    def datatype_classes(self, datatype: NamedNode) -> frozenset[Resource]:
        """The classes of whatever literal of a datatype."""
        return (self.superclasses(datatype) | EVERY_LITERAL) - THINGS

    @cached_property
    def classes(self) -> frozenset[NamedNode]:
        """Every class that the ontology mentions."""
        meta = {cls for statement in self.meta_statements for cls in (statement.subject_class, statement.object_class)}
        tables = (self.class_parents.values(), self.types.values(), self.domains.values(), self.ranges.values())
        return _named(frozenset(self.class_parents).union(meta, *(ps for table in tables for ps in table)))

    @cached_property
    def properties(self) -> frozenset[NamedNode]:
        """Every property that the ontology mentions."""
        tables = (self.property_parents, self.inverses, self.domains, self.ranges)
        parents = (*self.property_parents.values(), *self.inverses.values())
        return _named(frozenset(s.property for s in self.meta_statements).union(*tables, *parents))

    @cached_property
    def instances(self) -> frozenset[NamedNode]:
        """Every thing that the ontology names with a class of its own."""
        return _named(frozenset(self.types))

    @cached_property
    def concept_parents(self) -> Mapping[NamedNode, frozenset[NamedNode]]:
        """Every concept that an interest may name, with what is directly above it.

        Concepts are classes, SKOS concepts and named instances; above them are superclasses, broader concepts and
        classes. What is above everything, or merely says that something is a concept, is no concept itself: so a
        thesaurus's kinds of SKOS concepts do not come between its concepts and the root.
        """
        no_concepts = _NO_CONCEPTS | self.class_hierarchy.below(SKOS.Concept)
        parents: dict[NamedNode, set[NamedNode]] = defaultdict(set)
        for table in (self.class_parents, self.types, self.broader):
            for child, above in table.items():
                for concept in {child, *above} - no_concepts:
                    if isinstance(concept, NamedNode) and isinstance(child, NamedNode) and child not in no_concepts:
                        parents[child] |= {concept} - {child}
                        parents[concept] |= set()
        return {child: frozenset(above) for child, above in parents.items()}

    @cached_property
    def similarity(self) -> Similarity:
        return Similarity(self.concept_parents, self.measure, self.frequencies)

    @cached_property
    def dictionary(self) -> Dictionary:
        return Dictionary(self.concept_parents, self.labels)

    @cached_property
    def words(self) -> Words:
        return words_of(self.concept_parents, self.properties, self.labels)


def _named(terms: Iterable[Resource]) -> frozenset[NamedNode]:
    return frozenset(term for term in terms if isinstance(term, NamedNode))


def reachable(start: Node, next_: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Everything that can be reached, the start included."""
    seen = {start}
    frontier = [start]
    while frontier:
        new = set(next_(frontier.pop())) - seen
        seen |= new
        frontier.extend(new)
    return seen
