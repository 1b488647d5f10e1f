"""Why a triple is in G*: what event and ontology state, step by step.

Every rule of the closure has one premise among the facts, so a derivation is a chain: its first step is something
stated, and each further step applies one statement of the ontology to the fact before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal as Choice
from typing import NamedTuple, TypeAlias, TypeVar

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.closure import ClosedEvent, consequences
from triplewire.concepts.model import EVERY_RESOURCE
from triplewire.rdf.graph import Graph
from triplewire.rdf.terms import OWL, RDF, RDFS, Resource, Term, Triple, renamed

Rule: TypeAlias = Choice[
    "stated", "known", "member", "datatype", "every", "same", "subclass", "subproperty", "inverse", "domain", "range"
]
Node = TypeVar("Node", bound=Hashable)


class Fact(NamedTuple):
    """Like a triple, but it may speak of a literal's class, and name a property or class that has no IRI."""

    subject: Term
    property: Resource
    object: Term


@dataclass(frozen=True)
class Step:
    """What holds, and by which rule. ``by`` are the statements that the rule applies to the fact of the step before.

    ``stated`` is the event's own triple, ``known`` a type that the ontology states, ``member`` what is in a list (with
    its cells in ``by``), ``datatype`` the class that a literal has by itself, ``every`` what holds of every vertex. All
    others have one statement of the ontology in ``by``.
    """

    rule: Rule
    fact: Fact
    by: tuple[Fact, ...] = ()


Chain: TypeAlias = tuple[Step, ...]


class Derivations:
    """The derivations of one event. Of several the shortest, and of those the first in code-point order."""

    def __init__(self, graph: Graph, event: ClosedEvent) -> None:
        self.graph = graph
        self.event = event
        self.model = event.model

    def of(self, triple: Triple) -> Chain:
        """Why a triple is in G*."""
        source = self._sources[triple]
        if source is None:
            return self._given[triple]
        return (*self.of(source), *self._step(source, triple))

    def of_relation(self, triple: Triple) -> Chain:
        """Why a triple is among the relations: from an arc that does not say a type."""
        chains = [
            (*chain, *way)
            for given, chain in self._given.items()
            if given.property != RDF.type and {given.subject, given.object} == {triple.subject, triple.object}
            if (way := self._property_way(given, triple)) is not None
        ]
        return min(chains, key=lambda chain: (len(chain), str(chain)))

    def of_statement(self, triple: Triple) -> Chain:
        """How the event states a triple."""
        return self._stated[triple]

    def of_class(self, vertex: Term, cls: NamedNode) -> Chain:
        """Why a vertex is of a class, where it is."""
        if isinstance(vertex, Literal):
            start = Step("datatype", Fact(vertex, RDF.type, vertex.datatype))
            way = self.class_way(vertex.datatype, cls)
            if way is not None:
                return (start, *(_typed(vertex, lower, upper, self._rule(lower, upper)) for lower, upper in way))
        elif cls not in EVERY_RESOURCE or Triple(vertex, RDF.type, cls) in self._sources:
            return self._renamed_end(self.of(Triple(vertex, RDF.type, self.event.name(cls))), cls)
        return (Step("every", Fact(vertex, RDF.type, cls)),)

    def _renamed_end(self, chain: Chain, cls: NamedNode) -> Chain:
        """The chain, ended with the name that was asked for."""
        end = chain[-1].fact
        if end.object == cls:
            return chain
        return (*chain, Step("same", end._replace(object=cls), (Fact(end.object, OWL.sameAs, cls),)))

    def class_way(self, lower: Resource, upper: Resource) -> list[tuple[Resource, Resource]] | None:
        """The shortest way up from a class to another, each step with its two ends; None if there is none."""
        tree = _ways(lower, lambda cls: self.model.class_hierarchy.parents.get(cls, ()))
        return _way(tree, upper)

    @cached_property
    def _stated(self) -> dict[Triple, Chain]:
        chains: dict[Triple, Chain] = {}
        for original in sorted(self.graph.triples, key=str):
            own = renamed(original, self.event.names)
            chains.setdefault(own, (Step("stated", Fact(*original)), *self._same(Fact(*original), own)))
        return chains

    @cached_property
    def _given(self) -> dict[Triple, Chain]:
        """What the closure begins with: what the event states, what its lists hold, and the types the model knows."""
        chains = dict(self._stated)
        for member, cells in self._members():
            chains.setdefault(member, (Step("member", Fact(*member), cells),))
        for vertex in sorted(self.graph.resources, key=str):
            for name in sorted(self.model.aliases(vertex), key=str):
                for cls in sorted(self.model.types.get(name, ()), key=str):
                    known = Fact(name, RDF.type, cls)
                    own = renamed(Triple(vertex, RDF.type, cls), self.event.names)
                    chains.setdefault(own, (Step("known", known), *self._same(known, own)))
        return chains

    def _members(self) -> Iterator[tuple[Triple, tuple[Fact, ...]]]:
        """Each member of each list, with the arcs that lead to it."""
        rest: dict[Term, list[Triple]] = {}
        for arc in sorted(self._stated, key=str):
            if arc.property == RDF.rest:
                rest.setdefault(arc.subject, []).append(arc)
        first = [arc for arc in sorted(self._stated, key=str) if arc.property == RDF.first]
        for cell in sorted({arc.subject for arc in first} | rest.keys(), key=str) if first else ():
            tree = _ways(cell, lambda one: [arc.object for arc in rest.get(one, ())])
            for arc in first:
                way = _way(tree, arc.subject)
                if way is not None and not isinstance(cell, Literal):
                    cells = (*(Fact(one, RDF.rest, other) for one, other in way), Fact(*arc))
                    yield Triple(cell, RDFS.member, arc.object), cells

    @cached_property
    def _sources(self) -> dict[Triple, Triple | None]:
        """For every triple of G* the one that it comes from in one go, None if it is given."""
        sources: dict[Triple, Triple | None] = dict.fromkeys(self._given)
        new = list(sources)
        while new:
            wave, new = new, []
            for triple in wave:
                for fact in sorted(
                    {renamed(raw, self.event.names) for raw in consequences(triple, self.model)}, key=str
                ):
                    if fact not in sources:
                        sources[fact] = triple
                        new.append(fact)
        return sources

    def _step(self, source: Triple, fact: Triple) -> Chain:
        """The single steps from a triple to one that follows from it: by its property, its class, domain or range."""
        way = self._property_way(source, fact)
        if way is None and source.property == RDF.type and not isinstance(source.object, Literal):
            way = self._class_steps((), source.subject, source.object, fact)
        return self._typing_way(source, fact) if way is None else way

    def _property_way(self, source: Triple, fact: Triple) -> Chain | None:
        literal = isinstance(source.object, Literal)
        start: tuple[Resource, bool] = (source.property, False)
        tree = _ways(start, lambda state: self._entailed(state, literal))
        for back in (False, True):
            way, end = _way(tree, (fact.property, back)), _turned(source, fact.property, back)
            if way is not None and self._is(end, fact):
                return (*(_turn(source, *one, *other) for one, other in way), *self._same(end, fact))
        return None

    def _is(self, fact: Fact, own: Triple) -> bool:
        """Whether a fact has the ends of a triple of the event's, under whatever names."""
        return tuple(map(self.event.name, (fact.subject, fact.object))) == (own.subject, own.object)

    def _entailed(self, state: tuple[Resource, bool], literal: bool) -> Iterable[tuple[Resource, bool]]:
        return (next_ for next_ in self.model.entailed_directly(state) if not (literal and next_[1] != state[1]))

    def _class_steps(self, before: Chain, vertex: Term, cls: Resource, fact: Triple) -> Chain | None:
        """From a class to that of the fact, after what gave the vertex the class."""
        tree = _ways(cls, lambda one: self.model.class_hierarchy.parents.get(one, ()))
        for upper in tree:
            if self.event.name(upper) == fact.object and isinstance(upper, NamedNode):
                way = _way(tree, upper) or []
                steps = [_typed(vertex, one, other, self._rule(one, other)) for one, other in way]
                return (*before, *steps, *self._same(Fact(vertex, RDF.type, upper), fact))
        return None

    def _rule(self, lower: Resource, upper: Resource) -> Rule:
        """Whether a class is put below another, or is merely the same."""
        same = upper in self.model.same.get(lower, ()) and upper not in self.model.class_parents.get(lower, ())
        return "same" if same else "subclass"

    def _typing_way(self, source: Triple, fact: Triple) -> Chain:
        ends: list[tuple[Rule, NamedNode, Term, Mapping[Resource, frozenset[Resource]]]] = [
            ("domain", RDFS.domain, source.subject, self.model.domains),
            ("range", RDFS.range, source.object, self.model.ranges),
        ]
        for rule, word, vertex, table in ends:
            if vertex != fact.subject or fact.property != RDF.type:
                continue
            for cls in sorted(table.get(source.property, ()), key=str):
                typed = Step(rule, Fact(vertex, RDF.type, cls), (Fact(source.property, word, cls),))
                way = self._class_steps((typed,), vertex, cls, fact)
                if way is not None:
                    return way
        raise ValueError(f"{fact} does not follow from {source}")

    def _same(self, fact: Fact, own: Triple) -> Chain:
        """The steps from a fact to the same one under the event's own names."""
        steps: list[Step] = []
        if fact.subject != own.subject:
            fact, by = fact._replace(subject=own.subject), Fact(fact.subject, OWL.sameAs, own.subject)
            steps.append(Step("same", fact, (by,)))
        if fact.object != own.object:
            fact, by = fact._replace(object=own.object), Fact(fact.object, OWL.sameAs, own.object)
            steps.append(Step("same", fact, (by,)))
        return tuple(steps)


def _typed(vertex: Term, lower: Resource, upper: Resource, rule: Rule) -> Step:
    word = OWL.sameAs if rule == "same" else RDFS.subClassOf
    return Step(rule, Fact(vertex, RDF.type, upper), (Fact(lower, word, upper),))


def _turned(source: Triple, property_: Resource, back: bool) -> Fact:
    """The triple under another property, perhaps the other way round."""
    subject, object_ = (source.object, source.subject) if back else (source.subject, source.object)
    return Fact(subject, property_, object_)


def _turn(source: Triple, lower: Resource, before: bool, upper: Resource, after: bool) -> Step:
    fact = _turned(source, upper, after)
    if before == after:
        return Step("subproperty", fact, (Fact(lower, RDFS.subPropertyOf, upper),))
    return Step("inverse", fact, (Fact(lower, OWL.inverseOf, upper),))


def _ways(start: Node, next_: Callable[[Node], Iterable[Node]]) -> dict[Node, Node | None]:
    """For all that can be reached the one before it, on a shortest way; in the order of distance."""
    before: dict[Node, Node | None] = {start: None}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for new in sorted(next_(here), key=str):
            if new not in before:
                before[new] = here
                queue.append(new)
    return before


def _way(before: Mapping[Node, Node | None], end: Node) -> list[tuple[Node, Node]] | None:
    if end not in before:
        return None
    way: list[tuple[Node, Node]] = []
    while (one := before[end]) is not None:
        way.insert(0, (one, end))
        end = one
    return way
