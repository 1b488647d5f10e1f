"""Why a condition holds under a mapping, or what is in its way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.closure import ClosedEvent
from triplewire.concepts.derivation import Chain, Derivations, Fact, Step
from triplewire.matching.brute import at_or_below, classes, image, values
from triplewire.matching.explanation.closeness import Closest, InterestReason, closest
from triplewire.matching.explanation.conditions import Apart, Condition, Conditions, Filter, HasHome, Mu
from triplewire.rdf.graph import Graph
from triplewire.rdf.terms import OWL, RDF, RDFS, Resource, Term, Triple
from triplewire.subscriptions.degree import Degrees
from triplewire.subscriptions.evaluate import evaluate, holds, truth, value_or
from triplewire.subscriptions.functions import FilterError
from triplewire.subscriptions.pattern import (
    VALUE,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    ClassConstraint,
    Expression,
    Home,
    Interest,
    IsA,
    Scope,
    Variable,
    Vertex,
    free_variables,
)

SHOWN = 5
"""Of more things that are there instead, or more values, so many are told."""


@dataclass(frozen=True)
class ArcReason:
    """Where the arc's parts are mapped to, and the arc's derivation; or the ends that its property leads to instead.

    ``taken`` says that there are such arcs, but something else of an injective pattern stands at their ends.
    """

    subject: Term | None
    property: Term | None
    object: Term | None
    chain: Chain = ()
    instead: tuple[Term, ...] = ()
    taken: bool = False


@dataclass(frozen=True)
class VertexReason:
    """What a vertex is: the derivation of what is asked, or the stated classes, and those above both them and it.

    A constant may be no vertex of the event; then it is not ``there``.
    """

    vertex: Term | None
    there: bool = True
    chain: Chain = ()
    classes: tuple[Term, ...] = ()
    nearest: tuple[NamedNode, ...] = ()


@dataclass(frozen=True)
class Leaf:
    """A comparison, call or test within a filter, and what it should come to.

    ``values`` are what was found for an attribute: of one that holds, those that satisfy it. ``closest`` is what comes
    closest to each concept that it asks for. ``error`` says why it is neither true nor false.
    """

    expression: Expression
    wanted: bool
    values: tuple[Term, ...] = ()
    error: str = ""
    closest: tuple[Closest, ...] = ()


@dataclass(frozen=True)
class FilterReason:
    """The values put in, and the leaves that make the filter true, or the fewest that would have to change.

    ``score`` is the least similarity among the former.
    """

    values: tuple[tuple[Variable | Home, Term], ...]
    leaves: tuple[Leaf, ...]
    score: float = 1.0


@dataclass(frozen=True)
class ResidualReason:
    """Whether the query was asked, which it is if all else holds; and how many rows a ``SELECT`` gave."""

    asked: bool
    rows: int | None = None


@dataclass(frozen=True)
class ApartReason:
    """The resource that two vertices would both be."""

    vertex: Term


Reason: TypeAlias = ArcReason | VertexReason | FilterReason | InterestReason | ResidualReason | ApartReason | None


@dataclass(frozen=True)
class Finding:
    """A condition, whether it holds, and why."""

    condition: Condition
    holds: bool
    reason: Reason = field(default=None)


class Reasons:
    """Finds the reasons for conditions on one event, under one mapping."""

    def __init__(self, graph: Graph, conditions: Conditions, mu: Mu) -> None:
        self.event: ClosedEvent = conditions.event
        self.model = conditions.event.model
        self.graph = graph
        self.conditions = conditions
        self.mu = mu
        self.why = Derivations(graph, conditions.event)

    def find(self, condition: Condition) -> Finding:
        match condition:
            case Arc():
                return self._arc(condition)
            case ClassConstraint():
                return self._class(condition)
            case IsA():
                return self._is_a(condition)
            case Filter(expression):
                return self._filter(condition, expression)
            case Apart(one, _):
                return Finding(condition, False, ApartReason(self._known(one)))
            case HasHome():
                return Finding(condition, self.event.home is not None)
            case _:
                raise TypeError(f"{condition} does not depend on a mapping")

    def _image(self, vertex: Vertex) -> Term | None:
        return self.mu.get(vertex) if isinstance(vertex, Variable) else image({}, vertex, self.event)

    def _known(self, vertex: Vertex) -> Term:
        found = self._image(vertex)
        if found is None:
            raise KeyError(vertex)
        return found

    def _arc(self, arc: Arc) -> Finding:
        property_ = self.mu.get(arc.property) if isinstance(arc.property, Variable) else arc.property
        subject, object_ = self._image(arc.subject), self._image(arc.object)
        if self.conditions.holds(arc, self.mu):
            triple = next(self.conditions.triples(arc, self.mu))
            derive = {Scope.ASSERTED: self.why.of_statement, Scope.RELATIONS: self.why.of_relation}
            chain = derive.get(arc.scope, self.why.of)(triple)
            return Finding(arc, True, ArcReason(subject, property_, object_, chain))
        instead: list[Term] = []
        if subject is not None and isinstance(property_, NamedNode):
            subject_only = Arc(VALUE, property_, Variable("other"), arc.scope)
            found = self.conditions.triples(subject_only, {VALUE: subject})
            instead = [triple.object for triple in found][:SHOWN]
        mapped = {v: term for v, term in self.mu.items() if term is not None}
        taken = self.conditions.possible(arc, mapped)
        return Finding(arc, False, ArcReason(subject, property_, object_, (), tuple(instead), taken))

    def _class(self, constraint: ClassConstraint) -> Finding:
        vertex = self._image(constraint.vertex)
        if vertex is not None and self.conditions.holds(constraint, self.mu):
            return Finding(constraint, True, VertexReason(vertex, chain=self.why.of_class(vertex, constraint.cls)))
        return Finding(constraint, False, self._standing(vertex, constraint.cls))

    def _standing(self, vertex: Term | None, cls: NamedNode) -> VertexReason:
        """What a vertex is, beside a class that it is not of."""
        if vertex is None or vertex not in self.event.vertices:
            return VertexReason(vertex, there=False)
        stated = sorted(self._stated_classes(vertex), key=str)
        named = [c for c in stated if not isinstance(c, Literal)]
        nearest = {common for own in named for common in self.model.nearest_common(own, cls)}
        return VertexReason(vertex, classes=tuple(stated), nearest=tuple(sorted(nearest, key=str)))

    def _stated_classes(self, vertex: Term) -> set[Term]:
        if isinstance(vertex, Literal):
            return {vertex.datatype}
        by_event = {t.object for t in self.event.asserted if t.subject == vertex and t.property == RDF.type}
        return by_event | {c for name in self.model.aliases(vertex) for c in self.model.types.get(name, ())}

    def _is_a(self, constraint: IsA) -> Finding:
        node = self._image(constraint.vertex)
        if node is None:
            return Finding(constraint, False, VertexReason(None, there=False))
        cls, holds_ = self.event.name(constraint.cls), self.conditions.holds(constraint, self.mu)
        lower, upper = (cls, node) if constraint.operator in (">", ">=") else (node, cls)
        stated = tuple(sorted(self.event.asserted_classes(node), key=str))
        if constraint.operator in ("=", "!="):
            chain = self._stated_below(node, cls) if cls in stated else ()
            return Finding(constraint, holds_, VertexReason(node, chain=chain, classes=stated))
        if at_or_below(lower, upper, self.event) and not isinstance(upper, Literal):
            return Finding(constraint, holds_, VertexReason(node, chain=self._below(lower, upper), classes=stated))
        above = [c for c in (node, *stated) if not isinstance(c, Literal) and not isinstance(cls, Literal)]
        nearest = {common for own in above for common in self.model.nearest_common(own, constraint.cls)}
        beside = VertexReason(node, classes=stated, nearest=tuple(sorted(nearest, key=str)))
        return Finding(constraint, holds_, beside)

    def _below(self, lower: Term, upper: Resource) -> Chain:
        """Why a node is a class below another, or an instance of one that is."""
        if not isinstance(lower, Literal) and (way := self.why.class_way(lower, upper)) is not None:
            return tuple(_subclass(lower, *ends) for ends in way)
        starts = {lower.datatype} if isinstance(lower, Literal) else classes(lower, self.event)
        ways = {c: self.why.class_way(c, upper) for c in starts if not isinstance(c, Literal)}
        reached = {c: way for c, way in ways.items() if way is not None}
        if not reached:  # what every literal is, whatever its datatype
            return (Step("every", Fact(lower, RDF.type, upper)),)
        start = min(reached, key=lambda c: (len(reached[c]), str(c)))
        steps = (Step(s.rule, Fact(lower, RDF.type, s.fact.object), s.by) for s in self._up(start, reached[start]))
        return (*self._typed(lower, start), *steps)

    def _up(self, cls: Resource, way: list[tuple[Resource, Resource]]) -> Iterator[Step]:
        return (_subclass(cls, *ends) for ends in way)

    def _typed(self, node: Term, cls: Resource) -> Chain:
        """Why a node is of a class, whether or not it is a vertex of the event."""
        if isinstance(node, Literal):
            return (Step("datatype", Fact(node, RDF.type, cls)),)
        if (triple := Triple(node, RDF.type, cls)) in self.event.closed:
            return self.why.of(triple)
        for name in sorted(self.model.aliases(node), key=str):
            if cls in self.model.types.get(name, ()):
                return (Step("known", Fact(name, RDF.type, cls)), *_same_subject(name, node, cls))
        return (Step("every", Fact(node, RDF.type, cls)),)

    def _stated_below(self, node: Term, cls: Term) -> Chain:
        """How event or ontology state that a node is of a class, or directly below it."""
        if isinstance(node, Literal):
            return (Step("datatype", Fact(node, RDF.type, cls)),)
        triple = Triple(node, RDF.type, cls)
        if triple in self.event.asserted:
            return self.why.of_statement(triple)
        for name in sorted(self.model.aliases(node), key=str):
            for known in sorted(self.model.types.get(name, ()), key=str):
                if self.event.name(known) == cls:
                    return (Step("known", Fact(name, RDF.type, known)),)
            for parent in sorted(self.model.class_parents.get(name, ()), key=str):
                if self.event.name(parent) == cls:
                    return (_subclass(name, name, parent),)
        return ()

    def _filter(self, condition: Filter, expression: Expression) -> Finding:
        holds_ = self.conditions.holds(condition, self.mu)
        spoken: list[Variable | Home] = [*dict.fromkeys(free_variables(expression))]
        spoken += [Home()] if _names_home(expression) else []
        put_in = tuple((v, term) for v in spoken if (term := self._image(v)) is not None)
        unmapped = [v for v in self.conditions.variables[condition] if self.mu.get(v) is None]
        leaves = () if unmapped else tuple(self._leaves(expression, True, holds_))
        score = self._degrees.of(expression)[0] if holds_ else 1.0
        return Finding(condition, holds_, FilterReason(put_in, tuple(dict.fromkeys(leaves)), score))

    def _leaves(self, expression: Expression, wanted: bool, as_wanted: bool) -> list[Leaf]:
        """The leaves that make an expression what is wanted, or else the fewest that would have to change for it."""
        match expression:
            case Call("not", (argument,)):
                return self._leaves(argument, not wanted, as_wanted)
            case Call("and" | "or" as name, arguments):
                if (name == "and") == wanted:
                    parts = [a for a in arguments if as_wanted or not self._comes_to(a, wanted)]
                    return [leaf for part in parts for leaf in self._leaves(part, wanted, as_wanted)]
                parts = [a for a in arguments if not as_wanted or self._comes_to(a, wanted)]
                return min((self._leaves(part, wanted, as_wanted) for part in parts), key=len)
            case _:
                return [self._leaf(expression, wanted)]

    def _comes_to(self, expression: Expression, wanted: bool) -> bool:
        try:
            return truth(self._evaluated(expression)) is wanted
        except FilterError:
            return False

    def _evaluated(self, expression: Expression) -> Term:
        return evaluate(expression, self._image, self._values, self.event.profiles.similarity)

    @property
    def _degrees(self) -> Degrees:
        return Degrees(self._image, self._values, self.event.profiles.similarity)

    def _values(self, path: tuple[NamedNode, ...]) -> frozenset[Term]:
        return values(path, self.event)

    def _leaf(self, expression: Expression, wanted: bool) -> Leaf:
        error = ""
        try:
            truth(self._evaluated(expression))
        except FilterError as reason:
            error = str(reason)
        if not isinstance(expression, AttributeTest | AttributeExists):
            return Leaf(expression, wanted, (), error, tuple(self._closest(expression, ())))
        there = sorted(self._values(expression.path), key=str)
        if isinstance(expression, AttributeExists):
            return Leaf(expression, wanted, tuple(there[:SHOWN]), error)
        there = [term for term in there if self._satisfies(term, expression.test)] or there
        closest = tuple(self._closest(expression.test, there))
        return Leaf(expression, wanted, tuple(there[:SHOWN]), error, closest)

    def _satisfies(self, term: Term, test: Expression) -> bool:
        return holds(test, partial(value_or, term, self._image), self._values, self.event.profiles.similarity)

    def _closest(self, test: Expression, there: Sequence[Term]) -> Iterator[Closest]:
        """What comes closest to each concept that a test asks for, among the vertices that it is about."""
        match test:
            case Call("~", (Variable() | Home() as vertex, NamedNode() as concept, _)):
                known = self._image(vertex)
                vertices = there if vertex == VALUE else [] if known is None else [known]
                profile = frozenset(c for one in vertices for c in self.event.profiles.of(one))
                texts = self.event.profiles.home_texts if vertices == [self.event.home] else vertices
                yield closest(concept, profile, self.event.profiles, texts)
            case Call(_, arguments):
                for argument in arguments:
                    yield from self._closest(argument, there)


def interest_finding(interest: Interest, event: ClosedEvent) -> Finding:
    """How similar an event is to an interest, concept by concept."""
    profiles = event.profiles_with(interest.attached)
    score = profiles.measure.profiles(interest.concepts, profiles.event)
    concepts = tuple(closest(concept, profiles.event, profiles, profiles.home_texts) for concept in interest.concepts)
    return Finding(interest, score > interest.threshold, InterestReason(score, interest.threshold, concepts))


def _subclass(start: Resource, lower: Resource, upper: Resource) -> Step:
    return Step("subclass", Fact(start, RDFS.subClassOf, upper), (Fact(lower, RDFS.subClassOf, upper),))


def _same_subject(name: Resource, node: NamedNode | BlankNode, cls: Resource) -> Chain:
    if name == node:
        return ()
    return (Step("same", Fact(node, RDF.type, cls), (Fact(name, OWL.sameAs, node),)),)


def _names_home(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return any(map(_names_home, expression.arguments))
    return isinstance(expression, Home)
