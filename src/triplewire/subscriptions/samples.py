"""Terms that tell tests apart: whether one test implies another is decided by trying finitely many.

A test that compares with constants, or asks for the beginning of a text, changes its outcome at the constants only. So
a term for each constant, and one for each stretch between two of them, in every kind of value, stand for all terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.rdf.terms import XSD, Term
from triplewire.rdf.values import (
    LONGEST_VALUE,
    ZONES_APART,
    Moment,
    NoValueError,
    Number,
    Rank,
    Text,
    number_literal,
    value,
)

_DAY = Decimal(86400)
_MINUTE = Decimal(60)
_EPOCH_OF_TIMES = value(Literal("00:00:00Z", datatype=XSD.time)).seconds  # type: ignore[union-attr]
_LAST = "\U0010ffff"
_OTHER_LANGUAGE = "zxx"
_OTHERS: tuple[Term, ...] = (
    Literal(True),
    Literal(False),
    Literal("a"),
    NamedNode("urn:triplewire:sample"),
    BlankNode("sample"),
    Literal("?", datatype=NamedNode("urn:triplewire:sample")),
    Literal("?", datatype=XSD.integer),
    Literal("2000-01-01T00:00:00", datatype=XSD.dateTime),
    Literal("2000-01-01", datatype=XSD.date),
    Literal("00:00:00", datatype=XSD.time),
)


_BOTH_WAYS = (ROUND_FLOOR, ROUND_CEILING)

Spaced: TypeAlias = np.float32 | np.float64


class TooManySamplesError(Exception):
    """The constants are so many, or so long, that the terms cannot all be tried."""


@lru_cache(maxsize=4096)
def samples(constants: frozenset[Term], ending: str = "") -> tuple[Term, ...]:
    """Terms such that a test with no other constants is true of all terms if it is true of these.

    A number stands here as every type of number, and as the plain text that reads so. In every stretch of texts there
    is one with a given ending, if the stretch has any.
    """
    numbers: set[Number] = {Number(Rank.INTEGER, 0)}
    texts: set[Text] = set()
    moments: set[Moment] = set()
    found: dict[Term, None] = dict.fromkeys([*_OTHERS, *constants])
    for constant in constants:
        try:
            known = value(constant) if isinstance(constant, Literal) else None
        except NoValueError:
            continue
        if isinstance(known, Number):
            numbers.add(known)
        elif isinstance(known, Text):
            texts.add(known)
        elif isinstance(known, Moment):
            moments.add(known)
    for terms in (_numbers(numbers), _texts(texts, ending), _moments(moments)):
        found |= dict.fromkeys(terms)
    return tuple(found)


def _numbers(constants: set[Number]) -> Iterator[Literal]:
    edges = sorted({edge for number in constants for edge in _edges(number)})
    with localcontext(prec=4 * LONGEST_VALUE):
        between = [_short((a + b) / 2) for a, b in pairwise(edges)]
        points = [edges[0] - 1, *edges, *between, edges[-1] + 1]
        whole = {edge.to_integral_value(mode) + step for edge in edges for mode in _BOTH_WAYS for step in (-1, 0, 1)}
    numbers = {Number(Rank.DECIMAL, point) for point in points} | {Number(Rank.INTEGER, int(n)) for n in whole}
    for rank, spacing in ((Rank.FLOAT, np.float32), (Rank.DOUBLE, np.float64)):
        with np.errstate(over="ignore"):
            rounded = [spacing(float(point)) for point in points]
        numbers |= {Number(rank, float(near)) for number in rounded for near in _around(number)}
        numbers |= {Number(rank, float(special)) for special in ("inf", "-inf", "nan")}
    for number in numbers:
        literal = number_literal(number)
        if len(literal.value) > LONGEST_VALUE:
            continue  # no literal has this value
        yield literal
        if number.rank is Rank.DOUBLE and literal.value[-1].isdigit() and "e" not in literal.value:
            yield Literal(f"{literal.value}e0")
        elif number.rank is not Rank.FLOAT:
            yield Literal(literal.value)


def _edges(number: Number) -> Iterator[Decimal]:
    """Where comparing with a number may change its outcome: at the number, and where others are rounded to it."""
    if isinstance(number.value, int | Decimal):
        yield Decimal(number.value)
    elif number.value == number.value:
        is_single = number.rank is Rank.FLOAT
        with localcontext(prec=4 * LONGEST_VALUE):
            near = _decimals(np.float32(number.value) if is_single else np.float64(number.value))
            middles = [(a + b) / 2 for a, b in pairwise(near)]
            yield from [*near, *middles]
            if is_single:  # a decimal becomes a double on its way to a single
                for middle in middles:
                    doubles = _decimals(np.float64(float(middle)))
                    yield from [*doubles, *((a + b) / 2 for a, b in pairwise(doubles))]


def _around(number: Spaced) -> list[Spaced]:
    """A number of its precision and the two next to it."""
    with np.errstate(all="ignore"):
        return [np.nextafter(number, type(number)("-inf")), number, np.nextafter(number, type(number)("inf"))]


def _decimals(number: Spaced) -> list[Decimal]:
    """The same exactly; infinity as the number that would come after the greatest."""
    limit = Decimal(2) ** (128 if isinstance(number, np.float32) else 1024)
    exact = [limit.copy_sign(Decimal(float(x))) if np.isinf(x) else Decimal(float(x)) for x in _around(number)]
    return sorted(set(exact))


def _short(number: Decimal) -> Decimal:
    """A number so near that no edge is between, with few enough digits to be written."""
    places = LONGEST_VALUE - 20 - max(0, number.adjusted())
    return number.quantize(Decimal(1).scaleb(-places)) if -int(number.as_tuple().exponent) > places else number


def _texts(constants: set[Text], ending: str) -> Iterator[Literal]:
    """In each language the first text of every stretch: a constant, what follows it, what follows all that begin so."""
    firsts = {""}
    for text in constants:
        if "\0" in text.value:  # then the texts of a stretch may be few, and none of them have the ending
            raise TooManySamplesError
        firsts |= {text.value, text.value + "\0", *_after_beginning(text.value)}
    if ending:
        low = "\0" * (1 + max((len(text.value) for text in constants), default=0))
        firsts |= {first + filling + ending for first in firsts for filling in ("", low)}
    languages = {text.language for text in constants} | {None, _OTHER_LANGUAGE}
    for first in firsts:
        yield from (Literal(first, language=language) if language else Literal(first) for language in languages)


def _after_beginning(text: str) -> Iterator[str]:
    """The first text, in code-point order, after all that begin with one, if there is any."""
    stem = text.rstrip(_LAST)
    if stem:
        following = ord(stem[-1]) + 1
        yield stem[:-1] + chr(0xE000 if following == 0xD800 else following)


def _moments(constants: set[Moment]) -> Iterator[Literal]:
    for datatype in {moment.datatype for moment in constants}:
        edges = {
            moment.seconds + shift
            for moment in constants
            if moment.datatype == datatype
            for shift in (-ZONES_APART, Decimal(0), ZONES_APART)
        }
        for seconds in _points_in_time(edges, datatype):
            for zoned in (True, False):
                yield from _moment_literals(datatype, seconds, zoned)


def _points_in_time(edges: set[Decimal], datatype: NamedNode) -> set[Decimal]:
    if datatype == XSD.time:
        edges = edges | {_EPOCH_OF_TIMES - ZONES_APART, _EPOCH_OF_TIMES + _DAY + ZONES_APART}
    ordered = sorted(edges)
    points = {ordered[0] - _DAY, *ordered, ordered[-1] + _DAY}
    between = {(a + b) / 2 for a, b in pairwise(ordered)}
    if between & edges:
        raise TooManySamplesError
    points |= between
    if datatype == XSD.date:
        for unit in (_MINUTE, _DAY):
            points |= {(_divided(edge, unit)[0] + step) * unit for edge in ordered for step in (-1, 0, 1, 2)}
    return points


def _moment_literals(datatype: NamedNode, seconds: Decimal, zoned: bool) -> Iterable[Literal]:
    """The literal of a datatype at a point of the time line, if there is one."""
    for shift in (0, -840, 840) if zoned else (0,):
        day, clock = _divided(seconds + shift * _MINUTE, _DAY)
        zone = f"{'-' if shift < 0 else '+'}{abs(shift) // 60:02}:00" if zoned else ""
        if datatype == XSD.time:
            if day == _EPOCH_OF_TIMES // _DAY:
                return [Literal(f"{_clock(clock)}{zone}", datatype=datatype)]
        elif datatype == XSD.dateTime:
            return _readable(f"{_date(int(day))}T{_clock(clock)}{zone}", datatype)
    return _dates(seconds, zoned) if datatype == XSD.date else []


def _dates(seconds: Decimal, zoned: bool) -> Iterable[Literal]:
    day, clock = _divided(seconds, _DAY)
    if not zoned:
        return _readable(_date(int(day)), XSD.date) if clock == 0 else []
    west, rest = _divided(clock, _MINUTE)
    if rest:
        return []
    minutes, on = (-int(west), int(day)) if west <= 840 else (1440 - int(west), int(day) + 1)
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    return _readable(f"{_date(on)}{zone}", XSD.date)


def _readable(text: str, datatype: NamedNode) -> list[Literal]:
    literal = Literal(text, datatype=datatype)
    try:
        value(literal)
    except NoValueError:
        raise TooManySamplesError from None
    return [literal]


def _divided(seconds: Decimal, unit: Decimal) -> tuple[Decimal, Decimal]:
    whole = (seconds / unit).to_integral_value(ROUND_FLOOR)
    return whole, seconds - whole * unit


def _clock(seconds: Decimal) -> str:
    whole = int(seconds)
    fraction = f"{seconds - whole:f}"[1:]
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{fraction}"


def _date(days: int) -> str:
    """The date so many days after 0000-03-01."""
    era, day_of_era = divmod(days, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + 400 * era + (month <= 2)
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}"
