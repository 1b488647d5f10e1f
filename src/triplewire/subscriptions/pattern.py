"""What every subscription language says: patterns of arcs, constraints and filters.

All values here are immutable. ``Subscription`` ← ``Alternative`` ← ``Pattern`` ← ``Arc``, constraints, expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Literal as Choice
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.taxonomy import Attached

Mapping: TypeAlias = Choice["injective", "homomorphic"]
Comparison: TypeAlias = Choice["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Variable:
    """A variable, named without its question mark."""

    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


@dataclass(frozen=True)
class Home:
    """The event's home vertex, as a pattern names it."""

    def __str__(self) -> str:
        return "_:H"


HOME = Home()
DEFAULT_THRESHOLD = 0.7
"""What a similarity must be greater than if nothing else is said."""
Vertex: TypeAlias = Variable | Home | NamedNode | Literal


class Scope(Enum):
    """Which of the event's arcs an arc of a pattern may match."""

    CLOSED = "closed"
    """every triple of G*"""
    RELATIONS = "relations"
    """the triples of G* that do not come from ``rdf:type``"""
    ASSERTED = "asserted"
    """the event's own triples, as they were asserted"""


@dataclass(frozen=True)
class Arc:
    """``subject –property→ object``; the property may be a variable."""

    subject: Vertex
    property: NamedNode | Variable
    object: Vertex
    scope: Scope = Scope.CLOSED

    def __str__(self) -> str:
        return f"{self.subject} –{self.property}→ {self.object}"


@dataclass(frozen=True)
class ClassConstraint:
    """A vertex is of a class, directly or through the concept model."""

    vertex: Vertex
    cls: NamedNode


@dataclass(frozen=True)
class IsA:
    """Where a vertex stands in the taxonomy, as G-ToPSS compares: ``<=`` at or below a class, ``>=`` at or above it,
    ``=`` directly below it."""

    vertex: Vertex
    operator: Comparison
    cls: NamedNode


@dataclass(frozen=True)
class Call:
    """An operator or function applied to its arguments: ``<``, ``and``, ``+``, ``regex``, …

    ``~`` says of a vertex that it is similar to a concept, more than a threshold: its arguments are these three. The
    home vertex stands for the whole event.
    """

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class AttributeTest:
    """Some value at the end of a path from the home vertex satisfies a test; an error if there is no value.

    Inside ``test`` the value is the variable ``VALUE``.
    """

    path: tuple[NamedNode, ...]
    test: Expression


@dataclass(frozen=True)
class AttributeExists:
    """There is a value at the end of a path from the home vertex."""

    path: tuple[NamedNode, ...]


@dataclass(frozen=True)
class Interest:
    """The whole event is similar to a profile of concepts, more than a threshold.

    ``attached`` are the concepts that the model does not know yet, each with the one that it is put under. To this
    interest, and to no other, it is as if the model had them, called by their words.
    """

    concepts: tuple[NamedNode, ...]
    threshold: float
    attached: Attached = ()


VALUE = Variable("value")
Expression: TypeAlias = Variable | Home | NamedNode | Literal | Call | AttributeTest | AttributeExists


@dataclass(frozen=True)
class Pattern:
    """A conjunction of arcs, vertex constraints, filters and interests."""

    arcs: tuple[Arc, ...] = ()
    classes: tuple[ClassConstraint, ...] = ()
    is_a: tuple[IsA, ...] = ()
    filters: tuple[Expression, ...] = ()
    interests: tuple[Interest, ...] = ()
    mapping: Mapping = "homomorphic"

    @cached_property
    def vertices(self) -> frozenset[Vertex]:
        """The vertices that arcs and constraints name."""
        ends = {end for arc in self.arcs for end in (arc.subject, arc.object)}
        return frozenset(ends | {c.vertex for c in self.classes} | {c.vertex for c in self.is_a})

    @cached_property
    def variables(self) -> frozenset[Variable]:
        """The variables that a mapping binds, those for properties included."""
        properties = {arc.property for arc in self.arcs}
        return frozenset(v for v in self.vertices | properties if isinstance(v, Variable))

    @cached_property
    def is_graded(self) -> bool:
        """Whether some mappings may fit better than others."""
        return any(map(asks_similarity, self.filters))

    @cached_property
    def needs_home(self) -> bool:
        """Whether the pattern speaks of the home vertex, and so never matches an event without one."""
        return HOME in self.vertices or any(map(speaks_of_home, self.filters))


@dataclass(frozen=True)
class Residual:
    """What a conjunctive pattern cannot say: a SPARQL query that must have a solution on G*.

    Its solutions are the bindings. In its text ``tw:home`` stands for the home vertex, and the ``names`` written out in
    angle brackets stand for vertices, which an event may know by another name.
    """

    query: str
    form: Choice["ASK", "SELECT", "CONSTRUCT"]
    needs_home: bool
    names: tuple[NamedNode, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """A pattern, and a residual where the pattern says less than is meant.

    Alternatives that share one residual are the ways in which it may come to have a solution: it is checked if one of
    their patterns matches, and its solutions count once. ``answer`` names what a mapping tells, each name with the
    vertex or property that it stands for; None tells every variable under its own name.
    """

    pattern: Pattern
    residual: Residual | None = None
    answer: tuple[tuple[Variable, Vertex], ...] | None = None


@dataclass(frozen=True)
class Subscription:
    """A standing request: it matches an event if one of its alternatives does.

    ``bindings`` says which solutions are told: those that are ``distinct``, each as often as it is ``counted``, or
    ``none``. Where mappings cannot say what a match tells, ``answer`` is the query that does: its solutions, or the
    graph that it constructs.
    """

    id: str
    alternatives: tuple[Alternative, ...]
    warnings: tuple[str, ...] = ()
    bindings: Choice["distinct", "counted", "none"] = "distinct"
    answer: Residual | None = None

    @cached_property
    def tells_nothing(self) -> bool:
        """Whether there is nothing to tell of a match but that it is one."""
        if len(self.alternatives) != 1 or self.answer is not None:
            return False
        [only] = self.alternatives
        pattern = only.pattern
        tells = pattern.variables or pattern.interests or pattern.is_graded or only.answer or only.residual
        return not tells

    @property
    def only_bindings(self) -> tuple[dict[str, str], ...]:
        """What every match has for bindings if the subscription tells nothing."""
        return () if self.bindings == "none" else ({},)


def free_variables(expression: Expression) -> Iterator[Variable]:
    """The variables of an expression that a mapping must bind."""
    if isinstance(expression, Variable):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from free_variables(argument)


def asks_similarity(expression: Expression) -> bool:
    """Whether an expression asks how similar something is to a concept."""
    match expression:
        case Call(name, arguments):
            return name == "~" or any(map(asks_similarity, arguments))
        case AttributeTest(_, test):
            return asks_similarity(test)
        case _:
            return False


def speaks_of_home(expression: Expression) -> bool:
    """Whether an expression names the home vertex or an attribute of it."""
    match expression:
        case Home() | AttributeTest() | AttributeExists():
            return True
        case Call(_, arguments):
            return any(map(speaks_of_home, arguments))
        case _:
            return False


def terms_named(part: object) -> Iterator[NamedNode]:
    """Every IRI that a subscription, or a part of one, names."""
    if isinstance(part, NamedNode):
        yield part
    elif isinstance(part, tuple):
        for member in part:
            yield from terms_named(member)
    elif is_dataclass(part):
        for one in fields(part):
            yield from terms_named(getattr(part, one.name))
