"""``ops``: the OPS paper's statement patterns, ``(subject, object, (class, property, class), filter)``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lark import Token
from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import reachable
from triplewire.subscriptions.grammar import TermBuilder, call, check_depth, parse
from triplewire.subscriptions.pattern import (
    DEFAULT_THRESHOLD,
    HOME,
    Arc,
    Call,
    ClassConstraint,
    Expression,
    Home,
    Pattern,
    Scope,
    Variable,
    Vertex,
    free_variables,
)
from triplewire.subscriptions.pattern import Mapping as MappingKind

GRAMMAR = r"""
start: statement+
!statement: "(" vertex "," vertex "," "(" iri "," iri "," iri ")" ("," disjunction)? ")"

?vertex: variable | home | iri | literal | signed
variable: VARIABLE
home: BLANK
signed: SIGN NUMBER

?disjunction: conjunction
            | conjunction (OR conjunction)+ -> disjunction
?conjunction: negation
            | negation (AND negation)+ -> conjunction
?negation: (NOT | "!") negation -> negation
         | comparison
?comparison: sum
           | sum COMPARE sum -> compare
           | sum IN "(" arguments ")" -> within
           | sum NOT IN "(" arguments ")" -> without
           | sum SIMILAR iri threshold? -> similar
?sum: product
    | sum "+" product -> add
    | sum "-" product -> subtract
?product: unary
        | product "*" unary -> multiply
        | product "/" unary -> divide
?unary: atom
      | "-" unary -> negate
?atom: "(" disjunction ")"
     | NAME "(" arguments ")" -> call
     | variable | home | iri | literal
arguments: (disjunction ("," disjunction)*)?
threshold: AT NUMBER

PNAME.2: /([A-Za-z][\w\-]*)?:([\w](?:[\w.\-%]*[\w\-%])?)?/
VARIABLE: /\?\w+/
BLANK: /_:[\w.\-]+/
NAME: /[A-Za-z_]\w*(?=\s*\()/
SIGN: /[+-](?=[0-9.])/
AT: "@"
"""


@dataclass(frozen=True)
class Statement:
    subject: Vertex
    object: Vertex
    meta: tuple[NamedNode, NamedNode, NamedNode]
    filter: Expression | None
    where: Token


def parse_ops(
    text: str, prefixes: Mapping[str, str], mapping: MappingKind = "injective", threshold: float = DEFAULT_THRESHOLD
) -> Pattern:
    """The pattern that a text of statement patterns says. The threshold is that of similarities that give none."""
    builder = _Builder("ops", text, prefixes, threshold)
    statements: list[Statement] = parse("ops", GRAMMAR, text, builder)
    arcs, classes, filters = [], [], []
    for s in statements:
        subject_class, property_, object_class = s.meta
        arcs.append(Arc(s.subject, property_, s.object, Scope.RELATIONS))
        classes += [ClassConstraint(s.subject, subject_class), ClassConstraint(s.object, object_class)]
        if s.filter is not None:
            check_depth(s.filter, "ops")
            filters.append(s.filter)
    pattern = Pattern(
        arcs=tuple(dict.fromkeys(arcs)),
        classes=tuple(dict.fromkeys(classes)),
        filters=tuple(dict.fromkeys(filters)),
        mapping=mapping,
    )
    builder.check_bound(pattern)
    _check_reachable(pattern, statements, builder)
    return pattern


class _Builder(TermBuilder):
    """Builds statements out of a parse tree, and remembers where each variable was first seen in a filter."""

    def __init__(self, language: str, text: str, prefixes: Mapping[str, str], threshold: float) -> None:
        super().__init__(language, text, prefixes, threshold)
        self.seen: dict[Variable, Token] = {}

    def check_bound(self, pattern: Pattern) -> None:
        for expression in pattern.filters:
            for variable in free_variables(expression):
                if variable not in pattern.variables:
                    bound = ", ".join(sorted(map(str, pattern.variables))) or "none"
                    message = f"the filter uses {variable}, which no statement binds. Bound here: {bound}."
                    raise self.fail(message, self.seen[variable])

    def start(self, children: list[Statement]) -> list[Statement]:
        return children

    def statement(self, children: list[Any]) -> Statement:
        where: Token = children[0]
        subject, object_, *rest = (child for child in children if not isinstance(child, Token))
        if isinstance(subject, Literal):
            raise self.fail(f"the literal {subject} cannot be a subject.", where)
        condition = rest[3] if len(rest) > 3 else None
        return Statement(subject, object_, (rest[0], rest[1], rest[2]), condition, where)

    def variable(self, children: list[Token]) -> Variable:
        variable = Variable(self.skeleton.own(children[0])[1:])
        self.seen.setdefault(variable, children[0])
        return variable

    def home(self, children: list[Token]) -> Home:
        if children[0] != str(HOME):
            name = children[0][2:]
            raise self.fail(
                f"{children[0]} is no vertex that a subscription can name.", children[0], nearest=f"?{name}"
            )
        return HOME

    def compare(self, children: list[Any]) -> Expression:
        left, operator, right = children
        return Call(str(operator), (left, right))

    def within(self, children: list[Any]) -> Expression:
        return Call("in", (children[0], *children[-1]))

    def without(self, children: list[Any]) -> Expression:
        return Call("not", (self.within(children),))

    def similar(self, children: list[Any]) -> Expression:
        vertex, sign, concept, *threshold = children
        if not isinstance(vertex, Variable | Home):
            raise self.fail("a variable, or _:H for the whole event, can be similar to a concept.", sign)
        return self.near(vertex, concept, threshold)

    def add(self, children: list[Any]) -> Expression:
        return Call("+", tuple(children))

    def subtract(self, children: list[Any]) -> Expression:
        return Call("-", tuple(children))

    def multiply(self, children: list[Any]) -> Expression:
        return Call("*", tuple(children))

    def divide(self, children: list[Any]) -> Expression:
        return Call("/", tuple(children))

    def negate(self, children: list[Any]) -> Expression:
        return Call("negate", tuple(children))

    def arguments(self, children: list[Any]) -> list[Expression]:
        return children

    def call(self, children: list[Any]) -> Expression:
        return call(children[0], children[1], self.fail)


def _check_reachable(pattern: Pattern, statements: list[Statement], builder: _Builder) -> None:
    """The OPS restrictions: a statement about the home vertex, and a path from it to every other vertex."""
    if not any(arc.subject == HOME for arc in pattern.arcs):
        raise builder.fail("no statement has the home vertex _:H for its subject.", statements[0].where)
    ends: dict[Vertex, set[Vertex]] = defaultdict(set)
    for arc in pattern.arcs:
        ends[arc.subject].add(arc.object)
    home: Vertex = HOME
    reached = reachable(home, lambda vertex: ends[vertex])
    for statement in statements:
        if statement.subject not in reached:
            raise builder.fail(f"no path leads from the home vertex _:H to {statement.subject}.", statement.where)
