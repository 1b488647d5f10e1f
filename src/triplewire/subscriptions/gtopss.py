"""``gtopss``: G-ToPSS's 5-tuples, ``[subject, property, object, [subject constraints], [object constraints]]``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, get_args

from pyoxigraph import Literal, NamedNode

from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES, XSD
from triplewire.rdf.values import is_numeric_type
from triplewire.subscriptions.grammar import expand, parse_json
from triplewire.subscriptions.pattern import (
    HOME,
    Arc,
    Call,
    Comparison,
    Expression,
    IsA,
    Pattern,
    Scope,
    Variable,
    Vertex,
)
from triplewire.subscriptions.pattern import Mapping as MappingKind

OPERATORS: tuple[str, ...] = get_args(Comparison)

_PREFIXED = re.compile(r"([A-Za-z][\w\-]*)?:[\w.\-%]*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(//\S*|\S*[:/#]\S*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(\S+))?')


def parse_gtopss(pattern: object, prefixes: Mapping[str, str], mapping: MappingKind = "homomorphic") -> Pattern:
    """The pattern that a list of 5-tuples says. All its arcs are exact."""
    tuples = parse_json("gtopss", pattern) if isinstance(pattern, str) else pattern
    if not isinstance(tuples, list) or not tuples:
        raise _error("the pattern should be a non-empty array of 5-tuples")
    known = WELL_KNOWN_PREFIXES | dict(prefixes)
    arcs: list[Arc] = []
    constraints: list[IsA | Expression] = []
    for number, entry in enumerate(tuples, 1):
        arc, more = _tuple(entry, known, f"tuple {number}")
        arcs.append(arc)
        constraints += more
    unique = dict.fromkeys(constraints)
    return Pattern(
        arcs=tuple(dict.fromkeys(arcs)),
        is_a=tuple(c for c in unique if isinstance(c, IsA)),
        filters=tuple(c for c in unique if not isinstance(c, IsA)),
        mapping=mapping,
    )


def _tuple(entry: object, prefixes: Mapping[str, str], where: str) -> tuple[Arc, list[IsA | Expression]]:
    if not isinstance(entry, list) or not 3 <= len(entry) <= 5:
        raise _error(f"{where}: expected [subject, property, object, [constraints], [constraints]], not {_show(entry)}")
    subject, property_, object_ = (_term(entry[i], prefixes, f"{where}, place {i + 1}") for i in range(3))
    if isinstance(subject, Literal):
        raise _error(f"{where}: the literal {subject} cannot be a subject")
    if not isinstance(property_, NamedNode | Variable):
        raise _error(f"{where}: a property is an IRI or a variable, not {_show(entry[1])}")
    constraints = []
    for vertex, index in ((subject, 3), (object_, 4)):
        place = f"{where}, place {index + 1}"
        stated = entry[index] if len(entry) > index and entry[index] is not None else []
        if not isinstance(stated, list):
            raise _error(f"{place}: expected an array of constraints, not {_show(stated)}")
        constraints += [_constraint(c, vertex, prefixes, place) for c in stated]
    return Arc(subject, property_, object_, Scope.ASSERTED), constraints


def _constraint(stated: object, vertex: Vertex, prefixes: Mapping[str, str], where: str) -> IsA | Expression:
    if not isinstance(stated, list) or len(stated) != 3:
        raise _error(f'{where}: a constraint is ["?x", operator, value], not {_show(stated)}')
    variable, operator, operand = stated
    if not isinstance(vertex, Variable) or variable != str(vertex):
        raise _error(f"{where}: the constraint is on {_show(variable)}, but {vertex} stands here")
    if operator not in OPERATORS:
        raise _error(f"{where}: {_show(operator)} is no operator; known are {', '.join(OPERATORS)}")
    value = _term(operand, prefixes, where)
    if isinstance(value, NamedNode):
        return IsA(vertex, operator, value)
    if not isinstance(value, Literal):
        raise _error(f"{where}: the operand should be an IRI or a literal, not {_show(operand)}")
    bound: Expression = Call("number", (vertex,)) if is_numeric_type(value.datatype) else vertex
    return Call(operator, (bound, value))


def _term(text: object, prefixes: Mapping[str, str], where: str) -> Vertex:
    """A term from its JSON: ``?x``, ``_:H``, ``<iri>``, ``ex:name``, an IRI, ``"text"^^type`` or a plain value."""
    if isinstance(text, bool | int):
        return Literal(text)
    if isinstance(text, float):
        return Literal(repr(text), datatype=XSD.double if "e" in repr(text) else XSD.decimal)
    if not isinstance(text, str) or not text:
        raise _error(f"{where}: {_show(text)} is no term")

    def fail(message: str, **hint: Any) -> SubscriptionError:
        return _error(f"{where}: {message}", **hint)

    try:
        if re.fullmatch(r"\?\w+", text):
            return Variable(text[1:])
        if text == str(HOME):
            return HOME
        if text.startswith("_:"):
            raise fail(f"{text} is no vertex that a subscription can name", nearest=f"?{text[2:]}")
        if text.startswith("<") and text.endswith(">"):
            return NamedNode(text[1:-1])
        if quoted := _QUOTED.fullmatch(text):
            return _quoted(quoted, prefixes, fail)
        if _PREFIXED.fullmatch(text) and text.partition(":")[0] in prefixes:
            return expand(text, prefixes, fail)
        if _ABSOLUTE.fullmatch(text):
            return NamedNode(text)
        if _PREFIXED.fullmatch(text):
            return expand(text, prefixes, fail)
        return Literal(text)
    except ValueError as error:
        raise fail(f"{_show(text)} is no term: {error}") from None


def _quoted(found: re.Match[str], prefixes: Mapping[str, str], fail: Any) -> Literal:
    body, language, datatype = found.groups()
    value = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), body)
    if language:
        return Literal(value, language=language)
    if datatype is None:
        return Literal(value)
    bracketed = datatype.startswith("<") and datatype.endswith(">")
    return Literal(value, datatype=NamedNode(datatype[1:-1]) if bracketed else expand(datatype, prefixes, fail))


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _error(message: str, **hint: Any) -> SubscriptionError:
    return SubscriptionError(f"{message}." if message[-1] != "." else message, language="gtopss", **hint)
