"""Subscriptions as JSON and back, whatever language they were written in.

A value is ``{"Class": {field: value, …}}`` with the fields that are not as they are by default; a tuple is an array.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import XSD
from triplewire.subscriptions import pattern
from triplewire.subscriptions.pattern import Scope, Subscription

_CLASSES: dict[str, Any] = {name: one for name, one in vars(pattern).items() if is_dataclass(one)}


def to_json(subscription: Subscription) -> str:
    """A subscription as a line of JSON."""
    return json.dumps(_written(subscription), separators=(",", ":"))


def from_json(text: str | bytes) -> Subscription:
    """The subscription that a line of JSON says."""
    return from_value(json.loads(text))


def from_value(value: Any) -> Subscription:
    """The subscription that JSON, read already, says."""
    found = _read(value)
    if not isinstance(found, Subscription):
        raise TypeError(f"a subscription was expected, not {type(found).__name__}")
    return found


def _written(value: Any) -> Any:
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value)
    own = {
        name: value_ for name, default in _fields(type(value).__name__) if (value_ := getattr(value, name)) != default
    }
    return {type(value).__name__: {name: _written(part) for name, part in own.items()}}


def _write_literal(literal: Literal) -> Any:
    if literal.language:
        return {"text": [literal.value, literal.language]}
    return {"literal": [literal.value] if literal.datatype == XSD.string else [literal.value, literal.datatype.value]}


_WRITERS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((str, float, bool, int, type(None)), lambda value: value),
    tuple: lambda parts: [_written(part) for part in parts],
    NamedNode: lambda node: {"iri": node.value},
    Literal: _write_literal,
    Scope: lambda scope: {"Scope": scope.value},
}


@cache
def _fields(name: str) -> tuple[tuple[str, Any], ...]:
    """The names of a class's fields, each with what it is by default."""
    return tuple((f.name, f.default) for f in fields(_CLASSES[name]))


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
