"""A query's parse tree, by rdflib's parser.

That parser is slow, and the tree depends on the kinds of lexemes alone. So each query is parsed in its *shape*, in
which a number stands for each constant and variable, and queries that differ in these only share the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import rdflib
from pyoxigraph import Literal, NamedNode, Store
from pyparsing import ParseResults
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import RDF, RDFS, XSD
from triplewire.subscriptions.pattern import Variable
from triplewire.subscriptions.sparql_mistakes import mistake
from triplewire.subscriptions.sparql_text import Lexeme, check_prefixes, error_at, iri_of, is_variable, prologue

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_CONSTANTS = ("iri", "name", "string", "number")


@dataclass(frozen=True)
class Shape:
    """What queries that differ in constants and names of variables only have in common; numbers stand for these.

    ``vertices`` are the numbers of the IRIs that stand anywhere but in the place of a property, function or datatype;
    ``rules`` those of the regular expressions, with the numbers of their flags.
    """

    tree: CompValue
    vertices: frozenset[int]
    rules: tuple[tuple[int, int | None], ...]
    triples: int


@dataclass(frozen=True)
class Query:
    """A query's lexemes and shape, and its ``constants`` and ``variables`` by their numbers."""

    text: str
    lexemes: tuple[Lexeme, ...]
    constants: tuple[tuple[Lexeme, NamedNode | Literal], ...]
    variables: tuple[Variable, ...]
    shape: Shape

    @property
    def tree(self) -> CompValue:
        return self.shape.tree

    def term(self, node: Any, blank: Callable[[str], Variable]) -> Variable | NamedNode | Literal:
        """The term that a leaf of the tree is; ``blank`` gives the variable that a blank node stands for."""
        if isinstance(node, rdflib.Variable):
            return self.variable(node)
        if isinstance(node, rdflib.BNode):
            return blank(str(node))
        if isinstance(node, rdflib.URIRef):
            number = _number(node)
            return NamedNode(str(node)) if number is None else self.constants[number][1]
        if isinstance(node, rdflib.Literal):
            return self._number(node)
        text = self.constants[int(node.string)][1].value
        if node.lang:
            return Literal(text, language=str(node.lang))
        datatype = self.term(node.datatype, blank) if node.datatype else None
        return Literal(text, datatype=datatype) if isinstance(datatype, NamedNode) else Literal(text)

    def variable(self, node: Any) -> Variable:
        return self.variables[int(node[1:])]

    def _number(self, node: rdflib.Literal) -> Literal:
        if str(node.datatype) == XSD.boolean.value:
            return Literal(str(node).lower(), datatype=XSD.boolean)
        number = cast(Literal, self.constants[int(abs(float(node))) - 1][1])
        return Literal(f"-{number.value}", datatype=number.datatype) if str(node).startswith("-") else number


def read(text: str, found: list[Lexeme], prefixes: Mapping[str, str]) -> Query:
    """Parse a query whose lexemes are known. ``prefixes`` are known beside those that it declares."""
    declared, base, body = prologue(found)
    known = {**prefixes, **declared}
    if body and body[0].text.upper() in ("PREFIX", "BASE"):
        raise mistake(text, body)
    check_prefixes(text, body, known)
    body = _without_idiom(body, known)
    constants = [lexeme for lexeme in body if lexeme.kind in _CONSTANTS]
    numbers = {lexeme.start: number for number, lexeme in enumerate(constants)}
    names = dict.fromkeys(lexeme.text[1:] for lexeme in body if is_variable(lexeme))
    variables = {name: number for number, name in enumerate(names)}
    try:
        shape = _shape("".join(_shaped(body, numbers, variables)))
    except _BadShapeError:
        raise mistake(text, body) from None
    terms = tuple((lexeme, _constant(text, lexeme, known, base)) for lexeme in constants)
    return Query(text, tuple(body), terms, tuple(map(Variable, names)), shape)


class _BadShapeError(Exception):
    """The parser refuses a shape."""


@lru_cache(maxsize=4096)
def _shape(text: str) -> Shape:
    try:
        tree: CompValue = parseQuery(text)[1]
        vertices = frozenset(_vertices(tree, frozenset(_property_variables(tree))))
        return Shape(tree, vertices, tuple(_rules(tree)), _triples(tree))
    except RecursionError:
        message = "the query is nested too deeply, or has too many triples in a row"
        raise SubscriptionError(message, language="sparql") from None
    except Exception:  # rdflib's parser fails in many ways
        raise _BadShapeError from None


def _shaped(body: list[Lexeme], numbers: Mapping[int, int], variables: Mapping[str, int]) -> Iterator[str]:
    """The query with a number in the place of each constant and variable, of the same kind, and blanks in one form."""
    before = Lexeme("other", "", body[0].start if body else 0)
    for lexeme in body:
        apart = before.kind == "number" or (lexeme.kind == "number" and before.text not in ("+", "-"))
        if lexeme.start > before.end or apart:  # another number might run into what stands beside it
            yield " "
        before = lexeme
        number = numbers.get(lexeme.start)
        if is_variable(lexeme):
            yield f"?v{variables[lexeme.text[1:]]}"
        elif number is None:
            yield lexeme.text
        elif lexeme.kind == "string":
            yield f'"{number}"'
        elif lexeme.kind == "number":
            tail = "e0" if set(lexeme.text.lower()) & set("e.") else ""  # rdflib takes no negative decimals
            yield f"{number + 1}{tail}"  # never 0, which has no sign
        else:
            yield f"<//{number}>"


def _without_idiom(body: list[Lexeme], prefixes: Mapping[str, str]) -> list[Lexeme]:
    """``a/rdfs:subClassOf*`` as ``a``: G* holds the superclasses already, and no triples of an ontology."""
    kept: list[Lexeme] = []
    at = 0
    while at < len(body):
        kept.append(body[at])
        is_type = body[at].text == "a" or iri_of(body[at], prefixes) == RDF.type.value
        path = body[at + 1 : at + 4]
        at += 1
        if (
            is_type
            and len(path) == 3
            and (path[0].text, path[2].text) == ("/", "*")
            and iri_of(path[1], prefixes) == RDFS.subClassOf.value
        ):
            at += 3
    return kept


def _constant(text: str, lexeme: Lexeme, prefixes: Mapping[str, str], base: str | None) -> NamedNode | Literal:
    if lexeme.kind == "string":
        quotes = 3 if lexeme.text[:3] in ('"""', "'''") else 1
        try:
            return Literal(_unescaped(lexeme.text[quotes:-quotes]))
        except ValueError:
            raise error_at(text, lexeme.start, "an escape in this text stands for no character.") from None
    if lexeme.kind == "number":
        kind = XSD.double if "e" in lexeme.text.lower() else XSD.decimal if "." in lexeme.text else XSD.integer
        return Literal(lexeme.text, datatype=kind)
    iri = iri_of(lexeme, prefixes) or ""
    try:
        return _resolved(iri, base) if base is not None and lexeme.kind == "iri" else NamedNode(iri)
    except (ValueError, SyntaxError):
        raise error_at(
            text, lexeme.start, f"{lexeme.text} is no IRI; one begins with a scheme such as http:."
        ) from None


@lru_cache(maxsize=4096)
def _resolved(iri: str, base: str) -> NamedNode:
    (row,) = Store().query(f"BASE <{base}> SELECT (<{iri}> AS ?iri) {{}}")  # type: ignore[misc]
    found: NamedNode = row["iri"]
    return found


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        return chr(int(code, 16)) if code else _ESCAPES.get(found[3], found[3])

    return re.sub(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", character, text, flags=re.DOTALL)


def _number(node: rdflib.URIRef) -> int | None:
    return int(node[2:]) if node.startswith("//") else None


def children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return list(node) if isinstance(node, list | ParseResults) else []


def unwrapped(node: Any) -> Any:
    """An expression without the levels of the grammar that say nothing."""
    while isinstance(node, CompValue) and len(node) == 1 and "expr" in node and not node.name.startswith("Unary"):
        node = node.expr
    return node


def _vertices(node: Any, properties: frozenset[str]) -> Iterator[int]:
    """The numbers of the IRIs that may be vertices; ``properties`` are variables for properties."""
    if isinstance(node, rdflib.URIRef) and (number := _number(node)) is not None:
        yield number
    elif isinstance(node, CompValue) and node.name == "PathAlternative":
        return
    elif isinstance(node, CompValue) and node.name in ("InlineData", "ValuesClause"):
        columns = [str(variable) not in properties for variable in node.var]
        rows = (list(row) if isinstance(row, list | ParseResults) else [row] for row in node.value or [])
        yield from _vertices(
            [cell for row in rows for cell, is_kept in zip(row, columns, strict=False) if is_kept], properties
        )
    elif isinstance(node, CompValue) and node.name in ("Function", "literal"):
        yield from _vertices([child for key, child in node.items() if key not in ("iri", "datatype")], properties)
    else:
        for child in children(node):
            yield from _vertices(child, properties)


def _triples(node: Any) -> int:
    """How many triples are joined: of a union the most of its branches, of several unions together those of all."""
    name = node.name if isinstance(node, CompValue) else ""
    if name == "TriplesBlock":
        return sum(len(flat) // 3 for flat in node.triples)
    if name == "GroupOrUnionGraphPattern":
        return max(map(_triples, node.graph))
    if name == "GroupGraphPatternSub":
        parts = node.part or ()
        others = sum(_triples(part) for part in parts if part.name != "GroupOrUnionGraphPattern")
        unions = [[*map(_triples, part.graph)] for part in parts if part.name == "GroupOrUnionGraphPattern"]
        joined = sum(len(branches) > 1 for branches in unions) > 1
        return others + sum(sum(branches) if joined else max(branches) for branches in unions)
    return sum(map(_triples, children(node)))


def _property_variables(node: Any) -> Iterator[str]:
    if isinstance(node, CompValue) and node.name == "TriplesBlock":
        yield from (
            str(term) for flat in node.triples for term in list(flat)[1::3] if isinstance(term, rdflib.Variable)
        )
    for child in children(node):
        yield from _property_variables(child)


def _rules(node: Any) -> Iterator[tuple[int, int | None]]:
    """The regular expressions that are constants, and whose flags are."""
    if isinstance(node, CompValue) and node.name in ("Builtin_REGEX", "Builtin_REPLACE"):
        rule, flags = _text(node.pattern), _text(node.flags)
        if rule is not None and (flags is not None or not node.flags):
            yield rule, flags
    for child in children(node):
        yield from _rules(child)


def _text(node: Any) -> int | None:
    """The number of the text that an expression is, if it is nothing else."""
    node = unwrapped(node)
    return int(node.string) if isinstance(node, CompValue) and node.name == "literal" and node.string else None
