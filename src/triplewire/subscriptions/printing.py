"""A pattern printed back in ``ops`` and in ``sparql``, so that it means there what it means here.

What a language cannot say is refused by a ``SubscriptionError`` that names it. The model decides in doubt: an arc that
looks at one part of G* can be said in a language that looks at another only where the two hold the same arcs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count
from typing import ClassVar, TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_RESOURCE, THINGS, ConceptModel, reachable
from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import RDF, RDFS, TW, XSD
from triplewire.subscriptions.attributes import tests_attributes
from triplewire.subscriptions.functions import FUNCTIONS, LAZY_FUNCTIONS
from triplewire.subscriptions.notation import AND, ARITHMETIC, ATOM, COMPARISONS, NOT, OR, Notation
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Home,
    Pattern,
    Scope,
    Variable,
    Vertex,
    free_variables,
)

_FUNCTIONS = {name.lower(): name for name in ("sameTerm", "isIRI", "isBlank", "isLiteral", "isNumeric", "langMatches")}
_Statement: TypeAlias = tuple[Arc, NamedNode, NamedNode]

_NAME = re.compile(r"[0-9A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u3001-\ud7ff]+")
_OPS_CALLS = {*COMPARISONS, *ARITHMETIC, "and", "or", "not", "in", "negate", "~", *FUNCTIONS, *LAZY_FUNCTIONS}
_LOOKS = {
    Scope.ASSERTED: "matches the event as asserted",
    Scope.RELATIONS: "matches nothing that comes from rdf:type",
    Scope.CLOSED: "also matches what comes from rdf:type",
}


def as_ops(pattern: Pattern, prefixes: Mapping[str, str], model: ConceptModel) -> str:
    """The pattern as ``ops``, a statement pattern a line. Its mapping is for the record to tell."""
    _check_ops(pattern, model)
    notation = _Ops(prefixes)
    statements = list(_statements(pattern))
    lines = []
    for (arc, *classes), filters in zip(statements, _placed(statements, pattern.filters), strict=True):
        meta = ", ".join(map(notation.term, (classes[0], arc.property, classes[1])))
        line = f"{notation.term(arc.subject)}, {notation.term(arc.object)}, ({meta})"
        condition = " and ".join(notation.expression(f, OR if len(filters) == 1 else NOT) for f in filters)
        lines.append(f"({line}, {condition})" if condition else f"({line})")
    return "\n".join(lines)


def as_sparql(pattern: Pattern, prefixes: Mapping[str, str], model: ConceptModel) -> str:
    """The pattern as a ``SELECT`` query that stands alone; its solutions are the pattern's mappings.

    In a query filters are read as SPARQL is, which differs from ours in negations over ill-typed data
    (docs/decisions/003-filters.md).
    """
    if pattern.is_a:
        raise _cannot(
            "sparql", f"say where {pattern.is_a[0].vertex} stands in the taxonomy (is-a): G* holds none of it"
        )
    if pattern.interests or pattern.is_graded:
        raise _cannot("sparql", "ask for similarity")
    for arc in pattern.arcs:
        if isinstance(arc.subject, Literal):
            raise _cannot("sparql", f"have the literal {arc.subject} for a subject")
        _check_scope("sparql", arc, Scope.CLOSED, model)
    for variable in sorted(pattern.variables, key=str):
        if not _NAME.fullmatch(variable.name):
            raise _cannot("sparql", f"have a variable of the name {variable}")
    return _Query(pattern, prefixes, model).text()


def _cannot(language: str, what: str) -> SubscriptionError:
    return SubscriptionError(f"cannot {what}.", language=language)


def _check_scope(language: str, arc: Arc, known: Scope, model: ConceptModel) -> None:
    """Refuse an arc that, with the scope that the language knows, would match other arcs of some event."""
    if arc.scope != known and not (isinstance(arc.property, NamedNode) and _alike(arc, known, model)):
        raise _cannot(language, f"say {arc}, an arc that {_LOOKS[arc.scope]}")


def _alike(arc: Arc, scope: Scope, model: ConceptModel) -> bool:
    """Whether under this model the arcs with a property are the same in two scopes, in every event."""
    others = {RDF.type}
    if Scope.ASSERTED in (arc.scope, scope):
        others |= model.properties | {RDFS.member, RDF["_1"]}
    entailed = {(p, p != q or back) for q in others for p, back in model.entailed(q)}
    return arc.property != RDF.type and (arc.property, True) not in entailed


# ops


class _Ops(Notation):
    home = str(HOME)
    words: ClassVar = {"and": "and", "or": "or", "not": "not ", "in": "in", "not in": "not in"}
    negation = NOT
    signs = False

    def attribute(self, attribute: AttributeTest | AttributeExists) -> str:
        raise _cannot("ops", "test an attribute without binding it")


def _check_ops(pattern: Pattern, model: ConceptModel) -> None:
    if pattern.is_a:
        raise _cannot("ops", f"say where {pattern.is_a[0].vertex} stands in the taxonomy (is-a)")
    if pattern.interests:
        raise _cannot("ops", "ask for similarity")
    if not any(arc.subject == HOME for arc in pattern.arcs):
        raise _cannot("ops", "say a pattern without an arc from the home vertex")
    ends: dict[Vertex, set[Vertex]] = defaultdict(set)
    for arc in pattern.arcs:
        if isinstance(arc.property, Variable):
            raise _cannot("ops", f"have a variable ({arc.property}) for a property")
        if isinstance(arc.subject, Literal):
            raise _cannot("ops", f"have the literal {arc.subject} for a subject")
        _check_scope("ops", arc, Scope.RELATIONS, model)
        ends[arc.subject].add(arc.object)
    home: Vertex = HOME
    reached: set[Vertex] = reachable(home, lambda vertex: ends[vertex])
    unreached = pattern.vertices - reached
    if unreached:
        raise _cannot("ops", f"speak of {min(map(str, unreached))}, to which no path leads from the home vertex _:H")
    for name in sorted({name for expression in pattern.filters for name in _called(expression)} - _OPS_CALLS):
        what = "compare unlike types as a SPARQL query does" if name == "sparql" else f"call {name}"
        raise _cannot("ops", what)
    free = {v for f in pattern.filters for v in free_variables(f)} - pattern.variables
    if free:
        raise _cannot("ops", f"have a filter on {min(map(str, free))}, which no arc binds")


def _called(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Call):
        yield expression.name
        for argument in expression.arguments:
            yield from _called(argument)


def _statements(pattern: Pattern) -> Iterator[_Statement]:
    """Each arc with a class of either end, and some of them again until all classes are told.

    An end without a class constraint is an ``rdfs:Resource``, as everything is.
    """
    classes: dict[Vertex, list[NamedNode]] = {v: [] for v in pattern.vertices}
    for constraint in pattern.classes:
        classes[constraint.vertex].append(constraint.cls)
    untold = {vertex: list(stated) for vertex, stated in classes.items()}

    def told(vertex: Vertex) -> NamedNode:
        return untold[vertex].pop(0) if untold[vertex] else [*classes[vertex], RDFS.Resource][0]

    for arc in pattern.arcs:
        yield arc, told(arc.subject), told(arc.object)
    for arc in pattern.arcs:
        while untold[arc.subject] or untold[arc.object]:
            yield arc, told(arc.subject), told(arc.object)


def _placed(
    statements: list[tuple[Arc, NamedNode, NamedNode]], filters: Sequence[Expression]
) -> list[list[Expression]]:
    """For each statement the filters that stand with it: those of which it binds the last variable."""
    placed: list[list[Expression]] = [[] for _ in statements]
    for expression in filters:
        missing = set(free_variables(expression))
        for n, (arc, *_) in enumerate(statements):
            missing -= {arc.subject, arc.object}
            if not missing:
                placed[n].append(expression)
                break
    return placed


# sparql


class _Sparql(Notation):
    home = "tw:home"
    words: ClassVar = {"and": "&&", "or": "||", "not": "!", "in": "IN", "not in": "NOT IN"}
    negation = ATOM
    signs = True

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__({**prefixes, "tw": TW.base})

    def call(self, name: str, arguments: tuple[Expression, ...]) -> str:
        told = [self.expression(argument) for argument in arguments]
        if name == "number":
            read = ", ".join(f"{self.iri(kind)}({told[0]})" for kind in (XSD.integer, XSD.decimal, XSD.double))
            return f"IF(datatype({told[0]}) = {self.iri(XSD.string)}, COALESCE({read}, {told[0]}), {told[0]})"
        if name.startswith("xsd:"):
            return f"{self.iri(XSD[name.removeprefix('xsd:')])}({', '.join(told)})"
        return f"{_FUNCTIONS.get(name, name.upper())}({', '.join(told)})"

    def attribute(self, attribute: AttributeTest | AttributeExists) -> str:
        raise _cannot("sparql", "test an attribute inside a function's call")


class _Query:
    """One pattern's query in the making."""

    def __init__(self, pattern: Pattern, prefixes: Mapping[str, str], model: ConceptModel) -> None:
        self.pattern = pattern
        self.model = model
        self.notation = _Sparql(prefixes)
        used = {v.name for v in pattern.variables} | {v.name for f in pattern.filters for v in free_variables(f)}
        self.fresh = (Variable(f"v{n}") for n in count(1) if f"v{n}" not in used)
        ends = {v for v in pattern.vertices if isinstance(v, Home | NamedNode)}
        self.never_literal = ends | {arc.subject for arc in pattern.arcs}

    def text(self) -> str:
        lines = [*self.arcs(), *self.loose_vertices(), *self.classes()]
        lines += [f"FILTER({condition})" for condition in (*self.filters(), *self.apart())]
        chosen = " ".join(sorted(map(str, self.pattern.variables))) or "*"
        where = "".join(f"  {line}\n" for line in dict.fromkeys(lines))
        query = f"SELECT DISTINCT {chosen} WHERE {{\n{where}}}"
        return "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in self.prefixes(query)) + query

    def prefixes(self, query: str) -> Iterator[tuple[str, str]]:
        """The prefixes that a query uses, in order."""
        bare = re.sub(r'"(?:[^"\\]|\\.)*"|<[^<>\s]*>', "", query)
        used = set(re.findall(r"(?<![\w\-])([\w\-]*):", bare))
        return ((name, iri) for name, iri in sorted(self.notation.prefixes.items()) if name in used)

    def datatypes(self, cls: NamedNode) -> list[NamedNode]:
        """The datatypes at or below a class, itself first; the universal classes are no matter of datatypes."""
        if cls in EVERY_RESOURCE:
            return []
        below = (c for c in self.model.subclasses(cls) if self.model.is_subclass(c, RDFS.Literal))
        return sorted(below, key=lambda c: (c != cls, self.notation.iri(c)))

    def arcs(self) -> Iterator[str]:
        for arc in self.pattern.arcs:
            property_ = "a" if arc.property == RDF.type else self.notation.term(arc.property)
            yield f"{self.notation.term(arc.subject)} {property_} {self.notation.term(arc.object)} ."

    def loose_vertices(self) -> Iterator[str]:
        """That the vertices of which constraints alone speak are somewhere in the event."""
        ends = {end for arc in self.pattern.arcs for end in (arc.subject, arc.object)}
        for vertex in sorted(self.pattern.vertices - ends, key=str):
            term, p, other = self.notation.term(vertex), next(self.fresh), next(self.fresh)
            somewhere = f"{{ {other} {p} {term} }}"
            if not isinstance(vertex, Literal):
                somewhere = f"{{ {term} {p} {other} }} UNION {somewhere}"
            yield somewhere if isinstance(vertex, Variable) else f"FILTER(EXISTS {{ {somewhere} }})"

    def classes(self) -> Iterator[str]:
        """The class constraints. A literal has no type in G*: its classes are its datatype and those above it."""
        for constraint in self.pattern.classes:
            vertex, cls = self.notation.term(constraint.vertex), constraint.cls
            datatypes = self.datatypes(cls)
            typed = f"{vertex} a {self.notation.iri(cls)} ."
            among = f"datatype({vertex}) IN ({', '.join(map(self.notation.iri, datatypes))})"
            if isinstance(constraint.vertex, Literal):
                if cls not in self.model.literal_classes(constraint.vertex):
                    yield "FILTER(false)"
            elif cls in EVERY_RESOURCE:
                if cls in THINGS and constraint.vertex not in self.never_literal:
                    yield f"FILTER(!isLiteral({vertex}))"
            elif not datatypes or constraint.vertex in self.never_literal:
                yield typed
            elif cls == RDFS.Literal:
                yield f"FILTER(isLiteral({vertex}))"
            elif cls in datatypes:
                yield f"FILTER({among})"
            else:
                yield f"FILTER(EXISTS {{ {typed} }} || {among})"

    def filters(self) -> Iterator[str]:
        for expression in self.pattern.filters:
            if not tests_attributes(expression):
                yield self.notation.expression(expression)
            elif isinstance(expression, Call) and expression.name == "and":
                yield from map(self.truth, expression.arguments)
            else:
                yield self.truth(expression)

    def truth(self, expression: Expression, wanted: bool = True, level: int = OR) -> str:
        """That an expression over attributes is true, or that it is false; a missing attribute makes it neither."""
        match expression:
            case Call("not", (argument,)):
                return self.truth(argument, not wanted, level)
            case Call("and" | "or" as name, arguments):
                own, sign = (AND, "&&") if (name == "and") == wanted else (OR, "||")
                text = f" {sign} ".join(self.truth(argument, wanted, own) for argument in arguments)
                return text if own >= level else f"({text})"
            case AttributeExists(path):
                return f"{'' if wanted else 'NOT '}EXISTS {{ {self.at_the_end(path, next(self.fresh))} }}"
            case AttributeTest(path, test):
                value = next(self.fresh)
                there = self.at_the_end(path, value)
                held = f"EXISTS {{ {there} FILTER({self.notation.expression(_on(value, test))}) }}"
                return held if wanted else f"EXISTS {{ {there} }} && NOT {held}"
            case _:
                return self.notation.expression(expression if wanted else Call("not", (expression,)), level)

    def at_the_end(self, path: tuple[NamedNode, ...], value: Variable) -> str:
        return f"{self.notation.home} {'/'.join(map(self.notation.iri, path))} {value}"

    def apart(self) -> Iterator[str]:
        """That different vertices are different resources, if the mapping is injective."""
        if self.pattern.mapping == "homomorphic":
            return
        resources = set(self.never_literal)
        literals: set[Vertex] = {v for v in self.pattern.vertices if isinstance(v, Literal)}
        for constraint in self.pattern.classes:
            datatypes = self.datatypes(constraint.cls)
            if constraint.cls in datatypes and constraint.vertex not in self.never_literal:
                literals.add(constraint.vertex)
            elif not datatypes and constraint.cls != RDFS.Resource:
                resources.add(constraint.vertex)
        for one, other in combinations(sorted(self.pattern.vertices - literals, key=self.notation.term), 2):
            a, b = self.notation.term(one), self.notation.term(other)
            if one in resources or other in resources:
                if not (isinstance(one, NamedNode) and isinstance(other, NamedNode)):
                    yield f"!sameTerm({a}, {b})"
            else:
                yield f"isLiteral({a}) || !sameTerm({a}, {b})"


def _on(value: Variable, test: Expression) -> Expression:
    """An attribute's test, asked of a variable."""
    if isinstance(test, Call):
        return Call(test.name, tuple(_on(value, argument) for argument in test.arguments))
    return value if test == VALUE else test
