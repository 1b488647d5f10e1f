"""A subscription as a picture, in the manner of the OPS paper's Figure 3.

Variables are oval, with their classes and what filters say of them; named things are round, literals square, and the
home vertex is heavy. Alternatives stand one under another. What is no arc of a graph is written in a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel
from triplewire.rdf.names import Names
from triplewire.rdf.svg import Arrow, Box, Diagram, Shape, Style, draw, shortened
from triplewire.rdf.terms import Term
from triplewire.subscriptions.attributes import conjuncts, tests_attributes
from triplewire.subscriptions.english import gives_class, sentence
from triplewire.subscriptions.notation import NOT, Notation
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    Alternative,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Home,
    Pattern,
    Residual,
    Scope,
    Subscription,
    Variable,
    Vertex,
    free_variables,
)

ARCS = 200
_LONGEST = 60
_LINES = 12
_INFIX = {"strstarts": "startswith", "strends": "endswith", "contains": "contains", "regex": "matches"}
_SIGNS = {"<=": "⊑", "<": "⊏", ">=": "⊒", ">": "⊐", "=": "directly below", "!=": "not directly below"}


@dataclass(frozen=True)
class Marks:
    """What is drawn into a pattern: which of its arcs, constraints and filters fail, what its vertices stand for."""

    failing: frozenset[object] = frozenset()
    stands_for: Mapping[Vertex, str] = field(default_factory=dict)

    def sign(self, part: object) -> str:
        return "✗ " if part in self.failing else ""

    def style(self, part: object) -> Style:
        return "missing" if part in self.failing else "plain"


def picture(subscription: Subscription, model: ConceptModel, prefixes: Mapping[str, str] | None = None) -> str:
    """The subscription as SVG."""
    return draw(diagram(subscription, model, prefixes))


def diagram(
    subscription: Subscription,
    model: ConceptModel,
    prefixes: Mapping[str, str] | None = None,
    marks: Marks | None = None,
) -> Diagram:
    """What is to be drawn of a subscription. A vertex of the n-th alternative has the key ``n`` and its name."""
    names = Names.of(chain.from_iterable(_terms(a.pattern) for a in subscription.alternatives), prefixes, bare=True)
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    left_out = 0
    for number, alternative in enumerate(subscription.alternatives):
        if number:
            boxes.append(Box(f"or {number}", ("or",), "plain"))
        drawing = _Drawing(alternative, number, names, marks or Marks())
        boxes += drawing.boxes()
        arrows += drawing.arrows()
        left_out += max(0, len(alternative.pattern.arcs) - ARCS)
    return Diagram(
        title=f"Subscription {subscription.id}",
        description=sentence(subscription, model),
        boxes=boxes,
        arrows=arrows,
        root=f"0 {HOME}",
        note=_note(subscription, left_out),
    )


def _note(subscription: Subscription, left_out: int) -> str:
    patterns = [alternative.pattern for alternative in subscription.alternatives]
    told = [f"Left out: {left_out} arcs."] if left_out else []
    if any(arc.scope == Scope.ASSERTED for pattern in patterns for arc in pattern.arcs):
        told.append("Arcs are matched exactly as stated.")
    if any(pattern.mapping == "injective" and pattern.arcs for pattern in patterns):
        told.append("Different vertices stand for different resources.")
    return " ".join(told)


def _terms(pattern: Pattern) -> Iterator[Term]:
    """The names in a pattern that a picture shows."""
    yield from chain.from_iterable(interest.concepts for interest in pattern.interests)
    yield from chain.from_iterable(map(_attributes, pattern.filters))
    for arc in pattern.arcs:
        yield from (part for part in (arc.subject, arc.property, arc.object) if isinstance(part, NamedNode))
    yield from (constraint.cls for constraint in pattern.classes)
    yield from (constraint.cls for constraint in pattern.is_a)


def _attributes(expression: Expression) -> Iterator[NamedNode]:
    match expression:
        case Call(_, arguments):
            yield from chain.from_iterable(map(_attributes, arguments))
        case AttributeTest(path) | AttributeExists(path):
            yield from path


class _Plain(Notation):
    """Expressions for people to read: names as short as in the picture."""

    home = str(HOME)
    words: ClassVar = {"and": "and", "or": "or", "not": "not ", "in": "in", "not in": "not in"}
    negation = NOT
    signs = True

    def __init__(self, names: Names) -> None:
        super().__init__({})
        self.names = names

    def term(self, term: Vertex) -> str:
        return str(term) if isinstance(term, Variable | Home) else self.names.short(term)

    def call(self, name: str, arguments: tuple[Expression, ...]) -> str:
        told = [self.expression(argument) for argument in arguments]
        if name in _INFIX and len(told) == 2:
            return f"{told[0]} {_INFIX[name]} {told[1]}"
        return told[0] if name == "number" else super().call(name, arguments)

    def attribute(self, attribute: AttributeTest | AttributeExists) -> str:
        path = ".".join(map(self.names.short, attribute.path))
        if isinstance(attribute, AttributeExists):
            return f"exists {path}"
        return self.expression(attribute.test).replace(str(VALUE), path)


class _Drawing:
    """One alternative's boxes and arrows."""

    def __init__(self, alternative: Alternative, number: int, names: Names, marks: Marks) -> None:
        self.pattern = alternative.pattern
        self.residual = alternative.residual
        self.number = number
        self.names = names
        self.marks = marks
        self.notation = _Plain(names)
        self.drawn = [arc for arc in self.pattern.arcs if not gives_class(arc)][:ARCS]
        parts = list(conjuncts(self.pattern.filters))
        self.attributes = [part for part in parts if isinstance(part, AttributeTest | AttributeExists)]
        self.filters = [part for part in parts if part not in self.attributes]

    def key(self, vertex: object) -> str:
        return f"{self.number} {vertex}"

    def boxes(self) -> Iterator[Box]:
        vertices: list[Vertex] = [HOME] if self.attributes else []
        vertices += [end for arc in self.drawn for end in (arc.subject, arc.object)]
        if len(self.pattern.arcs) <= ARCS:
            vertices += [arc.subject for arc in self.pattern.arcs if gives_class(arc)]
            vertices += [c.vertex for c in self.pattern.classes] + [c.vertex for c in self.pattern.is_a]
        beside: dict[Vertex, list[str]] = {vertex: [] for vertex in vertices}
        notes: list[str] = []
        for expression in self.filters:
            variables = list(dict.fromkeys(free_variables(expression)))
            alone = len(variables) == 1 and variables[0] in beside and not tests_attributes(expression)
            told = f"{self.marks.sign(expression)}{self.notation.expression(expression)}"
            (beside[variables[0]] if alone else notes).append(told)
        for vertex, said in beside.items():
            yield self.vertex(vertex, said)
        for n, attribute in enumerate(self.attributes):
            line = shortened(f"{self.marks.sign(attribute)}{self.test(attribute)}", _LONGEST)
            yield Box(self.key(n), (line,), "oval", style=self.marks.style(attribute))
        for interest in self.pattern.interests:
            for concept in interest.concepts:
                yield Box(self.key(concept), (shortened(self.names.short(concept)),), tip=str(concept))
            mean = "mean similarity" if len(interest.concepts) > 1 else "similarity"
            notes.append(f"{self.marks.sign(interest)}{mean} > {interest.threshold:g}")
        if notes:
            yield self.note("filters", notes)
        if self.residual:
            yield self.note("residual", [f"{self.marks.sign(self.residual)}SPARQL:", *_query_lines(self.residual)])

    def vertex(self, vertex: Vertex, said: list[str]) -> Box:
        match vertex:
            case Variable():
                shape: Shape = "oval"
            case Literal():
                shape = "square"
            case _:
                shape = "round"
        name = str(vertex) if isinstance(vertex, Variable | Home) else self.names.short(vertex)
        constraints = [c for c in self.pattern.is_a if c.vertex == vertex]
        lines = [f"{name} = {self.marks.stands_for[vertex]}" if vertex in self.marks.stands_for else name]
        lines.append(", ".join(self.classes(vertex)))
        lines += [f"{self.marks.sign(c)}{_SIGNS[c.operator]} {self.names.short(c.cls)}" for c in constraints]
        lines = [shortened(line, _LONGEST) for line in (*lines, *said) if line]
        style: Style = "missing" if any("✗ " in line for line in lines[1:]) else "plain"
        return Box(self.key(vertex), tuple(lines[:_LINES]), shape, vertex == HOME, "; ".join(lines), style)

    def classes(self, vertex: Vertex) -> list[str]:
        """What a vertex should be; that a named thing is a resource goes without saying."""
        stated: list[tuple[object, Vertex]] = [(c, c.cls) for c in self.pattern.classes if c.vertex == vertex]
        stated += [(a, a.object) for a in self.pattern.arcs if gives_class(a) and a.subject == vertex]
        shown = [
            f"{self.marks.sign(part)}{self.names.short(cls)}"
            for part, cls in stated
            if isinstance(cls, NamedNode) and (isinstance(vertex, Variable) or cls not in EVERY_RESOURCE)
        ]
        return list(dict.fromkeys(shown))

    def test(self, attribute: AttributeTest | AttributeExists) -> str:
        if isinstance(attribute, AttributeExists):
            return "anything"
        return self.notation.expression(attribute.test).replace(str(VALUE), "·").removeprefix("· ")

    def note(self, kind: str, lines: list[str]) -> Box:
        shown = lines[:_LINES] + (["…"] if len(lines) > _LINES else [])
        return Box(self.key(kind), tuple(shortened(line, _LONGEST) for line in shown), "note", tip="; ".join(lines))

    def arrows(self) -> Iterator[Arrow]:
        for arc in self.drawn:
            label = str(arc.property) if isinstance(arc.property, Variable) else self.names.short(arc.property)
            told = shortened(f"{self.marks.sign(arc)}{label}")
            yield Arrow(self.key(arc.subject), self.key(arc.object), told, str(arc), style=self.marks.style(arc))
        for n, attribute in enumerate(self.attributes):
            path = ".".join(map(self.names.short, attribute.path))
            yield Arrow(self.key(HOME), self.key(n), shortened(path), style=self.marks.style(attribute))


def _query_lines(residual: Residual) -> list[str]:
    """A residual's query without its prefixes."""
    text = re.sub(r"PREFIX\s+\S*\s*<[^>]*>\s*", "", residual.query, flags=re.IGNORECASE)
    return [line for line in text.splitlines() if line.strip()]
