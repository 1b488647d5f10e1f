"""``gtopss``: G-ToPSS's 5-tuples, ``[subject, property, object, [subject constraints], [object constraints]]``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, get_args

from pyoxigraph import Literal, NamedNode

from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES, XSD
from triplewire.rdf.values import is_numeric_type
from triplewire.subscriptions.grammar import expand, parse_json, place_in_json
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

Path: TypeAlias = tuple[int, ...]

MOST_TUPLES = 1_000
OPERATORS: tuple[str, ...] = get_args(Comparison)

_PREFIXED = re.compile(r"([A-Za-z][\w\-]*)?:[\w.\-%]*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(//\S*|\S*[:/#]\S*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(\S+))?')


class _MisplacedError(Exception):
    """Something is wrong at a path into the JSON value."""

    def __init__(self, message: str, path: Path, hint: dict[str, Any]) -> None:
        super().__init__(message)
        self.path = path
        self.hint = hint


def parse_gtopss(pattern: object, prefixes: Mapping[str, str], mapping: MappingKind = "homomorphic") -> Pattern:
    """The pattern that a list of 5-tuples says. All its arcs are exact."""
    tuples = parse_json("gtopss", pattern) if isinstance(pattern, str) else pattern
    known = WELL_KNOWN_PREFIXES | dict(prefixes)
    try:
        return _pattern(tuples, known, mapping)
    except _MisplacedError as error:
        place = place_in_json(pattern, error.path)
        raise SubscriptionError(str(error), language="gtopss", place=place, **error.hint) from None


def _pattern(tuples: object, prefixes: Mapping[str, str], mapping: MappingKind) -> Pattern:
    if not isinstance(tuples, list) or not tuples:
        raise _error("the pattern should be a non-empty array of 5-tuples", ())
    if len(tuples) > MOST_TUPLES:
        raise _error(f"the pattern has {len(tuples)} tuples; at most {MOST_TUPLES} are read", ())
    arcs: list[Arc] = []
    constraints: list[IsA | Expression] = []
    for number, entry in enumerate(tuples):
        arc, more = _tuple(entry, prefixes, (number,))
        arcs.append(arc)
        constraints += more
    unique = dict.fromkeys(constraints)
    return Pattern(
        arcs=tuple(dict.fromkeys(arcs)),
        is_a=tuple(c for c in unique if isinstance(c, IsA)),
        filters=tuple(c for c in unique if not isinstance(c, IsA)),
        mapping=mapping,
    )


def _tuple(entry: object, prefixes: Mapping[str, str], path: Path) -> tuple[Arc, list[IsA | Expression]]:
    if not isinstance(entry, list) or not 3 <= len(entry) <= 5:
        raise _error(f"expected [subject, property, object, [constraints], [constraints]], not {_show(entry)}", path)
    subject, property_, object_ = (_term(entry[i], prefixes, (*path, i)) for i in range(3))
    if isinstance(subject, Literal):
        raise _error(f"the literal {subject} cannot be a subject", (*path, 0))
    if not isinstance(property_, NamedNode | Variable):
        raise _error(f"a property is an IRI or a variable, not {_show(entry[1])}", (*path, 1))
    constraints = []
    for vertex, index in ((subject, 3), (object_, 4)):
        stated = entry[index] if len(entry) > index and entry[index] is not None else []
        if not isinstance(stated, list):
            raise _error(f"expected an array of constraints, not {_show(stated)}", (*path, index))
        constraints += [_constraint(c, vertex, prefixes, (*path, index, i)) for i, c in enumerate(stated)]
    return Arc(subject, property_, object_, Scope.ASSERTED), constraints


def _constraint(stated: object, vertex: Vertex, prefixes: Mapping[str, str], path: Path) -> IsA | Expression:
    if not isinstance(stated, list) or len(stated) != 3:
        raise _error(f'a constraint is ["?x", operator, value], not {_show(stated)}', path)
    variable, operator, operand = stated
    if not isinstance(vertex, Variable) or variable != str(vertex):
        raise _error(f"the constraint is on {_show(variable)}, but {vertex} stands here", (*path, 0))
    if operator not in OPERATORS:
        raise _error(f"{_show(operator)} is no operator", (*path, 1), expected=OPERATORS)
    value = _term(operand, prefixes, (*path, 2))
    if isinstance(value, NamedNode):
        return IsA(vertex, operator, value)
    if not isinstance(value, Literal):
        raise _error(f"the operand should be an IRI or a literal, not {_show(operand)}", (*path, 2))
    bound: Expression = Call("number", (vertex,)) if is_numeric_type(value.datatype) else vertex
    return Call(operator, (bound, value))


def _term(text: object, prefixes: Mapping[str, str], path: Path) -> Vertex:
    """A term from its JSON: ``?x``, ``_:H``, ``<iri>``, ``ex:name``, an IRI, ``"text"^^type`` or a plain value."""
    if isinstance(text, bool | int):
        return Literal(text)
    if isinstance(text, float):
        return Literal(repr(text), datatype=XSD.double if "e" in repr(text) else XSD.decimal)
    if not isinstance(text, str) or not text:
        raise _error(f"{_show(text)} is no term", path)

    def fail(message: str, **hint: Any) -> _MisplacedError:
        return _error(message, path, **hint)

    try:
        return _written(text, prefixes, fail)
    except ValueError as error:
        raise fail(f"{_show(text)} is no term: {error}") from None


def _written(text: str, prefixes: Mapping[str, str], fail: Callable[..., Exception]) -> Vertex:
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


def _quoted(found: re.Match[str], prefixes: Mapping[str, str], fail: Callable[..., Exception]) -> Literal:
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


def _error(message: str, path: Path, **hint: Any) -> _MisplacedError:
    """What is wrong with the part of the pattern at a path: the number of a tuple, then of a place in it."""
    words = "".join(f"{word} {index + 1}, " for word, index in zip(("tuple", "place"), path, strict=False))
    return _MisplacedError(f"{words[:-2]}{words and ': '}{message.rstrip('.')}.", path, hint)
