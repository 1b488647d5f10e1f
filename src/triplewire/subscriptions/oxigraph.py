"""Operators and functions as Oxigraph reads them, for the filters of compiled ``sparql`` queries.

Where this differs from the letter of SPARQL 1.1 is told in docs/decisions/003-filters.md. Arithmetic on dates and times
is left out: queries that may need it are Oxigraph's own.
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, DivisionByZero, InvalidOperation, localcontext
from typing import Any, cast

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.rdf.terms import XSD, Term
from triplewire.rdf.values import ZONES_APART, Moment, NoValueError, Number, Rank, Text, Value, value
from triplewire.subscriptions.functions import FUNCTIONS, FilterError, Function, boolean, plain_text

_LARGEST = Decimal(2**63)
_STEP = Decimal(1).scaleb(-18)
_WIDEST = Decimal(2**127).scaleb(-18)
_ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALCULATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_DURATION = re.compile(
    r"(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII
)
_DURATIONS = (XSD.duration, XSD.yearMonthDuration, XSD.dayTimeDuration)
_CALENDAR = {
    XSD.gYear: r"(?P<year>-?\d{4,9})",
    XSD.gYearMonth: r"(?P<year>-?\d{4,9})-(?P<month>\d\d)",
    XSD.gMonthDay: r"--(?P<month>\d\d)-(?P<day>\d\d)",
    XSD.gMonth: r"--(?P<month>\d\d)",
    XSD.gDay: r"---(?P<day>\d\d)",
}
_REFERENCES = ("1696-09-01", "1697-02-01", "1903-03-01", "1903-07-01")


@dataclass(frozen=True)
class Duration:
    months: int
    seconds: Decimal


Known = Value | Duration


def known(literal: Literal) -> Known | None:
    """The value of a literal of a type that Oxigraph knows; None if it knows none."""
    datatype = literal.datatype
    try:
        if datatype in _DURATIONS:
            return _duration(literal)
        if datatype in _CALENDAR:
            return _calendar(literal)
        if datatype == XSD.dateTimeStamp:
            found = value(Literal(literal.value, datatype=XSD.dateTime))
        else:
            found = value(literal)
    except NoValueError:
        return None
    return None if isinstance(found, Number) and _is_out_of_range(found) else found


def _is_out_of_range(number: Number) -> bool:
    limit = _LARGEST if number.rank is Rank.INTEGER else _WIDEST
    return number.rank <= Rank.DECIMAL and abs(Decimal(number.value)) >= limit


def truth(term: Term) -> bool:
    """The effective boolean value. What is ill-formed has none."""
    match known(term) if isinstance(term, Literal) else None:
        case bool(known_):
            return known_
        case Text(text, None):
            return text != ""
        case Number(_, number):
            return number != 0 and number == number
    raise FilterError(f"{term} is neither true nor false")


def equal(left: Term, right: Term) -> bool:
    """``=``: by value; literals of unlike known types are unequal."""
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return left == right
    a, b = known(left), known(right)
    if a is None or b is None:
        if a is None and b is None and left == right:
            return True
        if any(isinstance(one, Text) and one.language is not None for one in (a, b)):
            return False
        raise FilterError(f"{left} and {right} are of types that cannot be compared")
    match a, b:
        case Number(), Number():
            rank = max(a.rank, b.rank)
            return a.promoted(rank) == b.promoted(rank)
        case Moment(), Moment() if a.datatype == b.datatype:
            return _order_of_moments(a, b) == 0
    return type(a) is type(b) and a == b


def compare(name: str, left: Term, right: Term) -> bool:
    """``<``, ``<=``, ``>`` or ``>=``; whatever it is, a term is neither before nor after itself."""
    order = _order(left, right)
    if order is None:
        raise FilterError(f"{left} and {right} cannot be ordered")
    return _ORDER[name](order, 0)


def _order(left: Term, right: Term) -> int | None:
    a, b = (known(term) if isinstance(term, Literal) else None for term in (left, right))
    match a, b:
        case Number(), Number():
            rank = max(a.rank, b.rank)
            x, y = a.promoted(rank), b.promoted(rank)
            return (x > y) - (x < y) if x == x and y == y else None
        case (Text(), Text()) if a.language == b.language:
            return (a.value > b.value) - (a.value < b.value)
        case Moment(), Moment() if a.datatype == b.datatype:
            return _order_of_moments(a, b)
        case Duration(), Duration():
            return _order_of_durations(a, b)
    return 0 if left == right or (a is not None and a == b and type(a) is type(b)) else None


def _order_of_moments(a: Moment, b: Moment) -> int | None:
    difference = a.seconds - b.seconds
    if a.zoned != b.zoned and abs(difference) <= ZONES_APART:
        return None
    return (difference > 0) - (difference < 0)


def _order_of_durations(a: Duration, b: Duration) -> int | None:
    """The order of two durations if it is the same from wherever in the calendar they are counted."""
    orders = {(x > y) - (x < y) for date in _REFERENCES for x, y in [(_after(date, a), _after(date, b))]}
    return orders.pop() if len(orders) == 1 else None


def _after(date: str, duration: Duration) -> Decimal:
    years, months = divmod(int(date[:4]) * 12 + int(date[5:7]) - 1 + duration.months, 12)
    found = value(Literal(f"{years:04}-{months + 1:02}-01", datatype=XSD.date))
    return cast(Moment, found).seconds + duration.seconds


def arithmetic(name: str, left: Term, right: Term) -> Term:
    """``+``, ``-``, ``*`` or ``/`` of numbers, within Oxigraph's ranges."""
    a, b = _number(left), _number(right)
    rank = max(a.rank, b.rank, Rank.DECIMAL if name == "/" else Rank.INTEGER)
    x, y = a.promoted(rank), b.promoted(rank)
    try:
        if rank >= Rank.FLOAT and name == "/" and y == 0:
            return numeral(Number(rank, _divided_by_zero(float(x), float(y))))
        with localcontext(prec=80):
            return numeral(Number(rank, Number(rank, _CALCULATIONS[name](x, y)).promoted(rank)))
    except (DivisionByZero, InvalidOperation, OverflowError, ValueError) as error:
        raise FilterError(f"{left} {name} {right}: {error}") from None


def negated(term: Term) -> Term:
    number = _number(term)
    return numeral(Number(number.rank, -number.value))


def _divided_by_zero(x: float, y: float) -> float:
    if x == 0 or x != x:
        return float("nan")
    return float("inf") if (x > 0) == (str(y)[0] != "-") else float("-inf")


def numeral(number: Number) -> Literal:
    """A number as Oxigraph writes it: no zeros at the end, no exponent. One out of range is an error."""
    datatype = (XSD.integer, XSD.decimal, XSD.float, XSD.double)[number.rank]
    found = number.value
    if isinstance(found, float):
        if found - found != 0:
            text = "NaN" if found != found else "INF" if found > 0 else "-INF"
        else:
            text = f"{Decimal(_digits(found, number.rank)):f}"
            text = text.rstrip("0").rstrip(".") if "." in text else text
        return Literal(text, datatype=datatype)
    if _is_out_of_range(number):
        raise FilterError(f"{found} is out of range")
    if isinstance(found, Decimal):
        with localcontext(prec=80):
            text = f"{found.quantize(_STEP, ROUND_DOWN):f}".rstrip("0").rstrip(".")
        return Literal("0" if text in ("", "-0", "-") else text, datatype=datatype)
    return Literal(str(found), datatype=datatype)


def _digits(number: float, rank: Rank) -> str:
    """The fewest digits that tell a number from its neighbours of the same precision."""
    if rank is Rank.DOUBLE:
        return repr(number)
    return next(
        text for n in range(1, 18) if Number(Rank.FLOAT, float(text := f"{number:.{n}g}")).promoted(rank) == number
    )


def _number(term: Term) -> Number:
    found = known(term) if isinstance(term, Literal) else None
    if not isinstance(found, Number):
        raise FilterError(f"{term} is not a number")
    return found


def _duration(literal: Literal) -> Duration:
    found = _DURATION.fullmatch(literal.value)
    if not found or literal.value.endswith(("P", "T")):
        raise NoValueError(str(literal))
    years, months, days, hours, minutes = (int(found[n] or 0) for n in (2, 3, 4, 6, 7))
    sign = -1 if found[1] else 1
    has_days, has_months = bool(found[4] or found[5]), bool(found[2] or found[3])
    if (literal.datatype == XSD.yearMonthDuration and has_days) or (
        literal.datatype == XSD.dayTimeDuration and has_months
    ):
        raise NoValueError(str(literal))
    seconds = Decimal(86400 * days + 3600 * hours + 60 * minutes) + Decimal(found[8] or 0)
    return Duration(sign * (12 * years + months), sign * seconds)


def _calendar(literal: Literal) -> Moment:
    """A year, month or day without the rest, as the moment at which it first begins."""
    found = re.fullmatch(_CALENDAR[literal.datatype] + r"(?P<zone>Z|[+-]\d\d:\d\d)?", literal.value, re.ASCII)
    if not found:
        raise NoValueError(str(literal))
    parts = {"year": "1972", "month": "12", "day": "31"} if literal.datatype == XSD.gDay else {}
    parts = {"year": "1972", "month": "01", "day": "01", "zone": ""} | parts
    given = {name: text for name, text in found.groupdict().items() if text}
    text = "{year}-{month}-{day}T00:00:00{zone}".format(**parts | given)
    moment = cast(Moment, value(Literal(text, datatype=XSD.dateTime)))
    year, month, day = (int(given[name]) if name in given else None for name in ("year", "month", "day"))
    return Moment(literal.datatype, moment.seconds, moment.zoned, (year, month, day, None, None, None), moment.zone)


def _part(index: int) -> Callable[[Term], Term]:
    def apply(term: Term) -> Term:
        found = known(term) if isinstance(term, Literal) else None
        part = found.fields[index] if isinstance(found, Moment) else None
        if part is None:
            raise FilterError(f"{term} has no such part")
        if index == 3 and part == 24:
            part = 0
        return numeral(Number(Rank.DECIMAL if isinstance(part, Decimal) else Rank.INTEGER, part))

    return apply


def _tz(term: Term) -> Term:
    found = known(term) if isinstance(term, Literal) else None
    if not isinstance(found, Moment):
        raise FilterError(f"{term} has no time zone")
    if not found.zone:
        return Literal("" if found.zone is None else "Z")
    minutes = abs(found.zone)
    return Literal(f"{'-' if found.zone < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}")


def _timezone(term: Term) -> Term:
    found = known(term) if isinstance(term, Literal) else None
    if not isinstance(found, Moment) or found.zone is None:
        raise FilterError(f"{term} has no time zone")
    hours, minutes = divmod(abs(found.zone), 60)
    parts = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    return Literal(f"{'-' if found.zone < 0 else ''}PT{parts or '0S'}", datatype=XSD.dayTimeDuration)


def _whole(function: Function) -> Function:
    """A function whose arguments but the first must be integers."""

    def apply(first: Term, *rest: Term) -> Term:
        if any(_number(term).rank is not Rank.INTEGER for term in rest):
            raise FilterError("not an integer")
        return function.apply(first, *rest)

    return Function(apply, function.least, function.most)


def _hash(name: str) -> Function:
    return Function(lambda t: Literal(hashlib.new(name, plain_text(t).encode()).hexdigest()), 1, 1)


def _made(make: Callable[..., Term]) -> Callable[..., Term]:
    def apply(*terms: Term) -> Term:
        try:
            return make(*terms)
        except ValueError as error:
            raise FilterError(str(error)) from None

    return apply


def _typed(text: Term, datatype: Term) -> Term:
    if not isinstance(datatype, NamedNode):
        raise FilterError(f"{datatype} is no datatype")
    return Literal(plain_text(text), datatype=datatype)


def _tagged(text: Term, tag: Term) -> Term:
    return Literal(plain_text(text), language=plain_text(tag).lower())


def _iri(term: Term) -> Term:
    return term if isinstance(term, NamedNode) else NamedNode(plain_text(term))


def _to_string(term: Term) -> Term:
    if isinstance(term, BlankNode):
        raise FilterError("a blank node has no text")
    return Literal(term.value)


def _to_number(rank: Rank) -> Callable[[Term], Term]:
    datatype = (XSD.integer, XSD.decimal, XSD.float, XSD.double)[rank]

    def apply(term: Term) -> Term:
        found = known(term) if isinstance(term, Literal) else None
        if isinstance(found, Text) and found.language is None:
            found = known(Literal(found.value, datatype=datatype))
        elif isinstance(found, bool):
            found = Number(Rank.INTEGER, int(found))
        if not isinstance(found, Number):
            raise FilterError(f"{term} is not a number")
        if rank >= Rank.FLOAT:
            return numeral(Number(rank, Number(rank, found.value).promoted(rank)))
        if isinstance(found.value, float) and found.value - found.value != 0:
            raise FilterError(f"{term} is not finite")
        return numeral(Number(rank, int(found.value) if rank is Rank.INTEGER else Decimal(str(found.value))))

    return apply


def _to_boolean(term: Term) -> Term:
    found = known(term) if isinstance(term, Literal) else None
    if isinstance(found, Text) and found.language is None:
        found = known(Literal(found.value, datatype=XSD.boolean))
    if isinstance(found, Number):
        return boolean(found.value != 0 and found.value == found.value)
    if not isinstance(found, bool):
        raise FilterError(f"{term} is neither true nor false")
    return boolean(found)


OWN: dict[str, Function] = FUNCTIONS | {
    "substr": _whole(FUNCTIONS["substr"]),
    "year": Function(_part(0), 1, 1),
    "month": Function(_part(1), 1, 1),
    "day": Function(_part(2), 1, 1),
    "hours": Function(_part(3), 1, 1),
    "minutes": Function(_part(4), 1, 1),
    "seconds": Function(_part(5), 1, 1),
    "tz": Function(_tz, 1, 1),
    "timezone": Function(_timezone, 1, 1),
    "strdt": Function(_made(_typed), 2, 2),
    "strlang": Function(_made(_tagged), 2, 2),
    "iri": Function(_made(_iri), 1, 1),
    "xsd:string": Function(_to_string, 1, 1),
    "xsd:integer": Function(_to_number(Rank.INTEGER), 1, 1),
    "xsd:decimal": Function(_to_number(Rank.DECIMAL), 1, 1),
    "xsd:float": Function(_to_number(Rank.FLOAT), 1, 1),
    "xsd:double": Function(_to_number(Rank.DOUBLE), 1, 1),
    "xsd:boolean": Function(_to_boolean, 1, 1),
    **{name: _hash(name) for name in ("md5", "sha1", "sha256", "sha384", "sha512")},
}
