"""From an alternative to what the trie is asked: patterns over labels, and whether they decide the alternative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel
from triplewire.matching.engine import trie as tries
from triplewire.matching.engine.conditions import (
    Attribute,
    Demand,
    Label,
    Way,
    is_label,
    text_of,
    ways_of,
)
from triplewire.matching.engine.ranks import Range, intersection
from triplewire.rdf.terms import RDF, Resource
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    Home,
    Pattern,
    Scope,
    Variable,
    Vertex,
    free_variables,
)

MOST_VERTICES = tries.MOST_VERTICES
"""Of a pattern with more vertices the trie is asked so many, and the rest is verified."""
HOME_KEY = b"h"
"""The label of the home vertex, which needs no dictionary."""
ANY = b"*"
"""Any property, in place of one."""
ANY_VERTEX = b"v"
"""The label of every vertex of G*, asked where nothing else keeps a pattern's vertex to those that the event names."""
IS_A = {"<=": b"l", "<": b"L", ">=": b"g", ">": b"G", "=": b"e"}
STANDALONE = b"s"
"""The label of every vertex, asked where a pattern's vertex has no arcs: an event's others need not be entered else."""
_EVERYWHERE = {text_of(cls) for cls in EVERY_RESOURCE}
SCOPES = {Scope.CLOSED: b"c", Scope.RELATIONS: b"r", Scope.ASSERTED: b"a"}


@dataclass(frozen=True)
class Compiled:
    """One way in which an alternative may match: each vertex's labels, and arcs between vertices by number.

    If it is ``decided`` nothing else is asked; if not, what matches is a candidate that must be verified.
    """

    vertices: tuple[frozenset[Label], ...]
    arcs: tuple[tuple[int, bytes, int], ...]
    injective: bool
    decided: bool


def compile_alternative(alternative: Alternative, model: ConceptModel) -> tuple[Compiled, ...]:
    """The ways of an alternative: every event that it matches is matched by one of them."""
    pattern = alternative.pattern
    open_ = alternative.residual is not None or bool(pattern.interests)
    ways = ways_of(pattern.filters, lambda term: model.names.get(term, term))
    found = [_Compilation(pattern, model, way, open_).result() for way in ways]
    return tuple(dict.fromkeys(found) if len(found) > 1 else found)


class _Compilation:
    """The making of one ``Compiled``."""

    def __init__(self, pattern: Pattern, model: ConceptModel, way: Way, undecided: bool) -> None:
        self.pattern = pattern
        self.model = model
        self.undecided = undecided
        self.labels: list[set[Label]] = []
        self.arcs: dict[tuple[int, bytes, int], None] = {}
        self.numbers: dict[Vertex, int] = {}
        self._arcs()
        self._constraints()
        self._way(way)
        if pattern.needs_home and not (pattern.mapping == "injective" and HOME not in pattern.vertices):
            self.vertex(HOME)  # which a filter may name; a vertex of the pattern, to be kept apart, it is not then

    def result(self) -> Compiled:
        labels = self.labels[:MOST_VERTICES]
        arcs = tuple(arc for arc in self.arcs if max(arc[0], arc[2]) < MOST_VERTICES)
        for number in set(range(len(labels))).difference(*((s, o) for s, _, o in arcs)):
            if not any(map(_tells_own_vertices, labels[number])):
                labels[number].add(ANY_VERTEX)
            if HOME_KEY not in labels[number]:
                labels[number].add(STANDALONE)
        decided = not self.undecided and len(self.labels) <= MOST_VERTICES
        return Compiled(tuple(map(_few, labels)), arcs, self.pattern.mapping == "injective", decided)

    def vertex(self, vertex: Vertex) -> int:
        """The number of a vertex; constants that the model says are the same are one."""
        number = self.numbers.get(vertex)
        if number is not None:
            return number
        key = self.name(vertex) if isinstance(vertex, NamedNode) else vertex
        if key not in self.numbers:
            self.numbers[key] = self.fresh()
            if isinstance(vertex, NamedNode | Literal):
                self.labels[-1].add(is_label(vertex, self.name))
            elif isinstance(vertex, Home):
                self.labels[-1].add(HOME_KEY)
        return self.numbers[key]

    def fresh(self) -> int:
        self.labels.append(set())
        return len(self.labels) - 1

    def name(self, term: Resource) -> NamedNode:
        return self.model.names.get(term, term)  # type: ignore[return-value]

    def _arcs(self) -> None:
        joined = set(_joined_properties(self.pattern))
        for arc in self.pattern.arcs:
            if isinstance(arc.property, Variable):
                self.undecided |= arc.property in joined
            if self._is_type_test(arc):
                self.labels[self.vertex(arc.subject)].add(b"t" + text_of(arc.object))
            else:
                property_ = ANY if isinstance(arc.property, Variable) else text_of(arc.property)
                self._arc(self.vertex(arc.subject), SCOPES[arc.scope] + property_, self.vertex(arc.object))

    def _arc(self, subject: int, property_: bytes, object_: int) -> None:
        if subject == object_:
            self.labels[subject].add(b"o" + property_)
        else:
            self.arcs[subject, property_, object_] = None

    def _is_type_test(self, arc: Arc) -> bool:
        """Whether an arc asks for a class and nothing else, so that no vertex is needed for the class."""
        return (
            arc.scope is Scope.CLOSED
            and arc.property == RDF.type
            and isinstance(arc.object, NamedNode)
            and self.pattern.mapping == "homomorphic"
        )

    def _constraints(self) -> None:
        for constraint in self.pattern.classes:
            self.labels[self.vertex(constraint.vertex)].add(b"c" + text_of(constraint.cls))
        for test in self.pattern.is_a:
            # A constant may stand in the taxonomy without being a vertex of the event.
            if isinstance(test.vertex, Variable):
                number = self.vertex(test.vertex)
                if test.operator in IS_A:
                    self.labels[number].add(IS_A[test.operator] + text_of(test.cls))
                    continue
            self.undecided = True

    def _way(self, way: Way) -> None:
        for atom in way:
            match atom:
                case Demand(vertex, label) if vertex in self.numbers:
                    self.labels[self.numbers[vertex]].add(label)
                case Demand(Home(), label) if self.pattern.mapping == "homomorphic":
                    self.labels[self.vertex(HOME)].add(label)
                case Attribute(path, labels) if self.pattern.mapping == "homomorphic":
                    self._attribute(path, labels)
                case _:
                    self.undecided = True

    def _attribute(self, path: tuple[NamedNode, ...], labels: tuple[Label, ...]) -> None:
        here = self.vertex(HOME)
        for step in path:
            there = self.fresh()
            self._arc(here, SCOPES[Scope.CLOSED] + text_of(step), there)
            here = there
        self.labels[here].update(labels)


def _few(labels: set[Label]) -> frozenset[Label]:
    """Labels that ask the same, with a lower and an upper bound as one range."""
    ranges = {label for label in labels if isinstance(label, Range)}
    return frozenset(labels if len(ranges) < 2 else labels - ranges | intersection(ranges))


def _tells_own_vertices(label: Label) -> bool:
    """Whether a label is one that classes which are in G* only as superclasses never have."""
    if isinstance(label, Range):
        return True
    return label[:1] in (HOME_KEY, b"t") or (label[:1] == b"c" and label[1:] not in _EVERYWHERE)


def _joined_properties(pattern: Pattern) -> Iterator[Variable]:
    """The property variables that something else depends on."""
    uses = Counter(arc.property for arc in pattern.arcs if isinstance(arc.property, Variable))
    if not uses:
        return iter(())
    elsewhere = pattern.vertices | {v for filter_ in pattern.filters for v in free_variables(filter_)}
    return (variable for variable, times in uses.items() if times > 1 or variable in elsewhere)
