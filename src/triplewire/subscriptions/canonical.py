"""Canonical form: patterns that say the same, up to names and order, become the equal value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, THINGS, ConceptModel
from triplewire.rdf.terms import OWL, RDF, RDFS
from triplewire.subscriptions.labelling import canonical_positions
from triplewire.subscriptions.normal import normal_filters, ordered, variables
from triplewire.subscriptions.pattern import (
    Alternative,
    Arc,
    ClassConstraint,
    Expression,
    Home,
    Interest,
    IsA,
    Pattern,
    Scope,
    Variable,
    Vertex,
)

Names: TypeAlias = dict[Variable, Variable]

_UNIVERSAL = EVERY_RESOURCE | EVERY_LITERAL
_MANY = 16
"""A filter on more variables than this is not looked at to tell them apart."""
_THIS, _OTHER = Variable(""), Variable(" ")


def canonical(pattern: Pattern, model: ConceptModel) -> tuple[Pattern, Names]:
    """Rewrite a pattern so that equal meanings become equal values; and the new name of each variable.

    On every event the two have the same mappings, up to these names. Variables are called ``?1``, ``?2``, … in an order
    that the pattern's shape gives; arcs, constraints and filters are sorted, and what follows from the rest by the
    model's hierarchies is dropped. Two patterns that differ in names and order alone become equal, unless they are so
    large and so regular that finding the order is given up (``labelling``): then they may become two values.
    """
    plain = _simplified(pattern, model)
    names = _names(plain)
    return _renamed(plain, names), names


def canonical_alternative(alternative: Alternative, model: ConceptModel) -> Alternative:
    """An alternative with its pattern in canonical form; its answer keeps the names that mappings are told under."""
    pattern, names = canonical(alternative.pattern, model)
    if alternative.residual is not None:
        return replace(alternative, pattern=pattern)
    told = alternative.answer
    if told is None:
        told = tuple((variable, variable) for variable in alternative.pattern.variables)
    answer = [(name, names.get(part, part) if isinstance(part, Variable) else part) for name, part in told]
    return replace(alternative, pattern=pattern, answer=tuple(sorted(answer, key=lambda row: row[0].name)))


def _simplified(pattern: Pattern, model: ConceptModel) -> Pattern:
    """The pattern under the names that stand for others, without what the rest implies; nothing is ordered yet."""
    known = model.names
    arcs: dict[Arc, None] = {}
    classes: dict[Vertex, set[NamedNode]] = defaultdict(set)
    for constraint in pattern.classes:
        classes[_name(constraint.vertex, known)].add(constraint.cls)
    from_types = {above for above, _ in model.entailed(RDF.type)}
    typed: list[Vertex] = []
    for arc in pattern.arcs:
        subject, object_ = _name(arc.subject, known), _name(arc.object, known)
        if _is_class_constraint(arc, pattern):
            classes[subject].add(object_)
            typed.append(subject)
        else:
            arcs[_simplified_arc(subject, arc, object_, model, from_types)] = None
    subjects = {arc.subject for arc in arcs}
    ends = subjects | {arc.object for arc in arcs}
    for vertex in typed:
        if vertex not in subjects:
            classes[vertex].add(OWL.Thing)  # a literal may be of the class, and has no arc rdf:type
    return Pattern(
        arcs=tuple(arcs),
        classes=tuple(
            ClassConstraint(vertex, cls)
            for vertex, given in classes.items()
            for cls in _fewest(given, _is_resource(vertex, subjects), vertex in ends, model)
        ),
        is_a=tuple(dict.fromkeys(_simplified_is_a(constraint, model) for constraint in pattern.is_a)),
        filters=tuple(
            normal_filters(
                pattern.filters, lambda name: _name(name, known), lambda property_: _property(property_, model)
            )
        )
        if pattern.filters
        else (),
        interests=tuple(sorted({_sorted_interest(interest) for interest in pattern.interests}, key=repr)),
        mapping=pattern.mapping if _may_collide(pattern, known) else "homomorphic",
    )


def _name(vertex: Any, names: Any) -> Any:
    """The name that stands for a constant's synonyms."""
    return names.get(vertex, vertex) if names and isinstance(vertex, NamedNode) else vertex


def _may_collide(pattern: Pattern, names: Any) -> bool:
    """Whether there are two vertices that injectivity could keep apart."""
    return len({_name(vertex, names) for vertex in pattern.vertices if not isinstance(vertex, Literal)}) > 1


def _is_class_constraint(arc: Arc, pattern: Pattern) -> bool:
    """Whether an arc says no more than that its subject is of a class.

    Under an injective mapping the class is a vertex, which keeps others away. What every resource is need not be a
    triple of G*.
    """
    return (
        arc.property == RDF.type
        and arc.scope is Scope.CLOSED
        and pattern.mapping == "homomorphic"
        and isinstance(arc.object, NamedNode)
        and arc.object not in _UNIVERSAL
    )


def _simplified_arc(subject: Vertex, arc: Arc, object_: Vertex, model: ConceptModel, from_types: set[NamedNode]) -> Arc:
    """An arc with its widest scope; ``from_types`` are the properties of arcs that ``rdf:type`` alone may give."""
    property_, scope = arc.property, arc.scope
    if isinstance(property_, NamedNode) and scope is not Scope.ASSERTED:
        property_ = _property(property_, model)
        if scope is Scope.RELATIONS and property_ not in from_types:
            scope = Scope.CLOSED
    return Arc(subject, property_, object_, scope)


def _property(property_: NamedNode, model: ConceptModel) -> NamedNode:
    """The first, in code-point order, of the properties that are each above and below this one."""
    above = model.superproperties(property_)
    if len(above) == 1 or RDF.type in above:  # arcs that come from rdf:type are not in every scope
        return property_
    return min((p for p in above if property_ in model.superproperties(p)), key=str)


def _equivalents(cls: NamedNode, model: ConceptModel) -> list[NamedNode]:
    return [above for above in model.superclasses(cls) if cls in model.superclasses(above)]


def _is_resource(vertex: Vertex, subjects: set[Vertex]) -> bool:
    """Whether a vertex is never a literal."""
    return vertex in subjects or isinstance(vertex, Home | NamedNode)


def _fewest(given: set[NamedNode], is_resource: bool, is_end: bool, model: ConceptModel) -> Iterable[NamedNode]:
    """The classes, of those that a vertex must have, that the others do not imply."""
    classes: set[NamedNode] = set()
    for cls in given:
        if cls in THINGS:
            classes.add(RDFS.Resource if is_resource else OWL.Thing)
        elif cls in _UNIVERSAL or len(model.superclasses(cls)) == 1:
            classes.add(cls)
        else:
            classes.add(min((c for c in _equivalents(cls, model) if c not in _UNIVERSAL), key=str))
    if len(classes) > 1:
        special = [cls for cls in classes if cls not in _UNIVERSAL]
        implied = {above for cls in special for above in model.superclasses(cls) if above != cls}
        classes -= implied - THINGS
    if RDFS.Resource in classes and (is_end or len(classes) > 1):
        classes.remove(RDFS.Resource)
    return classes


def _simplified_is_a(constraint: IsA, model: ConceptModel) -> IsA:
    cls = _name(constraint.cls, model.names)
    if constraint.operator in ("<", "<="):
        cls = min(_equivalents(cls, model), key=str)
    return IsA(_name(constraint.vertex, model.names), constraint.operator, cls)


def _sorted_interest(interest: Interest) -> Interest:
    return Interest(
        tuple(sorted(interest.concepts, key=str)), interest.threshold, tuple(sorted(interest.attached, key=str))
    )


class _Structure:
    """A pattern as what its variables have, and what they see of each other."""

    def __init__(self, pattern: Pattern) -> None:
        self.numbers: dict[Variable, int] = {}
        self.keys: list[list[str]] = []
        self.seen: list[list[tuple[str, int]]] = []
        self.relations: list[tuple[str, tuple[int, ...]]] = []
        self.filters: list[Expression] = []
        for arc in pattern.arcs:
            self._add_arc(arc)
        for constraint in pattern.classes:
            self._add_key(constraint.vertex, f"class {constraint.cls}")
        for is_a in pattern.is_a:
            self._add_key(is_a.vertex, f"is {is_a.operator} {is_a.cls}")
        for filter_ in pattern.filters:
            self._add_filter(filter_)

    def _number(self, variable: Variable) -> int:
        number = self.numbers.get(variable)
        if number is None:
            number = self.numbers[variable] = len(self.keys)
            self.keys.append([])
            self.seen.append([])
        return number

    def _add_key(self, vertex: Vertex, key: str) -> None:
        if isinstance(vertex, Variable):
            self.keys[self._number(vertex)].append(key)

    def _add_arc(self, arc: Arc) -> None:
        places = (arc.subject, arc.property, arc.object)
        roles = [(role, part) for role, part in enumerate(places) if isinstance(part, Variable)]
        if not roles:
            return
        said = "".join("?" if isinstance(part, Variable) else str(part) for part in places)
        label = f"{arc.scope.value} {said}"
        numbers = [self._number(part) for _, part in roles]
        for (role, _), number in zip(roles, numbers, strict=True):
            self.keys[number].append(f"{role} {label}")
        if len(roles) > 1:
            self.relations.append((label, tuple(numbers)))
            self._see_each_other([(f"{role} {label}", n) for (role, _), n in zip(roles, numbers, strict=True)])

    def _add_filter(self, filter_: Expression) -> None:
        found = list(dict.fromkeys(variables(filter_)))
        labels = []
        for variable in found if len(found) <= _MANY else ():
            text, _ = ordered(filter_, lambda other, this=variable: _THIS if other == this else _OTHER)  # type: ignore[misc]
            self.keys[self._number(variable)].append(text)
            labels.append((text, self.numbers[variable]))
        for variable in found:
            self._number(variable)
        if len(found) > 1:
            self.filters.append(filter_)
            self._see_each_other(labels)

    def _see_each_other(self, labels: list[tuple[str, int]]) -> None:
        for own, viewer in labels:
            for other, element in labels:
                if viewer != element or own != other:
                    self.seen[element].append((f"{own} {other}", viewer))

    def positions(self) -> list[int]:
        ranks = {label: rank for rank, label in enumerate(sorted({label for row in self.seen for label, _ in row}))}
        views = [[(ranks[label], viewer) for label, viewer in row] for row in self.seen]
        return canonical_positions([tuple(sorted(key)) for key in self.keys], views, self._certificate)

    def _certificate(self, positions: list[int]) -> tuple[Any, ...]:
        relations = sorted([(label, *[positions[n] for n in numbers]) for label, numbers in self.relations])
        names = {variable: Variable(str(positions[number])) for variable, number in self.numbers.items()}
        return tuple(relations), tuple(sorted([ordered(filter_, names.__getitem__)[0] for filter_ in self.filters]))


def _names(pattern: Pattern) -> Names:
    structure = _Structure(pattern)
    positions = structure.positions()
    return {variable: Variable(str(positions[number] + 1)) for variable, number in structure.numbers.items()}


def _renamed(pattern: Pattern, names: Names) -> Pattern:
    """The pattern under new names, sorted."""
    arcs = [
        Arc(
            names.get(arc.subject, arc.subject),  # type: ignore[arg-type]
            names.get(arc.property, arc.property),  # type: ignore[arg-type]
            names.get(arc.object, arc.object),  # type: ignore[arg-type]
            arc.scope,
        )
        for arc in pattern.arcs
    ]
    classes = [ClassConstraint(names.get(c.vertex, c.vertex), c.cls) for c in pattern.classes]  # type: ignore[arg-type]
    is_a = [IsA(names.get(c.vertex, c.vertex), c.operator, c.cls) for c in pattern.is_a]  # type: ignore[arg-type]
    filters = dict(ordered(filter_, names.__getitem__) for filter_ in pattern.filters)
    return Pattern(
        arcs=tuple(sorted(arcs, key=lambda a: (str(a.subject), str(a.property), str(a.object), a.scope.value))),
        classes=tuple(sorted(classes, key=lambda c: (str(c.vertex), str(c.cls)))),
        is_a=tuple(sorted(is_a, key=lambda c: (str(c.vertex), c.operator, str(c.cls)))),
        filters=tuple(filters[text] for text in sorted(filters)),
        interests=pattern.interests,
        mapping=pattern.mapping,
    )
