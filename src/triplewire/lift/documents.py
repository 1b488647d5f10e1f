"""JSON texts to values and back, with every number as it was written."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, NoReturn

from triplewire.errors import EventError

DIGITS = 1000
"""The most digits that a number may have, written out."""


def read_json(document: str | bytes) -> Any:
    """A JSON value. What has a fraction or an exponent is a ``Decimal``, so that 380.50 does not become 380.5.

    Line ends and tabs inside of texts are let pass, as people write them.
    """
    try:
        return _DECODER.decode(utf8(document))
    except json.JSONDecodeError as error:
        raise EventError(f"not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise EventError("the JSON is nested too deeply") from None


def utf8(document: str | bytes) -> str:
    """The text of a document that should be in UTF-8."""
    try:
        return document if isinstance(document, str) else document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EventError(f"not UTF-8: byte {document[error.start]:#04x} at offset {error.start}") from None


def write_json(value: Any) -> str:
    """The text of a JSON value, without spaces, and with numbers as they were read."""
    try:
        return _text(value)
    except TypeError:  # a Decimal somewhere, which only we can write
        return _written(value)


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(key)}:{_written(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    return str(value) if isinstance(value, Decimal) else _text(value)


def check_depth(value: Any, limit: int) -> None:
    """Refuse a JSON value that is nested more deeply than the limit."""
    level = [value]
    for _ in range(limit + 1):
        level = [
            member
            for one in level
            if isinstance(one, dict | list)
            for member in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise EventError(f"the JSON is nested too deeply: the limit is {limit} levels")


def kind(value: Any) -> str:
    """What a JSON value is, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | Decimal | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "an object" if isinstance(value, dict) else "an array"


_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise EventError(f"a number of {len(text)} digits is over the limit of {DIGITS}: {text[:20]}…")
    return int(text)


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    if len(text) > DIGITS or not isinstance(exponent, int) or abs(exponent) > DIGITS:
        raise EventError(f"a number that has more than {DIGITS} digits, written out: {text[:20]}")
    return number


def _no_number(constant: str) -> NoReturn:
    raise EventError(f"not JSON: {constant} is no JSON value")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_decimal, parse_constant=_no_number, strict=False)
