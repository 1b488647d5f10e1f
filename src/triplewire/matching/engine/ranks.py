"""Where values stand among the bounds that patterns name: comparisons with a constant, as ranges of ranks.

A **domain** is a kind of values that SPARQL orders among themselves. What a comparison comes to depends on the
constant's type too: a decimal is rounded before it is compared with a double, and a moment without a zone is within
fourteen hours of nothing that has one. So constants of each type have a domain of their own, in which *every* value has
its one exact place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from pyoxigraph import Literal

from triplewire.matching.engine.encoded import Offsets, Ranges, offsets_of
from triplewire.matching.engine.texts import Texts
from triplewire.rdf.values import ZONES_APART, Moment, NoValueError, Number, Rank, Text, Value, value
from triplewire.subscriptions.functions import FUNCTIONS


class Bound(NamedTuple):
    """An end of a range, in the canonical text of its domain."""

    text: bytes
    included: bool


class Range(NamedTuple):
    """The values of a domain between two bounds; None is no bound."""

    domain: str
    low: Bound | None
    high: Bound | None


_SUFFIX = {Rank.INTEGER: "", Rank.DECIMAL: "", Rank.FLOAT: " float", Rank.DOUBLE: " double"}
_UPPER = ("<", "<=", "=")
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
"""What a comparison is when it is read from the right."""


def range_of(operator: str, constant: Literal, read: bool = False) -> Range | None:
    """The range that ``?x operator constant`` asks for, ``number(?x) operator constant`` if ``read``.

    None if the constant has no value that is in any order.
    """
    known = known_value(constant)
    match known:
        case Number(rank, number) if number == number:
            domain, text = f"{'read' if read else 'number'}{_SUFFIX[rank]}", _number_text(number)
        case Text(string, language) if not read:
            domain, text = f"text {language or ''}", _bytes(string)
        case bool(truth) if not read:
            domain, text = "truth", str(int(truth)).encode()
        case Moment(datatype, seconds, zoned) if not read:
            side = "upper" if operator in _UPPER else "lower"
            domain, text = f"moment {datatype.value} {'zoned' if zoned else 'local'} {side}", _number_text(seconds)
        case _:
            return None
    bound = Bound(text, operator not in ("<", ">"))
    return Range(domain, bound if operator in (">", ">=", "=") else None, bound if operator in _UPPER else None)


def prefix_range(constant: Literal) -> Range | None:
    """The range that ``strstarts(?x, constant)`` asks for. A prefix without a language is one for all languages."""
    known = known_value(constant)
    if not isinstance(known, Text):
        return None
    text = _bytes(known.value)
    domain = "text *" if known.language is None else f"text {known.language}"
    # UTF-8 has no byte 255, so the last byte can be counted up; what results is compared as bytes and never read.
    behind = Bound(text[:-1] + bytes([text[-1] + 1]), False) if text else None
    return Range(domain, Bound(text, True), behind)


def intersection(ranges: Iterable[Range]) -> set[Range]:
    """What lies in all of some ranges, as one range for each domain; ranges that have nothing in common stay apart."""
    found: dict[str, list[Range]] = {}
    for range_ in ranges:
        found.setdefault(range_.domain, []).append(range_)
    return {met for domain, some in found.items() for met in _met(domain, some)}


def _met(domain: str, ranges: list[Range]) -> list[Range]:
    read = _reader(domain)
    low = max((r.low for r in ranges if r.low), key=lambda b: (read(b.text), not b.included), default=None)
    high = min((r.high for r in ranges if r.high), key=lambda b: (read(b.text), b.included), default=None)
    if low and high:
        below, above = read(low.text), read(high.text)
        if below > above or (below == above and not (low.included and high.included)):
            return ranges
    return [Range(domain, low, high)]


def is_nan(literal: Literal) -> bool:
    """Whether a literal is the number that is not a number, which is unlike every other and in no order."""
    known = known_value(literal)
    return isinstance(known, Number) and known.value != known.value


def known_value(literal: Literal) -> Value | None:
    try:
        return value(literal)
    except NoValueError:
        return None


@dataclass(frozen=True)
class Domains:
    """The bounds of each domain in ascending order: ``bounds[offsets[d] : offsets[d + 1]]``."""

    names: Texts
    offsets: Offsets
    bounds: Texts

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> Domains:
        found: dict[str, set[bytes]] = {}
        for range_ in ranges:
            known = found.setdefault(range_.domain, set())
            known.update(bound.text for bound in (range_.low, range_.high) if bound)
        names = sorted(found)
        ordered = [sorted(found[name], key=_reader(name)) for name in names]
        offsets = offsets_of(map(len, ordered))
        return cls(Texts.of(map(str.encode, names)), offsets, Texts.of(b for bounds in ordered for b in bounds))

    @cached_property
    def _all(self) -> list[tuple[str, Sequence[bytes]]]:
        names = (name.decode() for name in self.names)
        return [(name, _Slice(self.bounds, *map(int, self.offsets[d : d + 2]))) for d, name in enumerate(names)]

    def places(self, literal: Literal) -> Iterator[tuple[int, int, int]]:
        """Each domain in which a literal stands, and the first and last of its ranks there.

        There are several only if the literal is a ``float`` or ``double`` to which several bounds are rounded.
        """
        known = known_value(literal)
        for number, (name, bounds) in enumerate(self._all):
            ranks = _ranks(name, bounds, literal, known)
            if ranks is not None:
                yield number, *ranks

    def ranges(self, first: int, wanted: Sequence[Range]) -> Ranges:
        """Ranges of values as ranges of ranks."""
        numbers = {name: number for number, (name, _) in enumerate(self._all)}
        rows = np.empty((3, len(wanted)), np.int32)
        for i, (domain, low, high) in enumerate(wanted):
            number = numbers[domain]
            bounds = self._all[number][1]
            rows[0, i] = number
            rows[1, i] = 0 if low is None else 2 * self._place(domain, bounds, low) + (1 if low.included else 2)
            rows[2, i] = (
                2 * len(bounds) if high is None else 2 * self._place(domain, bounds, high) + (1 if high.included else 0)
            )
        domain_, low_, high_ = rows
        return Ranges(first, domain_, low_, high_)

    @staticmethod
    def _place(name: str, bounds: Sequence[bytes], bound: Bound) -> int:
        read = _reader(name)
        return bisect_left(bounds, read(bound.text), key=read)

    def values(self, ranges: Ranges) -> Iterator[Range]:
        """Ranges of ranks as the ranges of values that they came from."""
        for domain, low, high in zip(ranges.domain.tolist(), ranges.low.tolist(), ranges.high.tolist(), strict=True):
            name, bounds = self._all[domain]
            below = Bound(bounds[(low - 1) // 2], low % 2 == 1) if low > 0 else None
            above = Bound(bounds[high // 2], high % 2 == 1) if high < 2 * len(bounds) else None
            yield Range(name, below, above)


class _Slice(Sequence[bytes]):
    """Some texts of many, without taking them out."""

    def __init__(self, texts: Texts, first: int, last: int) -> None:
        self.texts, self.first, self.length = texts, first, last - first

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return self.texts[self.first + number]


def _reader(domain: str) -> Callable[[bytes], Any]:
    """What texts of bounds are ordered by."""
    kind, _, more = domain.partition(" ")
    if kind == "text":
        return bytes
    if kind in ("number", "read") and more:
        return float
    return lambda text: Decimal(text.decode())


def _ranks(domain: str, bounds: Sequence[bytes], literal: Literal, known: Value | None) -> tuple[int, int] | None:
    """The first and last rank of a literal in a domain, None if it has no place there."""
    kind, _, more = domain.partition(" ")
    read = _reader(domain)
    if kind == "read" and isinstance(known, Text):
        term = FUNCTIONS["number"].apply(literal)
        known = known_value(term) if isinstance(term, Literal) else None
    match known:
        case Number() if kind in ("number", "read"):
            return _ranks_of_number(known, more, bounds)
        case Text(string, language) if kind == "text" and more in ("*", language or ""):
            return _ranks_at(_bytes(string), bounds, read)
        case bool(truth) if kind == "truth":
            return _ranks_at(Decimal(truth), bounds, read)
        case Moment(datatype, seconds, zoned) if kind == "moment":
            of, zone, side = more.split(" ")
            if of != datatype.value:
                return None
            if zoned == (zone == "zoned"):
                return _ranks_at(seconds, bounds, read)
            if side == "upper":
                between = 2 * bisect_right(bounds, seconds + ZONES_APART, key=read)
            else:
                between = 2 * bisect_left(bounds, seconds - ZONES_APART, key=read)
            return between, between
    return None


def _ranks_of_number(number: Number, rank: str, bounds: Sequence[bytes]) -> tuple[int, int] | None:
    if number.value != number.value:
        return None
    if rank:
        rounding = max(number.rank, Rank.FLOAT if rank == "float" else Rank.DOUBLE)
        return _ranks_at(number.promoted(rounding), bounds, float)
    if number.rank <= Rank.DECIMAL:
        return _ranks_at(Decimal(number.value), bounds, _reader("number"))

    def rounded(text: bytes) -> float | Decimal:
        return Number(Rank.DECIMAL, Decimal(text.decode())).promoted(number.rank)

    return _ranks_at(number.value, bounds, rounded)


def _ranks_at(value: Any, bounds: Sequence[bytes], read: Callable[[bytes], Any]) -> tuple[int, int]:
    left = bisect_left(bounds, value, key=read)
    right = bisect_right(bounds, value, lo=left, key=read)
    return (2 * left, 2 * left) if left == right else (2 * left + 1, 2 * right - 1)


def _number_text(number: float | Decimal) -> bytes:
    """One text for each number."""
    if isinstance(number, float):
        return repr(number + 0.0).encode()
    text = f"{Decimal(number):f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return b"0" if text == "-0" else text.encode()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
