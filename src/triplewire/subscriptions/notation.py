"""Terms and expressions as a language writes them: short names, numbers, precedence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import WELL_KNOWN_PREFIXES, XSD
from triplewire.subscriptions.pattern import AttributeExists, AttributeTest, Call, Expression, Home, Variable, Vertex

OR, AND, NOT, COMPARISON, SUM, PRODUCT, UNARY, ATOM = range(8)
"""How close the kinds of expressions bind."""

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
ARITHMETIC = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}

_LOCAL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?")
_BARE = {
    XSD.integer: re.compile(r"-?[0-9]+"),
    XSD.decimal: re.compile(r"-?[0-9]*\.[0-9]+"),
    XSD.double: re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD.boolean: re.compile(r"true|false"),
}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED = re.compile(r'[\\"\n\r\t\x08\f]')


def quoted(text: str) -> str:
    """A text in quotes, escaped as Turtle, SPARQL and our own grammars read it."""
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES[found.group()], text) + '"'


class Notation:
    """How one language writes terms and expressions; its words are the class's, and a language has its own class."""

    home: ClassVar[str]
    words: ClassVar[Mapping[str, str]]  # for and, or, not, in, not in
    negation: ClassVar[int]  # what "not" binds
    signs: ClassVar[bool]  # whether -3 is a number, and not the negative of one

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = WELL_KNOWN_PREFIXES | dict(prefixes)

    def term(self, term: Vertex) -> str:
        """A vertex or constant."""
        match term:
            case Variable():
                return str(term)
            case Home():
                return self.home
            case NamedNode():
                return self.iri(term)
            case Literal():
                return self._literal(term)

    def iri(self, iri: NamedNode) -> str:
        """An IRI with the prefix that says most of it, of several the first in order; written out if none fits."""
        fits = [
            (-len(space), prefix)
            for prefix, space in self.prefixes.items()
            if iri.value.startswith(space) and _LOCAL.fullmatch(iri.value, len(space))
        ]
        if not fits:
            return str(iri)
        length, prefix = min(fits)
        return f"{prefix}:{iri.value[-length:]}"

    def expression(self, expression: Expression, level: int = OR) -> str:
        """An expression where one that binds as close as ``level`` may stand; in parentheses if it binds less."""
        text, own = self._expression(expression)
        return text if own >= level else f"({text})"

    def call(self, name: str, arguments: tuple[Expression, ...]) -> str:
        """A function's call."""
        return f"{name}({', '.join(map(self.expression, arguments))})"

    def similar(self, vertex: Expression, concept: str, threshold: str) -> str:
        """That a vertex is similar to a concept."""
        return f"{self.expression(vertex, SUM)} ~ {concept} @ {threshold}"

    def attribute(self, attribute: AttributeTest | AttributeExists) -> str:
        """A test of the home vertex's attribute."""
        raise NotImplementedError

    def _literal(self, literal: Literal) -> str:
        if literal.language:
            return f"{quoted(literal.value)}@{literal.language}"
        if literal.datatype == XSD.string:
            return quoted(literal.value)
        bare = _BARE.get(literal.datatype)
        if bare and bare.fullmatch(literal.value) and (self.signs or literal.value[0] != "-"):
            return literal.value
        return f"{quoted(literal.value)}^^{self.iri(literal.datatype)}"

    def _expression(self, expression: Expression) -> tuple[str, int]:
        """An expression, and how close it binds."""
        match expression:
            case Call("and" | "or" as name, (_, _, *_) as arguments):
                level = AND if name == "and" else OR
                return f" {self.words[name]} ".join(self.expression(a, level + 1) for a in arguments), level
            case Call("~", (vertex, concept, threshold)):
                return self.similar(vertex, self.expression(concept), self.expression(threshold)), COMPARISON
            case Call("sparql", (argument,)):  # marks how it is read, not what it says
                return self._expression(argument)
            case Call("not", (Call("in", arguments),)):
                return self._within("not in", arguments), COMPARISON
            case Call("in", arguments):
                return self._within("in", arguments), COMPARISON
            case Call("not", (argument,)):
                return f"{self.words['not']}{self.expression(argument, self.negation)}", min(self.negation, UNARY)
            case Call("negate", (argument,)):
                return f"-{self.expression(argument, ATOM)}", UNARY
            case Call(name, (left, right)) if name in COMPARISONS:
                return f"{self.expression(left, SUM)} {name} {self.expression(right, SUM)}", COMPARISON
            case Call(name, (left, right)) if name in ARITHMETIC:
                level = ARITHMETIC[name]
                return f"{self.expression(left, level)} {name} {self.expression(right, level + 1)}", level
            case Call(name, arguments):
                return self.call(name, arguments), ATOM
            case AttributeExists():
                return self.attribute(expression), NOT
            case AttributeTest(_, test):
                return self.attribute(expression), self._expression(test)[1]
            case _:
                text = self.term(expression)
                return text, UNARY if text.startswith("-") else ATOM

    def _within(self, word: str, arguments: tuple[Expression, ...]) -> str:
        needle, *hay = arguments
        return f"{self.expression(needle, SUM)} {self.words[word]} ({', '.join(map(self.expression, hay))})"
