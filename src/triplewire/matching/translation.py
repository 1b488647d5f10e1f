"""A pattern as a SPARQL query over G*.

G* is the default graph; the event as asserted, its relations and the model are graphs of their own. The home vertex is
the variable ``HOME``, for which the caller substitutes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from pyoxigraph import Literal, NamedNode
from pyoxigraph import Variable as OxVariable

from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE
from triplewire.rdf.terms import TW, WELL_KNOWN_PREFIXES, Resource
from triplewire.subscriptions.pattern import (
    VALUE,
    AttributeExists,
    AttributeTest,
    Call,
    ClassConstraint,
    Expression,
    Home,
    IsA,
    Pattern,
    Scope,
    Variable,
    Vertex,
)

MODEL, ASSERTED, RELATIONS = TW.model, TW.asserted, TW.relations
HOME = OxVariable("home")

_ERROR = 'xsd:integer("no number")'
_BELOW = "(rdfs:subClassOf|owl:sameAs|^owl:sameAs)*"
_ORDER = {"<", "<=", ">", ">="}
_COMPARISONS = _ORDER | {"=", "!="}
_ARITHMETIC = {"+", "-", "*", "/"}
_ORDERED = "(xsd:string, rdf:langString, xsd:boolean, xsd:dateTime, xsd:date, xsd:time)"
_TERM_CALLS = {"coalesce", "if", "number"}
_NUMERIC = "(xsd:integer, xsd:decimal, xsd:float, xsd:double, xsd:long, xsd:int, xsd:short, xsd:byte)"
_MOMENTS = "(xsd:dateTime, xsd:date, xsd:time)"
Names = Mapping[Resource, Resource]


def prefixed(text: str) -> str:
    """A query or update with the well-known prefixes declared."""
    return "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in WELL_KNOWN_PREFIXES.items()) + text


def translate(pattern: Pattern, names: Names) -> str:
    """The query whose solutions are the pattern's mappings, each variable ``?x`` as ``?v_x``."""
    text = _Translation(names)
    where = [text.arc(arc.subject, arc.property, arc.object, arc.scope) for arc in pattern.arcs]
    free = {v for v in pattern.variables if not any(v in (a.subject, a.property, a.object) for a in pattern.arcs)}
    where += [f"{{ SELECT DISTINCT {text.vertex(v)} {{ {text.any_vertex(v)} }} }}" for v in sorted(free, key=str)]
    filters = [text.of_class(c) for c in pattern.classes] + [text.is_a(c) for c in pattern.is_a]
    filters += [text.condition(f) for f in pattern.filters]
    if pattern.mapping == "injective":
        vertices = sorted({text.vertex(v) for v in pattern.vertices})
        filters += [f"isLiteral({a}) || isLiteral({b}) || !sameTerm({a}, {b})" for a, b in combinations(vertices, 2)]
    projection = " ".join(["?home", *sorted(text.vertex(v) for v in pattern.variables)])
    body = "\n".join([*where, *(f"FILTER({condition})" for condition in filters)])
    return prefixed(f"SELECT DISTINCT {projection} WHERE {{\n{body}\n}}")


class _Translation:
    """Writes the parts of one query; names are those under which the event knows things."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.fresh = 0

    def variable(self) -> str:
        self.fresh += 1
        return f"?f_{self.fresh}"

    def vertex(self, vertex: Vertex | NamedNode) -> str:
        match vertex:
            case Variable(name):
                return f"?v_{name}"
            case Home():
                return "?home"
            case NamedNode():
                return str(self.names.get(vertex, vertex))
            case Literal():
                return str(vertex)

    def arc(self, subject: Vertex, property_: NamedNode | Variable, object_: Vertex, scope: Scope) -> str:
        middle = str(property_) if isinstance(property_, NamedNode) else self.vertex(property_)
        triple = f"{self.vertex(subject)} {middle} {self.vertex(object_)} ."
        graph = {Scope.ASSERTED: str(ASSERTED), Scope.RELATIONS: str(RELATIONS), Scope.CLOSED: ""}[scope]
        return f"GRAPH {graph} {{ {triple} }}" if graph else triple

    def any_vertex(self, vertex: Vertex) -> str:
        v, p, x = self.vertex(vertex), self.variable(), self.variable()
        return f"{{ {v} {p} {x} }} UNION {{ {x} {p} {v} }}"

    def of_class(self, constraint: ClassConstraint) -> str:
        vertex, cls = self.vertex(constraint.vertex), constraint.cls
        there = f"EXISTS {{ {self.any_vertex(constraint.vertex)} }}"
        resource = "true" if cls in EVERY_RESOURCE else f"EXISTS {{ {vertex} a {self.vertex(cls)} }}"
        literal = "true" if cls in EVERY_LITERAL else self.datatype_below(vertex, self.vertex(cls))
        if cls in EVERY_RESOURCE - EVERY_LITERAL:
            literal = "false"
        return f"{there} && IF(isLiteral({vertex}), {literal}, {resource})"

    def datatype_below(self, literal: str, cls: str) -> str:
        datatype = self.variable()
        below = f"GRAPH tw:model {{ {datatype} {_BELOW} {cls} }}"
        return f"EXISTS {{ {below} FILTER(sameTerm({datatype}, datatype({literal}))) }}"

    def is_a(self, constraint: IsA) -> str:
        node, cls = self.vertex(constraint.vertex), self.vertex(constraint.cls)
        below, above = self.subclass(node, cls), self.subclass(cls, node)
        not_same = f"!(({below}) && ({above}))"
        match constraint.operator:
            case "<=":
                return self.at_or_below(node, cls)
            case "<":
                return f"({self.at_or_below(node, cls)}) && {not_same}"
            case ">=":
                return self.at_or_below(cls, node)
            case ">":
                return f"({self.at_or_below(cls, node)}) && {not_same}"
            case "=":
                return self.stated(node, cls)
            case "!=":
                return f"!({self.stated(node, cls)})"

    def subclass(self, lower: str, upper: str) -> str:
        path = f"EXISTS {{ GRAPH tw:model {{ {lower} {_BELOW} {upper} }} }}"
        return f"!isLiteral({lower}) && !isLiteral({upper}) && (sameTerm({lower}, {upper}) || {path})"

    def at_or_below(self, lower: str, upper: str) -> str:
        cls, other = self.variable(), self.variable()
        resources = ", ".join(map(str, sorted(EVERY_RESOURCE, key=str)))
        literals = ", ".join(map(str, sorted(EVERY_LITERAL, key=str)))
        instance = (
            f"{upper} IN ({resources}) || EXISTS {{ {lower} a {cls} . GRAPH tw:model {{ {cls} {_BELOW} {upper} }} }} "
            f"|| EXISTS {{ {lower} a {upper} }} "
            f"|| EXISTS {{ GRAPH tw:model {{ {lower} a {other} . {other} {_BELOW} {upper} }} }}"
        )
        value = f"{upper} IN ({literals}) || {self.datatype_below(lower, upper)}"
        return (
            f"!isLiteral({upper}) && (({self.subclass(lower, upper)}) || IF(isLiteral({lower}), {value}, {instance}))"
        )

    def stated(self, node: str, cls: str) -> str:
        parent = f"EXISTS {{ GRAPH tw:model {{ {node} rdfs:subClassOf|a {cls} FILTER(!sameTerm({node}, {cls})) }} }}"
        asserted = f"EXISTS {{ GRAPH tw:asserted {{ {node} a {cls} }} }}"
        return f"IF(isLiteral({node}), sameTerm(datatype({node}), {cls}), {asserted} || {parent})"

    def expression(self, expression: Expression, value: str = "") -> str:
        """A filter's expression; ``value`` is what ``VALUE`` stands for inside an attribute's test."""
        match expression:
            case Call("sparql", (own,)):
                return f"({self.own(own)})"
            case Call(name, arguments):
                conditions = {"and": len(arguments), "or": len(arguments), "not": 1, "if": 1}.get(name, 0)
                told = [self.condition(a, value) for a in arguments[:conditions]]
                return self.call(name, told + [self.expression(a, value) for a in arguments[conditions:]])
            case AttributeExists(path):
                return f"EXISTS {{ ?home {self.path(path)} {self.variable()} }}"
            case AttributeTest(path, test):
                found = self.variable()
                some = f"?home {self.path(path)} {found}"
                return (
                    f"IF(EXISTS {{ ?home {self.path(path)} {self.variable()} }}, "
                    f"EXISTS {{ {some} FILTER({self.condition(test, found)}) }}, {_ERROR})"
                )
            case Variable() if expression == VALUE and value:
                return value
            case _:
                return self.vertex(expression)

    def own(self, expression: Expression) -> str:
        """An expression that Oxigraph is to read in its own way."""
        if not isinstance(expression, Call):
            return self.vertex(expression)  # type: ignore[arg-type]
        arguments = [self.own(argument) for argument in expression.arguments]
        match expression.name:
            case "and" | "or":
                return f"({(' && ' if expression.name == 'and' else ' || ').join(arguments)})"
            case "not" | "negate":
                return f"({'!' if expression.name == 'not' else '-'}{arguments[0]})"
            case "in":
                return f"({arguments[0]} IN ({', '.join(arguments[1:])}))"
            case name if name in _COMPARISONS | _ARITHMETIC:
                return f"({arguments[0]} {name} {arguments[1]})"
            case name if ":" in name:
                return f"{name}({arguments[0]})"
            case name:
                return f"{name.upper()}({', '.join(arguments)})"

    def condition(self, expression: Expression, value: str = "") -> str:
        """An expression that is asked for its truth; only what may be a number or boolean of its own is looked at."""
        text = self.expression(expression, value)
        comes_to_a_term = not isinstance(expression, Call) or expression.name in _TERM_CALLS
        return _truth(text) if comes_to_a_term and not isinstance(expression, AttributeTest | AttributeExists) else text

    def path(self, path: tuple[NamedNode, ...]) -> str:
        return "/".join(map(str, path))

    def call(self, name: str, arguments: list[str]) -> str:
        if name in _ARITHMETIC:
            a, b = arguments
            return f"IF(isNumeric({a}) && isNumeric({b}), {a} {name} {b}, {_ERROR})"
        if name in _ORDER:
            return _ordered(name, *arguments)
        match name:
            case "and":
                return f"({' && '.join(arguments)})"
            case "or":
                return f"({' || '.join(arguments)})"
            case "not":
                return f"(!({arguments[0]}))"
            case "negate":
                return f"(0 - {arguments[0]})"
            case "=":
                return _equal(*arguments)
            case "!=":
                return f"(!{_equal(*arguments)})"
            case "in":
                return f"({' || '.join(_equal(arguments[0], a) for a in arguments[1:]) or 'false'})"
            case "number":
                x = arguments[0]
                read = f"COALESCE(xsd:integer({x}), xsd:decimal({x}), xsd:double({x}), {x})"
                return f"IF(isLiteral({x}) && sameTerm(datatype({x}), xsd:string), {read}, {x})"
            case _:
                return f"{name.upper()}({', '.join(arguments)})"


def _truth(a: str) -> str:
    """A condition; a number or boolean that is ill-formed is false, where Oxigraph calls it an error."""
    boolean = f'(datatype({a}) = xsd:boolean && !(STR({a}) IN ("true", "false", "1", "0")))'
    number = f"(datatype({a}) IN {_NUMERIC} && !isNumeric({a}))"
    return f"IF(isLiteral({a}) && ({boolean} || {number}), false, {a})"


def _equal(a: str, b: str) -> str:
    """``=`` where unlike types, and times that a missing zone leaves open, are an error; Oxigraph says unequal."""
    same_type = f"sameTerm(datatype({a}), datatype({b}))"
    numbers = f"(isNumeric({a}) && isNumeric({b}))"
    certain = f"IF(datatype({a}) IN {_MOMENTS}, {a} = {b} || {a} < {b} || {a} > {b}, true)"
    like = f"{numbers} || ({same_type} && datatype({a}) IN {_ORDERED} && {certain})"
    return f"IF(!isLiteral({a}) || !isLiteral({b}) || sameTerm({a}, {b}) || {like}, {a} = {b}, {_ERROR})"


def _ordered(name: str, a: str, b: str) -> str:
    """An order comparison. NaN is in no order, false is before true, what has no order is an error beside itself too.

    Oxigraph sees all three otherwise.
    """
    numbers = f"IF({a} = {a} && {b} = {b}, {a} {name} {b}, false)"
    others = (
        f"isLiteral({a}) && isLiteral({b}) && sameTerm(datatype({a}), datatype({b})) && datatype({a}) IN {_ORDERED}"
    )
    truths = f"xsd:integer({a}) {name} xsd:integer({b})"
    ordered = f"IF(sameTerm(datatype({a}), xsd:boolean), {truths}, {a} {name} {b})"
    return f"IF(isNumeric({a}) && isNumeric({b}), {numbers}, IF({others}, {ordered}, {_ERROR}))"
