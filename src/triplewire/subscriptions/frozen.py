"""A pattern taken for an event: what is sure to hold in every event that it matches.

The pattern's variables are the frozen event's vertices. Of some it is open whether they stand for a literal, and of a
literal less is inferred: it is never a subject.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, THINGS, ConceptModel
from triplewire.rdf.terms import RDF, RDFS
from triplewire.subscriptions.implication import Test, are_met, implies, is_comparing, is_true_of
from triplewire.subscriptions.normal import FALSE, ordered, variables
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Home,
    IsA,
    Pattern,
    Scope,
    Variable,
    Vertex,
    speaks_of_home,
)

Fact: TypeAlias = tuple[Vertex, NamedNode | Variable, Vertex]
Path: TypeAlias = tuple[NamedNode, ...]


class FrozenPattern:
    """The facts that follow from a pattern in canonical form, by scope; and the tests that its vertices pass."""

    def __init__(self, pattern: Pattern, model: ConceptModel) -> None:
        self.pattern = pattern
        self.model = model
        self.tests: dict[Vertex, list[Test]] = defaultdict(list)
        self.absent: list[Path] = []
        self.failing: list[tuple[Path, Expression]] = []
        self.filters: set[str] = set()
        self.classes: dict[Vertex, set[NamedNode]] = defaultdict(set)
        self.is_a: dict[Vertex, list[IsA]] = defaultdict(list)
        self.chain: list[Fact] = []
        for filter_ in pattern.filters:
            self._add_filter(filter_)
        self.resources = self._resources()
        self.facts = self._facts()
        self._add_constraints()
        for path, test in self.failing:
            for vertex in self.walk(path):
                self.tests[vertex].append((test, False))

    @property
    def is_impossible(self) -> bool:
        """Whether nothing can match the pattern, so far as can be told."""
        return (
            FALSE in self.pattern.filters
            or any(arc.property == RDF.type and arc.scope is Scope.RELATIONS for arc in self.pattern.arcs)
            or any(self.walk(path) for path in self.absent)
            or any(self.passes(vertex, FALSE) for vertex in [*self.tests])
        )

    def walk(self, path: Path) -> set[Vertex]:
        """The vertices at the end of a path from the home vertex."""
        ends: set[Vertex] = {HOME}
        for step in path:
            ends = {o for s, p, o in self.facts[Scope.CLOSED] if p == step and s in ends}
        return ends

    @property
    def vertices(self) -> set[Vertex]:
        """What is sure to be a vertex of the event."""
        ends = {end for s, _, o in self.facts[Scope.CLOSED] for end in (s, o)}
        constrained = {vertex for vertex in self.pattern.vertices if isinstance(vertex, Variable)}
        return ends | constrained | set(self.classes)

    def passes(self, vertex: Vertex, test: Expression) -> bool:
        """Whether a test is sure to be true of a vertex."""
        if isinstance(vertex, Literal) or (
            isinstance(vertex, NamedNode) and (vertex not in self.model.names or is_comparing(test))
        ):
            return not are_met(self.tests[vertex], vertex) or is_true_of(test, vertex)
        return implies(tuple(dict.fromkeys(self.tests[vertex])), test)

    def has_class(self, vertex: Vertex, cls: NamedNode) -> bool:
        """Whether a class constraint is sure to hold of a vertex of the event."""
        if cls == RDFS.Resource:
            return True
        if cls in self.classes.get(vertex, ()):
            return True
        if isinstance(vertex, Literal):
            return cls in self.model.literal_classes(vertex)
        if cls in THINGS:
            return self._is_resource(vertex)
        return (vertex, RDF.type, self.model.names.get(cls, cls)) in self.facts[Scope.CLOSED]

    def compares(self, vertex: Vertex, wanted: IsA) -> bool:
        """Whether an is-a constraint is sure to hold of a vertex."""
        if any((given.operator, given.cls) == (wanted.operator, wanted.cls) for given in self.is_a[vertex]):
            return True
        if wanted.operator != "<=":
            return False
        below = [given.cls for given in self.is_a[vertex] if given.operator in ("<", "<=", "=")]
        return any(self.model.is_subclass(cls, wanted.cls) for cls in below) or (
            wanted.cls not in EVERY_RESOURCE | EVERY_LITERAL and self.has_class(vertex, wanted.cls)
        )

    def _add_filter(self, filter_: Expression) -> None:
        self.filters.add(ordered(filter_, lambda variable: variable)[0])
        match filter_:
            case AttributeTest(path, test):
                self.tests[self._chain(path)].append((test, True))
            case AttributeExists(path):
                self._chain(path)
            case Call("not", (AttributeExists(path),)):
                self.absent.append(path)
            case Call("not", (AttributeTest(path, test),)):
                self._chain(path)
                self.failing.append((path, test))
            case _:
                vertex = tested_vertex(filter_)
                if vertex is not None:
                    self.tests[vertex].append((of_value(filter_), True))

    def _chain(self, path: Path) -> Vertex:
        """Vertices along a path from the home vertex; the last of them."""
        here: Vertex = HOME
        for step in path:
            there = Variable(f"{len(self.chain)} {step}")
            self.chain.append((here, step, there))
            here = there
        return here

    def _resources(self) -> set[Vertex]:
        """The vertices that are never literals."""
        subjects = {arc.subject for arc in self.pattern.arcs} | {subject for subject, _, _ in self.chain}
        return subjects | {HOME} | {c.vertex for c in self.pattern.classes if c.cls in THINGS}

    def _is_resource(self, vertex: Vertex) -> bool:
        return vertex in self.resources or isinstance(vertex, NamedNode)

    def _facts(self) -> dict[Scope, set[Fact]]:
        stated: dict[Scope, set[Fact]] = {scope: set() for scope in Scope}
        for arc in self.pattern.arcs:
            stated[arc.scope].add((arc.subject, arc.property, arc.object))
        asserted = stated[Scope.ASSERTED]
        relations = _closed(
            stated[Scope.RELATIONS] | {fact for fact in asserted if _is_relation(fact)} | set(_members(asserted)),
            self._under_entailed,
        )
        relations = {fact for fact in relations if fact[1] != RDF.type}
        types = {fact for vertex in self._event_names() for fact in self._known_types(vertex)}
        for constraint in self.pattern.classes:
            if self._is_resource(constraint.vertex) and constraint.cls not in EVERY_RESOURCE | EVERY_LITERAL:
                types |= set(self._typed(constraint.vertex, [constraint.cls]))
        closed = _closed(relations | asserted | stated[Scope.CLOSED] | set(self.chain) | types, self._consequences)
        return {Scope.ASSERTED: asserted, Scope.RELATIONS: relations, Scope.CLOSED: closed}

    def _event_names(self) -> Iterator[NamedNode]:
        """The constants that are vertices of the event itself, not only of G*."""
        from_types = {above for above, _ in self.model.entailed(RDF.type)}
        for arc in self.pattern.arcs:
            constant = isinstance(arc.property, NamedNode) and arc.property not in from_types
            if arc.scope is not Scope.CLOSED or constant:
                yield from (end for end in (arc.subject, arc.object) if isinstance(end, NamedNode))

    def _known_types(self, vertex: NamedNode) -> Iterator[Fact]:
        for name in self.model.aliases(vertex):
            yield from self._typed(vertex, (c for c in self.model.types.get(name, ()) if isinstance(c, NamedNode)))

    def _under_entailed(self, fact: Fact) -> Iterator[Fact]:
        subject, property_, object_ = fact
        if isinstance(property_, Variable):
            return
        if self._is_resource(object_):
            for entailed, back in self.model.entailed(property_):
                yield (object_, entailed, subject) if back else (subject, entailed, object_)
        else:
            yield from ((subject, above, object_) for above in self.model.superproperties(property_))

    def _consequences(self, fact: Fact) -> Iterator[Fact]:
        subject, property_, object_ = fact
        yield from self._under_entailed(fact)
        if property_ == RDF.type and isinstance(object_, NamedNode):
            yield from self._typed(subject, self.model.superclasses(object_))
        if self.model.typing == "rdfs" and isinstance(property_, NamedNode):
            for vertex, table in ((subject, self.model.domains), (object_, self.model.ranges)):
                if self._is_resource(vertex):
                    for cls in table.get(property_, ()):
                        yield from self._typed(vertex, self.model.superclasses(cls))

    def _typed(self, vertex: Vertex, classes: Iterable[NamedNode]) -> Iterator[Fact]:
        return ((vertex, RDF.type, self.model.names.get(cls, cls)) for cls in classes)  # type: ignore[misc]

    def _add_constraints(self) -> None:
        for constraint in self.pattern.classes:
            if constraint.cls in EVERY_RESOURCE | EVERY_LITERAL:
                self.classes[constraint.vertex].add(constraint.cls)
            else:
                self.classes[constraint.vertex] |= self.model.superclasses(constraint.cls) - THINGS
        for is_a in self.pattern.is_a:
            self.is_a[is_a.vertex].append(is_a)


def sole_variable(filter_: Expression) -> Variable | None:
    """The variable of a filter that has one, and speaks of nothing else in the event."""
    found = set(variables(filter_))
    return found.pop() if len(found) == 1 and not speaks_of_home(filter_) else None


def tested_vertex(filter_: Expression) -> Variable | Home | None:
    """The variable of a filter that has but one; the home vertex, of one that says what the whole event is about."""
    return HOME if _is_about_event(filter_) else sole_variable(filter_)


def _is_about_event(filter_: Expression) -> bool:
    match filter_:
        case Call("~", (vertex, _, _)):
            return vertex == HOME
        case Call("and" | "or" | "not", parts):
            return all(map(_is_about_event, parts))
        case _:
            return False


def of_value(filter_: Expression) -> Expression:
    """A filter on one vertex as a test of its value."""
    match filter_:
        case Home():
            return VALUE
        case Call(name, arguments) if speaks_of_home(filter_):
            return Call(name, tuple(map(of_value, arguments)))
        case _:
            return ordered(filter_, lambda _: VALUE)[1]


def _is_relation(fact: Fact) -> bool:
    return isinstance(fact[1], NamedNode) and fact[1] != RDF.type


def _members(asserted: set[Fact]) -> Iterator[Fact]:
    """``rdfs:member`` from each cell of an RDF list to every member from there on."""
    first = {(s, o) for s, p, o in asserted if p == RDF.first}
    rest = {(s, o) for s, p, o in asserted if p == RDF.rest}
    for cell in {cell for cell, _ in first | rest}:
        tail = {cell}
        while more := {o for s, o in rest if s in tail} - tail:
            tail |= more
        yield from ((cell, RDFS.member, member) for one, member in first if one in tail)


def _closed(facts: set[Fact], consequences: Any) -> set[Fact]:
    closed: set[Fact] = set()
    new = facts
    while new:
        closed |= new
        new = {consequence for fact in new for consequence in consequences(fact)} - closed
    return closed
