"""PSS: the predicates on one attribute with operators of one class, found by value in one search."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias

from pyoxigraph import Literal

from triplewire.matching.papers.forest.order import Kind, equality_key, kind_and_place
from triplewire.matching.papers.forest.predicates import Predicate
from triplewire.rdf.terms import Term
from triplewire.rdf.values import NoValueError, Text, value

Number: TypeAlias = int
"""A predicate's number."""
Satisfied: TypeAlias = Callable[[Number], bool]
"""Whether the value at hand satisfies a predicate."""


class PredicateSet(Protocol):
    """A PSS. ``weaker`` and ``stronger`` find the predicates that one may imply, or be implied by: candidates."""

    def add(self, number: Number, predicate: Predicate) -> None: ...

    def discard(self, number: Number, predicate: Predicate) -> None: ...

    def search(self, term: Term, satisfied: Satisfied) -> Iterable[Number]:
        """The predicates that a value satisfies."""

    def weaker(self, predicate: Predicate) -> Iterable[Number]: ...

    def stronger(self, predicate: Predicate) -> Iterable[Number]: ...


class Sorted:
    """Predicates by the places of their constants, a list for each kind."""

    def __init__(self) -> None:
        self._kinds: dict[Kind, tuple[list[Any], list[Number]]] = {}

    def add(self, number: Number, literal: Literal) -> None:
        if (found := kind_and_place(literal)) is None:
            return
        places, numbers = self._kinds.setdefault(found[0], ([], []))
        at = bisect_right(places, found[1])
        places.insert(at, found[1])
        numbers.insert(at, number)

    def discard(self, number: Number, literal: Literal) -> None:
        if (found := kind_and_place(literal)) is None:
            return
        places, numbers = self._kinds[found[0]]
        at = numbers.index(number, bisect_left(places, found[1]))
        del places[at], numbers[at]
        if not numbers:
            del self._kinds[found[0]]

    def comparable(self, term: Term) -> Iterator[list[Number]]:
        """The lists of the kinds that a value can be compared with."""
        found = kind_and_place(term) if isinstance(term, Literal) else None
        if found is not None:
            yield from (numbers for kind, (_, numbers) in self._kinds.items() if kind[0] == found[0][0])

    def up_to(self, literal: Literal) -> list[Number]:
        """The predicates whose constants are of a literal's kind and not greater."""
        kind, place = kind_and_place(literal) or ((), None)
        places, numbers = self._kinds.get(kind, ([], []))
        return numbers[: bisect_right(places, place)]

    def from_(self, literal: Literal) -> list[Number]:
        """The predicates whose constants are of a literal's kind and not less."""
        kind, place = kind_and_place(literal) or ((), None)
        places, numbers = self._kinds.get(kind, ([], []))
        return numbers[bisect_left(places, place) :]


class Thresholds:
    """``<``, ``<=``, ``>`` or ``>=``: one operator, constants in order. A value satisfies all on one side of it."""

    def __init__(self, operator: str) -> None:
        self._rising = operator[0] == "<"
        self._sorted = Sorted()

    def add(self, number: Number, predicate: Predicate) -> None:
        self._sorted.add(number, _literal(predicate))

    def discard(self, number: Number, predicate: Predicate) -> None:
        self._sorted.discard(number, _literal(predicate))

    def search(self, term: Term, satisfied: Satisfied) -> Iterator[Number]:
        for numbers in self._sorted.comparable(term):
            turn = bisect_left(numbers, True, key=lambda n: satisfied(n) is self._rising)
            yield from numbers[turn:] if self._rising else numbers[:turn]

    def weaker(self, predicate: Predicate) -> list[Number]:
        return self._beside(predicate, self._rising)

    def stronger(self, predicate: Predicate) -> list[Number]:
        return self._beside(predicate, not self._rising)

    def _beside(self, predicate: Predicate, above: bool) -> list[Number]:
        literal = _literal(predicate)
        return self._sorted.from_(literal) if above else self._sorted.up_to(literal)


class Equalities:
    """``=`` and ``in``: a hash of the constants. Constants that are the same to the model have one place in it."""

    def __init__(self, names: dict[Any, Any]) -> None:
        self._names = names
        self._table: defaultdict[object, set[Number]] = defaultdict(set)
        self._sorted = Sorted()

    def add(self, number: Number, predicate: Predicate) -> None:
        for operand in predicate.operands:
            self._table[self._key(operand)].add(number)
            if isinstance(operand, Literal):
                self._sorted.add(number, operand)

    def discard(self, number: Number, predicate: Predicate) -> None:
        for operand in predicate.operands:
            key = self._key(operand)
            self._table[key].discard(number)
            if not self._table[key]:
                del self._table[key]
            if isinstance(operand, Literal):
                self._sorted.discard(number, operand)

    def search(self, term: Term, satisfied: Satisfied) -> Iterator[Number]:
        yield from filter(satisfied, self._table.get(self._key(term), ()))

    def weaker(self, predicate: Predicate) -> Iterator[Number]:
        for operand in predicate.operands[:1]:
            yield from self._table.get(self._key(operand), ())

    def stronger(self, predicate: Predicate) -> Iterator[Number]:
        for operand in predicate.operands:
            yield from self._table.get(self._key(operand), ())
            if predicate.operator[0] in "<>" and isinstance(operand, Literal):
                yield from (self._sorted.up_to if predicate.operator[0] == "<" else self._sorted.from_)(operand)

    def _key(self, term: Term) -> object:
        key = equality_key(term)
        return self._names.get(key, key)


class Prefixes:
    """``strstarts``: a hash of the beginnings, asked for every length that there is; and the beginnings in order."""

    def __init__(self) -> None:
        self._table: defaultdict[str, set[Number]] = defaultdict(set)
        self._lengths: Counter[int] = Counter()
        self._texts: list[str] = []

    def add(self, number: Number, predicate: Predicate) -> None:
        text = _literal(predicate).value
        if text not in self._table:
            self._lengths[len(text)] += 1
            self._texts.insert(bisect_left(self._texts, text), text)
        self._table[text].add(number)

    def discard(self, number: Number, predicate: Predicate) -> None:
        text = _literal(predicate).value
        self._table[text].discard(number)
        if not self._table[text]:
            del self._table[text]
            del self._texts[bisect_left(self._texts, text)]
            self._lengths -= Counter([len(text)])

    def search(self, term: Term, satisfied: Satisfied) -> Iterator[Number]:
        if (text := _text(term)) is not None:
            yield from filter(satisfied, self._beginning(text))

    def weaker(self, predicate: Predicate) -> Iterator[Number]:
        return self._beginning(_literal(predicate).value)

    def stronger(self, predicate: Predicate) -> Iterator[Number]:
        text = _literal(predicate).value
        at = bisect_left(self._texts, text)
        while at < len(self._texts) and self._texts[at].startswith(text):
            yield from self._table[self._texts[at]]
            at += 1

    def _beginning(self, text: str) -> Iterator[Number]:
        for length in self._lengths:
            yield from self._table.get(text[:length], ()) if length <= len(text) else ()


class Others:
    """Every other test, tried one by one."""

    def __init__(self) -> None:
        self._numbers: set[Number] = set()

    def add(self, number: Number, predicate: Predicate) -> None:
        self._numbers.add(number)

    def discard(self, number: Number, predicate: Predicate) -> None:
        self._numbers.discard(number)

    def search(self, term: Term, satisfied: Satisfied) -> Iterator[Number]:
        yield from filter(satisfied, self._numbers)

    def weaker(self, predicate: Predicate) -> Iterable[Number]:
        return ()

    def stronger(self, predicate: Predicate) -> Iterable[Number]:
        return ()


def _literal(predicate: Predicate) -> Literal:
    """The constant of a predicate that has one, a literal."""
    (operand,) = predicate.operands
    if not isinstance(operand, Literal):
        raise TypeError(f"{operand} is no literal")
    return operand


def _text(term: Term) -> str | None:
    try:
        found = value(term) if isinstance(term, Literal) else None
    except NoValueError:
        return None
    return found.value if isinstance(found, Text) else None
