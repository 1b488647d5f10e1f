"""The ways in which a SPARQL query can come to a solution, each a conjunctive pattern.

``Ways`` are to a graph pattern what disjunctive normal form is to a condition. They say of themselves how much of the
pattern's meaning they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import cast

from pyoxigraph import Literal, NamedNode

from triplewire.subscriptions.pattern import (
    Arc,
    Call,
    ClassConstraint,
    Expression,
    Variable,
    Vertex,
    free_variables,
)

MOST_WAYS = 64
"""A pattern that unfolds into more ways than this is not unfolded further."""

Fresh = Callable[[], Variable]


class Strength(IntEnum):
    """What the ways of a graph pattern say of its solutions."""

    NECESSARY = 0
    """where there is a solution, one of the ways has a mapping"""
    DECIDING = 1
    """and the other way round"""
    TELLING = 2
    """and the mappings of the ways are the solutions, if not each as often"""
    COUNTING = 3
    """and each as often"""


@dataclass(frozen=True)
class Way:
    """A conjunction. ``known`` tells what a variable stands for that is no vertex of the pattern by itself."""

    arcs: tuple[Arc, ...] = ()
    classes: tuple[ClassConstraint, ...] = ()
    filters: tuple[Expression, ...] = ()
    known: Mapping[Variable, Vertex] = field(default_factory=dict)

    @property
    def bound(self) -> frozenset[Variable]:
        """The variables that every mapping binds."""
        parts = {part for arc in self.arcs for part in (arc.subject, arc.property, arc.object)}
        parts |= {constraint.vertex for constraint in self.classes}
        return frozenset(part for part in parts if isinstance(part, Variable)) | frozenset(self.known)

    def renamed(self, names: Mapping[Variable, Vertex]) -> Way | None:
        """The way with variables replaced; None if it could then never hold."""
        if not names:
            return self
        arcs = []
        for arc in self.arcs:
            subject, property_, object_ = (names.get(p, p) for p in (arc.subject, arc.property, arc.object))  # type: ignore[arg-type]
            if isinstance(subject, Literal) or not isinstance(property_, NamedNode | Variable):
                return None
            arcs.append(Arc(subject, property_, object_, arc.scope))
        return Way(
            tuple(arcs),
            tuple(ClassConstraint(names.get(c.vertex, c.vertex), c.cls) for c in self.classes),  # type: ignore[arg-type]
            tuple(substituted(f, names) for f in self.filters),
            {v: names.get(at, at) for v, at in self.known.items()},  # type: ignore[arg-type]
        )


@dataclass(frozen=True)
class Ways:
    """Ways, how strong they are, and the variables that a solution may bind though its way does not say to what."""

    ways: tuple[Way, ...] = (Way(),)
    strength: Strength = Strength.COUNTING
    open: frozenset[Variable] = frozenset()

    @property
    def variables(self) -> frozenset[Variable]:
        return self.open.union(*(way.bound for way in self.ways))

    def weakened(self, strength: Strength, open_: Iterable[Variable] = ()) -> Ways:
        return replace(self, strength=min(self.strength, strength), open=self.open.union(open_))


def substituted(expression: Expression, names: Mapping[Variable, Vertex]) -> Expression:
    """An expression with variables replaced."""
    match expression:
        case Variable():
            return names.get(expression, expression)
        case Call("bound", (Variable() as variable,)):
            there = names.get(variable, variable)
            return Call("bound", (there,)) if isinstance(there, Variable) else Literal(True)
        case Call(name, arguments):
            return Call(name, tuple(substituted(argument, names) for argument in arguments))
        case _:
            return expression


def join(left: Ways, right: Ways) -> Ways:
    """The ways of two patterns that must both hold; if they are too many, those of one of them."""
    strength, open_ = min(left.strength, right.strength), left.open | right.open
    if (left.open & right.variables) or (right.open & left.variables):
        strength = Strength.NECESSARY
    if len(left.ways) * len(right.ways) > MOST_WAYS:
        fewer, other = sorted((left, right), key=lambda ways: len(ways.ways))
        return Ways(fewer.ways, Strength.NECESSARY, open_ | other.variables)
    pairs = (_both(a, b) for a in left.ways for b in right.ways)
    return Ways(tuple(way for way in pairs if way is not None), strength, open_)


def _both(left: Way, right: Way) -> Way | None:
    """Both ways at once; None if they contradict each other."""
    names: dict[Variable, Vertex] = {}
    same: list[Expression] = []

    def at(vertex: Vertex) -> Vertex:
        while isinstance(vertex, Variable) and vertex in names:
            vertex = names[vertex]
        return vertex

    for variable, vertex in (*left.known.items(), *right.known.items()):
        one, other = at(variable), at(vertex)
        if isinstance(one, Variable) and one != other:
            names[one] = other
        elif isinstance(other, Variable) and one != other:
            names[other] = one
        elif one != other and (isinstance(one, Literal) or isinstance(other, Literal)):
            return None
        elif one != other:
            same.append(Call("sameterm", (one, other)))  # two names, of which an event tells whether they are one
    names = {variable: at(variable) for variable in names}
    filters = (*left.filters, *right.filters, *same)
    merged = Way(left.arcs + right.arcs, left.classes + right.classes, filters).renamed(names)
    return merged and replace(merged, known=names)


def union(parts: list[Ways]) -> Ways:
    """The ways of patterns of which one must hold."""
    ways = tuple(way for part in parts for way in part.ways)
    strength = min(part.strength for part in parts)
    variables = frozenset[Variable]().union(*(part.variables for part in parts))
    if len(ways) > MOST_WAYS:
        return Ways((Way(),), Strength.NECESSARY, variables)
    return Ways(ways, strength, frozenset().union(*(part.open for part in parts)))


def projected(ways: Ways, kept: Iterable[Variable], fresh: Fresh) -> Ways:
    """The ways of a sub-select, of whose variables only some are seen outside."""
    seen = frozenset(kept)
    return Ways(tuple(hidden(way, seen, fresh) for way in ways.ways), ways.strength, ways.open & seen)


def hidden(way: Way, seen: frozenset[Variable], fresh: Fresh) -> Way:
    inner = {v for f in way.filters for v in free_variables(f)} | way.bound | set(way.known.values())
    names: dict[Variable, Vertex] = {
        v: fresh() for v in sorted(inner, key=str) if isinstance(v, Variable) and v not in seen
    }
    renamed = cast(Way, way.renamed(names))
    return replace(renamed, known={v: at for v, at in renamed.known.items() if v in seen})
