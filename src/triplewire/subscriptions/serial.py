"""Subscriptions as JSON and back, whatever language they were written in.

A value is ``{"Class": {field: value, …}}`` with the fields that are not as they are by default; a tuple is an array.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import XSD
from triplewire.subscriptions import pattern
from triplewire.subscriptions.pattern import Scope, Subscription, Variable

_CLASSES: dict[str, Any] = {
    name: one for name, one in vars(pattern).items() if isinstance(one, type) and is_dataclass(one)
}


def to_json(subscription: Subscription) -> str:
    """A subscription as a line of JSON."""
    return _written(subscription)


def from_json(text: str | bytes) -> Subscription:
    """The subscription that a line of JSON says."""
    return from_value(json.loads(text))


def from_value(value: Any) -> Subscription:
    """The subscription that JSON, read already, says."""
    found = _read(value)
    if not isinstance(found, Subscription):
        raise TypeError(f"a subscription was expected, not {type(found).__name__}")
    return found


def _written(value: Any) -> str:
    return _WRITERS[type(value)](value)


def _array(values: tuple[Any, ...]) -> str:
    return f"[{','.join([_WRITERS[type(value)](value) for value in values])}]"


def _writer(cls: Any) -> Callable[[Any], str]:
    """What writes the values of a class: it is called some ninety times for a subscription, so all is made ready."""
    own = fields(cls)
    if not own:
        return lambda value: f'{{"{cls.__name__}":{{}}}}'
    # With the class at the end there are at least two, and the getter tells a tuple.
    parts: Callable[[Any], tuple[Any, ...]] = attrgetter(*(field.name for field in own), "__class__")
    always = [f'"{field.name}":' for field in own if field.default is MISSING]
    otherwise = [(f'"{field.name}":', field.default) for field in own[len(always) :]]

    def write(value: Any) -> str:
        given = parts(value)
        inside = [head + _WRITERS[type(part)](part) for head, part in zip(always, given, strict=False)]
        for (head, default), part in zip(otherwise, given[len(always) :], strict=False):
            if part != default:
                inside.append(head + _WRITERS[type(part)](part))
        return f'{{"{cls.__name__}":{{{",".join(inside)}}}}}'

    return write


@lru_cache(maxsize=100_000)
def _term(term: NamedNode | Literal) -> str:
    """A term: what subscriptions are made of, again and again."""
    return _compact({"iri": term.value} if isinstance(term, NamedNode) else _literal(term))


def _literal(literal: Literal) -> Any:
    if literal.language:
        return {"text": [literal.value, literal.language]}
    return {"literal": [literal.value] if literal.datatype == XSD.string else [literal.value, literal.datatype.value]}


@lru_cache(maxsize=100_000)
def _variable(name: str) -> str:
    return _compact({"Variable": {"name": name}})


_compact = json.JSONEncoder(separators=(",", ":")).encode
_WRITERS: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((str, int, float, bool, type(None)), _compact),
    **{cls: _writer(cls) for cls in _CLASSES.values()},
    tuple: _array,
    NamedNode: _term,
    Literal: _term,
    Scope: {scope: _compact({"Scope": scope.value}) for scope in Scope}.__getitem__,
    Variable: lambda variable: _variable(variable.name),
}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_read, value))
    if not isinstance(value, dict):
        return value
    [(name, content)] = value.items()
    match name:
        case "iri":
            return NamedNode(content)
        case "text":
            return Literal(content[0], language=content[1])
        case "literal":
            return Literal(content[0], datatype=NamedNode(content[1])) if len(content) == 2 else Literal(content[0])
        case "Scope":
            return Scope(content)
        case _:
            return _CLASSES[name](**{field: _read(part) for field, part in content.items()})
