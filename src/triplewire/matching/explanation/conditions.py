"""What a pattern asks, one by one: the conditions that hold or fail under a mapping."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.brute import arcs_of, image, is_a, is_true
from triplewire.rdf.terms import Term, Triple
from triplewire.subscriptions.attributes import conjuncts
from triplewire.subscriptions.pattern import (
    Arc,
    ClassConstraint,
    Expression,
    Interest,
    IsA,
    Pattern,
    Residual,
    Scope,
    Variable,
    Vertex,
    free_variables,
)


@dataclass(frozen=True)
class Filter:
    """An expression that must be true."""

    expression: Expression


@dataclass(frozen=True)
class Apart:
    """Two vertices of an injective pattern stand for two vertices of the event."""

    one: Vertex
    other: Vertex


@dataclass(frozen=True)
class HasHome:
    """The event has a home vertex."""


Local: TypeAlias = Arc | ClassConstraint | IsA | Filter
"""A condition that a mapping decides."""
Condition: TypeAlias = Local | Apart | HasHome | Interest | Residual
Mu: TypeAlias = Mapping[Variable, Term | None]
"""A mapping of some variables. One that stands for nothing is mapped to None, one yet to be mapped is not in it."""


def local_conditions(pattern: Pattern) -> tuple[Local, ...]:
    """The pattern's arcs, constraints and filters; a filter that is a conjunction is several."""
    filters = map(Filter, conjuncts(pattern.filters))
    return tuple(dict.fromkeys((*pattern.arcs, *pattern.classes, *pattern.is_a, *filters)))


def variables_of(condition: Local, pattern: Pattern) -> frozenset[Variable]:
    """The variables of the pattern that a condition speaks of."""
    match condition:
        case Arc(subject, property_, object_):
            parts: tuple[object, ...] = (subject, property_, object_)
        case Filter(expression):
            parts = tuple(free_variables(expression))
        case _:
            parts = (condition.vertex,)
    return frozenset(part for part in parts if isinstance(part, Variable) and part in pattern.variables)


class Conditions:
    """Decides a pattern's conditions on one event."""

    def __init__(self, pattern: Pattern, event: ClosedEvent) -> None:
        self.pattern = pattern
        self.event = event
        self.local = local_conditions(pattern)
        self.variables = {condition: variables_of(condition, pattern) for condition in self.local}
        self._index: dict[tuple[Scope, tuple[bool, ...]], dict[tuple[Term, ...], list[Triple]]] = {}
        self._known: dict[tuple[Local, tuple[Term | None, ...]], bool] = {}

    def holds(self, condition: Local, mu: Mu) -> bool:
        """Whether a condition holds under a mapping of all its variables. It does not if one stands for nothing."""
        own = tuple(mu.get(variable) for variable in sorted(self.variables[condition], key=str))
        if None in own:
            return False
        if (condition, own) not in self._known:
            self._known[condition, own] = self._decide(condition, mu)
        return self._known[condition, own]

    def possible(self, condition: Local, mu: Mu) -> bool:
        """Whether a condition may hold under some mapping that extends this one; an arc is looked up."""
        mapped = self.variables[condition] & mu.keys()
        if any(mu[variable] is None for variable in mapped):
            return False
        if isinstance(condition, Arc):
            return any(self.triples(condition, mu))
        return len(mapped) < len(self.variables[condition]) or self.holds(condition, mu)

    def triples(self, arc: Arc, mu: Mu) -> Iterator[Triple]:
        """The event's arcs that the pattern's arc may stand for, with the variables mapped so far."""
        parts = (arc.subject, arc.property, arc.object)
        fixed = tuple(not isinstance(part, Variable) or part in mu for part in parts)
        ends = (self._image(arc.subject, mu), mu.get(p) if isinstance(p := arc.property, Variable) else p)
        images = (*ends, self._image(arc.object, mu))
        key = tuple(term for term, known in zip(images, fixed, strict=True) if known and term is not None)
        if len(key) < sum(fixed):
            return
        for triple in self._by(arc.scope, fixed).get(key, ()):
            bound: dict[object, Term] = {}
            if all(bound.setdefault(p, t) == t for p, t in zip(parts, triple, strict=True) if isinstance(p, Variable)):
                yield triple

    def resources(self, mu: Mu) -> set[Term]:
        """What no other vertex of an injective pattern may stand for any more."""
        if self.pattern.mapping == "homomorphic":
            return set()
        images = (self._image(vertex, mu) for vertex in self.pattern.vertices)
        return {term for term in images if term is not None and not isinstance(term, Literal)}

    def collisions(self, mu: Mu) -> list[Apart]:
        """The vertices of an injective pattern that stand for the same resource, two by two."""
        if self.pattern.mapping == "homomorphic":
            return []
        at: dict[Term, dict[object, Vertex]] = defaultdict(dict)
        for vertex in sorted(self.pattern.vertices, key=str):
            term = self._image(vertex, mu)
            if term is not None and not isinstance(term, Literal):
                at[term].setdefault(self.event.name(vertex) if isinstance(vertex, NamedNode) else vertex, vertex)
        return [Apart(*pair) for vertices in at.values() for pair in combinations(vertices.values(), 2)]

    def _decide(self, condition: Local, mu: Mu) -> bool:
        if isinstance(condition, Arc):
            return any(self.triples(condition, mu))
        if isinstance(condition, Filter):
            known = {variable: term for variable, term in mu.items() if term is not None}
            return is_true(condition.expression, known, self.event)
        term = self._image(condition.vertex, mu)
        if term is None:
            return False
        if isinstance(condition, IsA):
            return is_a(term, condition, self.event)
        return self.event.has_class(term, condition.cls)

    def _image(self, vertex: Vertex, mu: Mu) -> Term | None:
        return mu.get(vertex) if isinstance(vertex, Variable) else image({}, vertex, self.event)

    def _by(self, scope: Scope, fixed: tuple[bool, ...]) -> dict[tuple[Term, ...], list[Triple]]:
        """The arcs of a scope by those of their parts that are fixed."""
        if (scope, fixed) not in self._index:
            index: dict[tuple[Term, ...], list[Triple]] = defaultdict(list)
            for triple in sorted(arcs_of(self.event, scope), key=str):
                index[tuple(part for part, known in zip(triple, fixed, strict=True) if known)].append(triple)
            self._index[scope, fixed] = index
        return self._index[scope, fixed]
