"""The conditions of a SPARQL query as filters.

A query means what Oxigraph answers. A filter that is true of the same mappings however it is read is given plainly, so
that patterns of different languages are equal; any other is marked by the call ``sparql``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyoxigraph import Literal, NamedNode
from rdflib.plugins.sparql.parserutils import CompValue

from triplewire.rdf.terms import XSD
from triplewire.rdf.values import Moment, Number, Text
from triplewire.subscriptions.functions import BadRegexError, compiled
from triplewire.subscriptions.oxigraph import OWN, known
from triplewire.subscriptions.pattern import Call, Expression, Home, Variable
from triplewire.subscriptions.sparql_tree import children, unwrapped

Leaf = Callable[[Any], Variable | Home | NamedNode | Literal]

_CHAINS = {"ConditionalOrExpression": "or", "ConditionalAndExpression": "and"}
_SUMS = ("AdditiveExpression", "MultiplicativeExpression")
_UNARY = {"UnaryNot": "not", "UnaryMinus": "negate"}
_LAZY = ("if", "coalesce", "bound")
_RENAMED = {"uri": "iri", "isuri": "isiri"}
_CASTS = ("string", "integer", "decimal", "float", "double", "boolean")
_COMPARISONS = ("=", "<", "<=", ">", ">=")

_ALIKE = frozenset(
    "regex contains strstarts strends strbefore strafter concat strlen ucase lcase encode_for_uri abs ceil floor round "
    "str lang langmatches isiri isblank isliteral isnumeric sameterm bound".split()
)
_TRUTHS = frozenset(
    "regex contains strstarts strends langmatches isiri isblank isliteral isnumeric sameterm bound".split()
)
_SEES_NAMES = frozenset("str isiri isblank iri xsd:string".split())


class NotCompiledError(Exception):
    """An expression that only Oxigraph evaluates."""


def conjuncts(node: Any) -> Iterator[Any]:
    """The conditions that must all hold for a condition to hold."""
    node = unwrapped(node)
    if isinstance(node, CompValue) and node.name == "ConditionalAndExpression":
        for part in (node.expr, *node.other):
            yield from conjuncts(part)
    else:
        yield node


def expression(node: Any, leaf: Leaf) -> Expression:
    """An expression of the parse tree; ``leaf`` gives the term or variable that a leaf is."""
    node = unwrapped(node)
    if not isinstance(node, CompValue) or node.name == "literal":
        return leaf(node)
    name = node.name
    if name in _CHAINS:
        return Call(_CHAINS[name], tuple(expression(part, leaf) for part in (node.expr, *node.other)))
    if name == "RelationalExpression":
        return _relation(node, leaf)
    if name in _SUMS:
        return _sum(node, leaf)
    if name in _UNARY:
        inner = expression(node.expr, leaf)
        if name == "UnaryMinus" and isinstance(inner, Literal) and _is_number(inner) and inner.value[0].isdigit():
            return Literal(f"-{inner.value}", datatype=inner.datatype)
        return Call(_UNARY[name], (inner,))
    if name == "UnaryPlus":
        return Call("+", (Literal(0), expression(node.expr, leaf)))
    if name == "Function":
        return _cast(node, leaf)
    if name.startswith("Builtin_"):
        return _function(name.removeprefix("Builtin_").lower(), node, leaf)
    raise NotCompiledError(name)


def _relation(node: CompValue, leaf: Leaf) -> Expression:
    left = expression(node.expr, leaf)
    if node.op not in ("IN", "NOT IN"):
        return Call(str(node.op), (left, expression(node.other, leaf)))
    hay = tuple(expression(part, leaf) for part in children(node.other))
    if not hay:
        raise NotCompiledError("IN ()")
    found = Call("in", (left, *hay))
    return found if node.op == "IN" else Call("not", (found,))


def _sum(node: CompValue, leaf: Leaf) -> Expression:
    found = expression(node.expr, leaf)
    for sign, other in zip(node.op, node.other, strict=True):
        found = Call(str(sign), (found, expression(other, leaf)))
    return found


def _cast(node: CompValue, leaf: Leaf) -> Expression:
    iri = leaf(node.iri)
    arguments = tuple(expression(part, leaf) for part in children(node.expr))
    local = iri.value.removeprefix(XSD.base) if isinstance(iri, NamedNode) else ""
    if local not in _CASTS or len(arguments) != 1:
        raise NotCompiledError(str(iri))
    return Call(f"xsd:{local}", arguments)


def _function(name: str, node: CompValue, leaf: Leaf) -> Expression:
    name = _RENAMED.get(name, name)
    if name not in OWN and name not in _LAZY:
        raise NotCompiledError(name)
    parts = [part for child in node.values() for part in (children(child) if _is_list(child) else [child])]
    arguments = tuple(expression(part, leaf) for part in parts)
    if name in ("regex", "replace") and not _is_plain_rule(name, arguments):
        raise NotCompiledError(name)
    return Call(name, arguments)


def _is_list(node: Any) -> bool:
    return not isinstance(node, CompValue) and bool(children(node))


def _is_plain_rule(name: str, arguments: tuple[Expression, ...]) -> bool:
    """Whether RE2 and Oxigraph's regular expressions come to the same."""
    constants = [argument.value for argument in arguments[1:] if isinstance(argument, Literal)]
    if len(constants) < len(arguments) - 1:
        return False
    if name == "regex":
        return True
    try:
        empty = compiled(constants[0], *constants[2:]).search("") is not None
    except BadRegexError:
        return False
    return not empty and not set(constants[1]) & set("$\\")


def as_filter(condition: Expression) -> Expression:
    """The condition as a filter that is true where Oxigraph finds it true."""
    if _agrees(condition):
        return condition
    if _may_add_dates(condition):
        raise NotCompiledError("arithmetic on what may be dates")
    return Call("sparql", (condition,))


def sees_names(condition: Expression) -> bool:
    """Whether an expression looks at what a vertex is called, not only at which one it is."""
    match condition:
        case Call(name, arguments):
            return name in _SEES_NAMES or any(map(sees_names, arguments))
        case _:
            return False


def _agrees(condition: Expression) -> bool:
    """Whether a condition is true of the same terms in both readings; they may differ in what is false or an error."""
    match condition:
        case Call("and" | "or", arguments):
            return all(map(_agrees, arguments))
        case Call("in", (needle, *hay)):
            return all(_compares("=", needle, straw) for straw in hay)
        case Call(name, (left, right)) if name in _COMPARISONS:
            return _compares(name, left, right)
        case Call("not", (inner,)):
            return isinstance(inner, Call) and inner.name in _TRUTHS and _alike(inner)
        case Call(name, _):
            return name in _TRUTHS and _alike(condition)
        case _:
            return False


def _compares(name: str, left: Expression, right: Expression) -> bool:
    """Whether a comparison with a constant of a known kind is true of the same terms in both readings."""
    for constant, other in ((left, right), (right, left)):
        if isinstance(constant, NamedNode | Home):
            return name == "=" and _alike(other)
        if isinstance(constant, Literal):
            match known(constant):
                case Number(_, number):
                    return number == number and _alike_if_number(other)
                case Text():
                    return _alike(other)
                case Moment() if constant.datatype in (XSD.dateTime, XSD.date, XSD.time):
                    return _alike(other)
                case bool():
                    return name == "=" and _alike(other)
    return False


def _alike(operand: Expression) -> bool:
    """Whether an operand comes to the same term, or to an error, in both readings."""
    match operand:
        case Call(name, arguments):
            return name in _ALIKE and all(map(_alike, arguments))
        case _:
            return True


def _alike_if_number(operand: Expression) -> bool:
    """Whether an operand comes to the same number in both readings, if to a number in one of them."""
    match operand:
        case Call("+" | "-" | "*", arguments):
            return all(map(_alike_if_number, arguments))
        case _:
            return _alike(operand)


def _may_add_dates(condition: Expression) -> bool:
    match condition:
        case Call("+" | "-", arguments) if not any(map(_is_number, arguments)):
            return True
        case Call(_, arguments):
            return any(map(_may_add_dates, arguments))
        case _:
            return False


def _is_number(operand: Expression) -> bool:
    """Whether an operand can come to nothing but a number."""
    match operand:
        case Call(name, _):
            return name in ("*", "/", "negate", "strlen", "abs", "ceil", "floor", "round")
        case Literal():
            return isinstance(known(operand), Number)
        case _:
            return False
