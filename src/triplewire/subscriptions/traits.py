"""What a pattern asks for, and what it has, in small: a quick look at whether one may cover another.

If a pattern covers another, the other has every trait that the one asks for, and keeps within its ranges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, nan
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, ConceptModel
from triplewire.rdf.terms import RDF, RDFS, XSD, Resource
from triplewire.rdf.values import NoValueError, Number, value
from triplewire.subscriptions.attributes import conjuncts
from triplewire.subscriptions.pattern import (
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    IsA,
    Pattern,
    Variable,
    free_variables,
)

Trait: TypeAlias = tuple[str, object]

_HOME: Trait = ("home", None)


@dataclass(frozen=True)
class Range:
    """The numbers that a property's values are compared to be between. Nothing is within it if the low is higher."""

    low: float = -inf
    high: float = inf

    def narrowed(self, other: Range) -> Range:
        return Range(max(self.low, other.low), min(self.high, other.high))


_UNIVERSAL = EVERY_RESOURCE | EVERY_LITERAL
_TRUE = Literal(True)
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_ANY = Range(inf, -inf)  # who knows: it may be as narrow as can be


def asked(pattern: Pattern, model: ConceptModel) -> frozenset[Trait]:
    """What every pattern that this one covers has, if it can match at all."""
    found: set[Trait] = {("property", arc.property) for arc in pattern.arcs if isinstance(arc.property, NamedNode)}
    filters = list(conjuncts(pattern.filters))
    for attribute in filters:
        if isinstance(attribute, AttributeTest | AttributeExists):
            found |= {("property", step) for step in attribute.path}
    found -= {("property", RDF.type)}
    ends = {end for arc in pattern.arcs for end in (arc.subject, arc.object) if arc.property != RDF.type}
    found |= {("name", model.names.get(end, end)) for end in ends if isinstance(end, NamedNode)}
    if model.typing == "asserted":
        classes = {c.cls for c in pattern.classes} - _UNIVERSAL
        found |= {("class", cls) for cls in classes if not model.is_subclass(cls, RDFS.Literal)}
    for _, test in (tested for expression in filters for tested in _tested(expression, pattern)):
        match test:
            case Call("=", (Variable(), Literal() as text)) if text.datatype == XSD.string:
                found.add(("text", text))
    found |= {_place(constraint, model) for constraint in pattern.is_a if constraint.cls not in _UNIVERSAL}
    found |= {("interest", frozenset(interest.concepts)) for interest in pattern.interests}
    return frozenset(found | {_HOME} if pattern.needs_home else found)


def had(pattern: Pattern, model: ConceptModel) -> Iterator[Trait]:
    """What a pattern has, with all that follows from it by the model."""
    yield from [_HOME] if pattern.needs_home else []
    yield from (("interest", frozenset(interest.concepts)) for interest in pattern.interests)
    yield from (_place(constraint, model) for constraint in pattern.is_a)
    ends = [*pattern.vertices, *_leaves(pattern.filters)]
    yield from (("text", end) for end in ends if isinstance(end, Literal))
    for property_ in _properties(pattern):
        yield from (("property", entailed) for entailed, _ in model.entailed(property_))
    names: set[Resource] = {end for end in ends if isinstance(end, NamedNode)}
    yield from (("name", model.names.get(name, name)) for name in names)
    classes = {c.cls for c in pattern.classes} | {c.cls for c in pattern.is_a} | names
    classes |= {cls for name in names for alias in model.aliases(name) for cls in model.types.get(alias, ())}
    yield from (("class", above) for cls in classes for above in model.superclasses(cls))


def _place(constraint: IsA, model: ConceptModel) -> Trait:
    """A place in the taxonomy; one below a class may follow from one further down, or from a class of the vertex."""
    if constraint.operator in ("<", "<="):
        return ("class", constraint.cls)
    return ("is-a", (constraint.operator, model.names.get(constraint.cls, constraint.cls)))


def asked_ranges(pattern: Pattern) -> Iterator[tuple[NamedNode, Range]]:
    """The ranges of properties that every pattern that this one covers keeps within."""
    for expression in conjuncts(pattern.filters):
        for property_, test in _tested(expression, pattern):
            range_ = _range(test)
            if range_ is not None:
                yield property_, range_


def had_ranges(pattern: Pattern, model: ConceptModel) -> dict[NamedNode, Range]:
    """The narrowest that a pattern may ask of a property, those above the ones it names included."""
    own: dict[NamedNode, Range] = {}
    for expression in conjuncts(pattern.filters):
        tested = _tested(expression, pattern)
        if not tested:
            own = dict.fromkeys(_properties(pattern), _ANY)
            break
        for property_, test in tested:
            own[property_] = own.get(property_, Range()).narrowed(_range(test) or _ANY)
    for arc in pattern.arcs:
        if isinstance(arc.object, Literal) and isinstance(arc.property, NamedNode):
            own[arc.property] = _ANY
    found: dict[NamedNode, Range] = defaultdict(Range)
    for property_ in _properties(pattern):
        for entailed, _ in model.entailed(property_):
            found[entailed] = found[entailed].narrowed(own.get(property_, Range()))
    return found


def _tested(expression: Expression, pattern: Pattern) -> list[tuple[NamedNode, Expression]]:
    """What a filter tests of a property's value, for each property if it is the value of several; else nothing."""
    match expression:
        case AttributeTest(path, test):
            return [(path[-1], part) for part in conjuncts([test])]
        case AttributeExists(path):
            return [(path[-1], _TRUE)]
    variables = set(free_variables(expression))
    arcs = [arc for arc in pattern.arcs if len(variables) == 1 and arc.object in variables]
    return [(arc.property, expression) for arc in arcs if isinstance(arc.property, NamedNode)]


def _range(test: Expression) -> Range | None:
    """The range that a comparison with a number gives."""
    match test:
        case Call(name, (Literal() as literal, Call() | Variable() as other)) if name in _TURNED:
            return _range(Call(_TURNED[name], (other, literal)))
        case Call(name, (Call("number", (Variable() as variable,)), literal)):
            return _range(Call(name, (variable, literal)))
        case Call("<" | "<=", (Variable(), Literal() as literal)):
            return _between(-inf, _number(literal))
        case Call(">" | ">=", (Variable(), Literal() as literal)):
            return _between(_number(literal), inf)
        case Call("=", (Variable(), Literal() as literal)):
            return _between(_number(literal), _number(literal))
    return Range() if test == _TRUE else None


def _between(low: float | None, high: float | None) -> Range | None:
    return None if low is None or high is None else Range(low, high)


def _number(literal: Literal) -> float | None:
    try:
        found = value(literal)
        number = float(found.value) if isinstance(found, Number) else nan
    except (NoValueError, OverflowError):
        return None
    return None if number != number else number


def _properties(pattern: Pattern) -> set[NamedNode]:
    """The properties of a pattern's arcs and attributes; where some are RDF's own there may be members of a list."""
    found = {arc.property for arc in pattern.arcs if isinstance(arc.property, NamedNode)}
    for leaf in _leaves(pattern.filters):
        if isinstance(leaf, AttributeTest | AttributeExists):
            found |= set(leaf.path)
    return found | {RDFS.member} if any(property_ in RDF for property_ in found) else found


def _leaves(expressions: Iterable[Expression]) -> Iterator[Expression]:
    """The parts of expressions that are no calls, and attributes' tests with theirs."""
    for expression in expressions:
        match expression:
            case Call(_, arguments):
                yield from _leaves(arguments)
            case AttributeTest(_, test):
                yield expression
                yield from _leaves([test])
            case _:
                yield expression
