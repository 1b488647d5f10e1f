"""Subscription graphs: what a subscription in statement patterns asks of an event, vertex by vertex and arc by arc."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.metastatements import MetaStatement
from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, ConceptModel, reachable
from triplewire.matching.matcher import refused
from triplewire.rdf.terms import RDFS
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Pattern,
    Scope,
    Subscription,
    Variable,
    Vertex,
    free_variables,
)

_WIDE = EVERY_RESOURCE | EVERY_LITERAL


@dataclass(frozen=True)
class Label:
    """What is asked of one vertex by itself: its classes, and filters in which it is called ``VALUE``."""

    classes: tuple[NamedNode, ...] = ()
    filters: tuple[Expression, ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash((self.classes, self.filters))

    def __hash__(self) -> int:
        return self._hash

    def __bool__(self) -> bool:
        return bool(self.classes or self.filters)


@dataclass(frozen=True, eq=False, slots=True)
class StatementPattern:
    """An arc between two vertices of a subscription graph, with its meta-statement.

    ``label`` is what is asked of the object beyond the class in the meta-statement, None if nothing is.
    """

    subject: int
    object: int
    meta: MetaStatement
    label: Label | None


@dataclass(frozen=True)
class SubscriptionGraph:
    """A subscription as a graph whose vertices are numbers, the home vertex 0.

    Constants that the model declares the same are one vertex. ``filters`` are those that no vertex decides alone.
    """

    id: str
    vertices: tuple[Vertex, ...]
    labels: tuple[Label, ...]
    statements: tuple[StatementPattern, ...]
    filters: tuple[Expression, ...]
    injective: bool

    @cached_property
    def leaving(self) -> list[tuple[StatementPattern, ...]]:
        """The statement patterns by their subject."""
        found: list[list[StatementPattern]] = [[] for _ in self.vertices]
        for statement in self.statements:
            found[statement.subject].append(statement)
        return [tuple(statements) for statements in found]

    @cached_property
    def home_label(self) -> Label | None:
        """What is asked of the home vertex beyond the class in its meta-statements."""
        return _rest(self.labels[0])

    @cached_property
    def constants(self) -> list[NamedNode | Literal | None]:
        """The name of each vertex that is a constant."""
        return [v if isinstance(v, NamedNode | Literal) else None for v in self.vertices]

    @cached_property
    def variables(self) -> dict[Variable, int]:
        return {v: number for number, v in enumerate(self.vertices) if isinstance(v, Variable)}


def subscription_graph(subscription: Subscription, model: ConceptModel, matcher: str) -> SubscriptionGraph:
    """The graph of a subscription in statement patterns. Anything else is refused in the matcher's name."""
    pattern = _only_pattern(subscription, matcher)
    _check(pattern, matcher)
    names = {v: _one_name(v, model) if isinstance(v, NamedNode) else v for v in pattern.vertices}
    vertices: list[Vertex] = [HOME, *sorted(set(names.values()) - {HOME}, key=str)]
    numbers = {v: vertices.index(name) for v, name in names.items()}
    classes: dict[int, list[NamedNode]] = defaultdict(list)
    for constraint in pattern.classes:
        classes[numbers[constraint.vertex]].append(
            constraint.cls if constraint.cls in _WIDE else _one_name(constraint.cls, model)
        )
    alone, joint = _by_vertex(pattern)
    filters: dict[int, list[Expression]] = defaultdict(list)
    for variable, expression in alone:
        filters[numbers[variable]].append(expression)
    labels = [
        Label(tuple(sorted(set(classes[n]), key=str)), tuple(sorted(set(filters[n]), key=str)))
        for n in range(len(vertices))
    ]
    arcs = {(numbers[a.subject], numbers[a.object], a.property) for a in pattern.arcs}
    statements = [
        StatementPattern(s, o, MetaStatement(_leading(labels[s]), p, _leading(labels[o])), _rest(labels[o]))
        for s, o, p in sorted(arcs, key=str)
        if isinstance(p, NamedNode)
    ]
    return SubscriptionGraph(
        subscription.id,
        tuple(vertices),
        tuple(labels),
        tuple(statements),
        tuple(joint),
        pattern.mapping == "injective",
    )


def _only_pattern(subscription: Subscription, matcher: str) -> Pattern:
    if len(subscription.alternatives) != 1:
        raise refused(matcher, "alternatives: it wants one conjunction of statement patterns")
    alternative = subscription.alternatives[0]
    if alternative.residual is not None:
        raise refused(matcher, f"SPARQL that is more than a conjunction: {alternative.residual.query}")
    if alternative.answer is not None or subscription.bindings != "distinct":
        raise refused(matcher, "projections: it tells every variable, and each mapping once")
    return alternative.pattern


def _check(pattern: Pattern, matcher: str) -> None:
    if pattern.interests:
        raise refused(matcher, "interests: it knows no similarity")
    if pattern.is_graded:
        raise refused(matcher, "filters that ask for similarity")
    if pattern.is_a:
        raise refused(matcher, f"is-a constraints: {pattern.is_a[0].vertex} {pattern.is_a[0].operator} …")
    for arc in pattern.arcs:
        if isinstance(arc.property, Variable):
            raise refused(matcher, f"property variables: {arc}")
        if arc.scope is not Scope.RELATIONS:
            raise refused(
                matcher, f"arcs with the scope {arc.scope.value!r}, but {Scope.RELATIONS.value!r} alone: {arc}"
            )
    if any(map(_tests_attributes, pattern.filters)):
        raise refused(matcher, "tests of attributes: it wants statement patterns")
    ends: dict[Vertex, set[Vertex]] = defaultdict(set)
    for arc in pattern.arcs:
        ends[arc.subject].add(arc.object)
    if not ends[HOME]:
        raise refused(matcher, "pattern in which no arc leaves the home vertex")
    home: Vertex = HOME
    reached = reachable(home, lambda vertex: ends[vertex])
    if lost := pattern.vertices - reached:
        raise refused(
            matcher, f"vertices that no path from the home vertex leads to: {', '.join(sorted(map(str, lost)))}"
        )


def _tests_attributes(expression: Expression) -> bool:
    match expression:
        case AttributeTest() | AttributeExists():
            return True
        case Call(_, arguments):
            return any(map(_tests_attributes, arguments))
        case _:
            return False


def _by_vertex(pattern: Pattern) -> tuple[list[tuple[Variable, Expression]], list[Expression]]:
    """The filters on one variable each, which they call ``VALUE``; and those on none or several."""
    alone, joint = [], []
    for expression in pattern.filters:
        variables = set(free_variables(expression))
        if len(variables) == 1 and variables <= pattern.variables:
            variable = variables.pop()
            alone.append((variable, _about_value(expression, variable)))
        else:
            joint.append(expression)
    return alone, joint


def _about_value(expression: Expression, variable: Variable) -> Expression:
    match expression:
        case Variable() if expression == variable:
            return VALUE
        case Call(name, arguments):
            return Call(name, tuple(_about_value(argument, variable) for argument in arguments))
        case _:
            return expression


def _leading(label: Label) -> NamedNode:
    """The class of a vertex that its meta-statements name; of several a narrow one."""
    return min(label.classes, key=lambda cls: (cls in _WIDE, str(cls)), default=RDFS.Resource)


def _rest(label: Label) -> Label | None:
    leading = _leading(label)
    return Label(tuple(cls for cls in label.classes if cls != leading), label.filters) or None


def _one_name(term: NamedNode, model: ConceptModel) -> NamedNode:
    """The name that stands for all that the model declares the same: an IRI, since those come before blank nodes."""
    name = model.names.get(term, term)
    return name if isinstance(name, NamedNode) else term
