"""Subscriptions as JSON and back, whatever language they were written in.

A value is ``{"Class": {field: value, …}}`` with the fields that are not as they are by default; a tuple is an array.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import XSD
from triplewire.subscriptions import pattern
from triplewire.subscriptions.pattern import Scope, Subscription, Variable

_CLASSES: dict[str, Any] = {name: one for name, one in vars(pattern).items() if is_dataclass(one)}


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
    kind = type(value)
    if kind is tuple:
        return f"[{','.join(map(_written, value))}]"
    if kind in _LEAVES:
        return _leaf(value)
    if kind.__name__ not in _CLASSES:
        return json.dumps(value)
    own = ((name, part) for name, default in _fields(kind.__name__) if (part := getattr(value, name)) != default)
    inside = ",".join([f'"{name}":{_written(part)}' for name, part in own])
    return f'{{"{kind.__name__}":{{{inside}}}}}'


@lru_cache(maxsize=100_000)
def _leaf(value: Any) -> str:
    """A term, a variable or a scope: what subscriptions are made of, again and again."""
    return json.dumps(_LEAVES[type(value)](value), separators=(",", ":"))


def _literal(literal: Literal) -> Any:
    if literal.language:
        return {"text": [literal.value, literal.language]}
    return {"literal": [literal.value] if literal.datatype == XSD.string else [literal.value, literal.datatype.value]}


_LEAVES: dict[type, Callable[[Any], Any]] = {
    NamedNode: lambda node: {"iri": node.value},
    Literal: _literal,
    Scope: lambda scope: {"Scope": scope.value},
    Variable: lambda variable: {"Variable": {"name": variable.name}},
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
