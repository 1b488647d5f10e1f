"""The values of literals: numbers, texts, truth, and points in time.

``value(literal)`` is a Python value, or raises ``NoValueError`` where the lexical form is not one of the datatype's or
the datatype is not known here. Two values are comparable if they are of the same kind.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from functools import lru_cache
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import RDF, XSD


class NoValueError(Exception):
    """The literal has no value that we know of."""


class Rank(IntEnum):
    """SPARQL's order of numeric promotion."""

    INTEGER = 0
    DECIMAL = 1
    FLOAT = 2
    DOUBLE = 3


@dataclass(frozen=True)
class Number:
    rank: Rank
    value: int | Decimal | float

    def promoted(self, rank: Rank) -> int | Decimal | float:
        if rank is Rank.INTEGER:
            return self.value
        if rank is Rank.DECIMAL:
            return Decimal(self.value)
        return single(double(self.value)) if rank is Rank.FLOAT else double(self.value)


@dataclass(frozen=True)
class Text:
    """A string, with its language tag in lower case or none."""

    value: str
    language: str | None = None


@dataclass(frozen=True)
class Moment:
    """A dateTime, date or time: seconds on the time line, as if in UTC where no zone is given."""

    datatype: NamedNode
    seconds: Decimal
    zoned: bool
    fields: tuple[int | None, int | None, int | None, int | None, int | None, Decimal | None]
    zone: int | None


Value: TypeAlias = Number | Text | bool | Moment

LONGEST_VALUE = 1000
"""A number or moment with more characters than this has no value that we know of."""

ZONES_APART = Decimal(14 * 3600)
"""Seconds by which a moment without a zone may be off at the most."""

_INTEGER_NAMES = (
    "integer nonPositiveInteger negativeInteger long int short byte nonNegativeInteger unsignedLong unsignedInt "
    "unsignedShort unsignedByte positiveInteger"
)
_INTEGERS = frozenset(XSD[name] for name in _INTEGER_NAMES.split())
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_DATE = r"(?P<year>-?(?:[1-9][0-9]{3,8}|0[0-9]{3}))-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]+)?)"
_ZONE = r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
_MOMENTS = {
    XSD.dateTime: re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
    XSD.date: re.compile(f"{_DATE}{_ZONE}"),
    XSD.time: re.compile(f"{_TIME}{_ZONE}"),
}
_DAY = 86400


@lru_cache(maxsize=4096)
def value(literal: Literal) -> Value:
    """The value of a literal."""
    text, datatype = literal.value, literal.datatype
    if datatype == XSD.string:
        return Text(text)
    if datatype == RDF.langString:
        return Text(text, (literal.language or "").lower())
    if len(text) > LONGEST_VALUE:
        raise NoValueError(f"{text[:40]}…")
    if datatype == XSD.boolean and text in ("true", "false", "1", "0"):
        return text in ("true", "1")
    if datatype in _INTEGERS and _INTEGER.fullmatch(text):
        return Number(Rank.INTEGER, int(text))
    if datatype == XSD.decimal and _DECIMAL.fullmatch(text):
        return Number(Rank.DECIMAL, Decimal(text))
    if datatype in (XSD.double, XSD.float) and _DOUBLE.fullmatch(text):
        number = float(text.replace("INF", "inf"))
        return Number(Rank.DOUBLE, number) if datatype == XSD.double else Number(Rank.FLOAT, single(number))
    if datatype in _MOMENTS and (found := _MOMENTS[datatype].fullmatch(text)):
        return _moment(datatype, found.groupdict())
    raise NoValueError(str(literal))


def is_numeric_type(datatype: NamedNode) -> bool:
    return datatype in _INTEGERS or datatype in (XSD.decimal, XSD.float, XSD.double)


def number_literal(number: Number) -> Literal:
    """A number as a literal of its rank's datatype."""
    datatype = (XSD.integer, XSD.decimal, XSD.float, XSD.double)[number.rank]
    if isinstance(number.value, float):
        text = repr(number.value).replace("inf", "INF").replace("nan", "NaN")
    else:
        text = f"{number.value:f}" if isinstance(number.value, Decimal) else str(number.value)
    return Literal(text, datatype=datatype)


def double(number: int | Decimal | float) -> float:
    """The nearest double-precision number."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def single(number: float) -> float:
    """The nearest single-precision number."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", number))[0]
        return rounded
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _moment(datatype: NamedNode, parts: dict[str, str]) -> Moment:
    year, month, day = (int(parts[n]) if n in parts else None for n in ("year", "month", "day"))
    hour, minute = (int(parts[n]) if n in parts else None for n in ("hour", "minute"))
    second = Decimal(parts["second"]) if "second" in parts else None
    if month is not None and day is not None and year is not None:
        if not 1 <= month <= 12 or not 1 <= day <= _month_length(year, month):
            raise NoValueError(f"{year}-{month}-{day}")
        days = _days(year, month, day)
    else:
        days = _days(1972, 12, 31)
    if hour is not None and minute is not None and second is not None:
        midnight_after = hour == 24 and minute == 0 and second == 0
        if (hour > 23 and not midnight_after) or minute > 59 or second >= 60:
            raise NoValueError(f"{hour}:{minute}:{second}")
    zone = _zone(parts.get("zone"))
    clock = Decimal(3600 * (hour or 0) + 60 * (minute or 0)) + (second or Decimal(0))
    if datatype == XSD.time and hour == 24:
        clock = Decimal(0)
    seconds = Decimal(days * _DAY) + clock - Decimal(60 * (zone or 0))
    return Moment(datatype, seconds, zone is not None, (year, month, day, hour, minute, second), zone)


def _zone(text: str | None) -> int | None:
    """A time zone in minutes east of UTC."""
    if text is None:
        return None
    if text == "Z":
        return 0
    hours, minutes = int(text[1:3]), int(text[4:6])
    if minutes > 59 or 60 * hours + minutes > 840:
        raise NoValueError(text)
    return (60 * hours + minutes) * (-1 if text[0] == "-" else 1)


def _month_length(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days(year: int, month: int, day: int) -> int:
    """Days since 0000-03-01 in the proleptic Gregorian calendar."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1
