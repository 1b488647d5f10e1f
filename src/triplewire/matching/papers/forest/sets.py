"""PSS: the predicates on one attribute with operators of one class, found by value in one search.

A set knows not only which of its predicates a value satisfies, but also which of them follow from a predicate
(``weaker``), and which it follows from (``stronger``). That is sound whatever the event's values, and not complete.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias

from pyoxigraph import Literal

from triplewire.matching.papers.forest.order import Kind, equality_key, kind_and_place, rounded
from triplewire.matching.papers.forest.predicates import Predicate
from triplewire.rdf.terms import Term
from triplewire.rdf.values import NoValueError, Text, value

Number: TypeAlias = int
"""A predicate's number."""
Satisfied: TypeAlias = Callable[[Number], bool]
"""Whether the value at hand satisfies a predicate."""


class PredicateSet(Protocol):
    """A PSS."""

    def add(self, number: Number, predicate: Predicate) -> None: ...

    def discard(self, number: Number, predicate: Predicate) -> None: ...

    def search(self, term: Term, satisfied: Satisfied) -> Iterable[Number]:
        """The predicates that a value satisfies."""

    def weaker(self, predicate: Predicate) -> Iterable[Number]:
        """The predicates that hold of every value of which this one does."""

    def stronger(self, predicate: Predicate) -> Iterable[Number]:
        """The predicates that hold of no value but those of which this one does."""


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

    def beside(self, literal: Literal, above: bool, apart: bool) -> list[Number]:
        """The predicates whose constants are of a literal's kind and not less, or not greater, than it.

        Those that are ``apart`` from it are less or greater, and stay so where both are rounded.
        """
        found = kind_and_place(literal)
        if found is None or found[0] not in self._kinds:
            return []
        places, numbers = self._kinds[found[0]]
        place, key = (rounded(found[1]), rounded) if apart else (found[1], None)
        if above:
            return numbers[(bisect_right if apart else bisect_left)(places, place, key=key) :]
        return numbers[: (bisect_left if apart else bisect_right)(places, place, key=key)]

    def beginning_with(self, text: Literal) -> Iterator[Number]:
        """The predicates whose constants are texts of one language that begin with one."""
        kind, place = kind_and_place(text) or ((), "")
        places, numbers = self._kinds.get(kind, ([], []))
        at = bisect_left(places, place)
        while at < len(places) and places[at].startswith(place):
            yield numbers[at]
            at += 1


class Thresholds:
    """``<``, ``<=``, ``>`` or ``>=``: one operator, constants in order. A value satisfies all on one side of it."""

    def __init__(self, operator: str) -> None:
        self._operator = operator
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
        if not predicate.has_literal("=") and predicate.operator[0] != self._operator[0]:
            return []
        return self._sorted.beside(_literal(predicate), self._rising, _apart(predicate.operator, self._operator))

    def stronger(self, predicate: Predicate) -> list[Number]:
        if predicate.operator[0] != self._operator[0]:
            return []
        return self._sorted.beside(_literal(predicate), not self._rising, _apart(self._operator, predicate.operator))


class Equalities:
    """``=`` and ``in``: a hash of the constants. Names that are the same to the model have one place in it."""

    def __init__(self, names: dict[Any, Any]) -> None:
        self._names = names
        self._table: defaultdict[object, set[Number]] = defaultdict(set)
        self._constants: dict[Number, frozenset[Term]] = {}
        self._sorted = Sorted()

    def add(self, number: Number, predicate: Predicate) -> None:
        self._constants[number] = frozenset(predicate.operands)
        for key in self._keys(predicate):
            self._table[key].add(number)
        if predicate.has_literal("="):
            self._sorted.add(number, _literal(predicate))

    def discard(self, number: Number, predicate: Predicate) -> None:
        del self._constants[number]
        for key in self._keys(predicate):
            self._table[key].discard(number)
            if not self._table[key]:
                del self._table[key]
        if predicate.has_literal("="):
            self._sorted.discard(number, _literal(predicate))

    def search(self, term: Term, satisfied: Satisfied) -> Iterator[Number]:
        yield from filter(satisfied, self._table.get(self._key(term), ()))

    def weaker(self, predicate: Predicate) -> Iterator[Number]:
        if predicate.operator in ("=", "in"):
            alike = self._table.get(self._key(predicate.operands[0]), ())
            yield from (n for n in alike if self._constants[n].issuperset(predicate.operands))

    def stronger(self, predicate: Predicate) -> Iterator[Number]:
        if predicate.operator in ("=", "in"):
            alike = {number for key in self._keys(predicate) for number in self._table.get(key, ())}
            yield from (n for n in alike if self._constants[n].issubset(predicate.operands))
        elif predicate.operator == "strstarts":
            yield from self._sorted.beginning_with(_literal(predicate))
        else:
            above = predicate.operator[0] == ">"
            yield from self._sorted.beside(_literal(predicate), above, _apart("=", predicate.operator))

    def _keys(self, predicate: Predicate) -> set[object]:
        return set(map(self._key, predicate.operands))

    def _key(self, term: Term) -> object:
        key = equality_key(term)
        return self._names.get(key, key)


class Prefixes:
    """``strstarts``: a hash of the beginnings, asked for every length that there is; and the beginnings in order."""

    def __init__(self) -> None:
        self._table: defaultdict[str, dict[Number, Literal]] = defaultdict(dict)
        self._lengths: Counter[int] = Counter()
        self._sorted = Sorted()

    def add(self, number: Number, predicate: Predicate) -> None:
        literal = _literal(predicate)
        self._table[literal.value][number] = literal
        self._lengths[len(literal.value)] += 1
        self._sorted.add(number, literal)

    def discard(self, number: Number, predicate: Predicate) -> None:
        literal = _literal(predicate)
        del self._table[literal.value][number]
        if not self._table[literal.value]:
            del self._table[literal.value]
        self._lengths -= Counter([len(literal.value)])
        self._sorted.discard(number, literal)

    def search(self, term: Term, satisfied: Satisfied) -> Iterator[Number]:
        if (text := _text(term)) is not None:
            yield from (number for number, _ in self._beginning(text) if satisfied(number))

    def weaker(self, predicate: Predicate) -> Iterator[Number]:
        if predicate.operator == "strstarts" or predicate.has_literal("="):
            one = _literal(predicate)
            yield from (number for number, other in self._beginning(one.value) if _alike(one, other))

    def stronger(self, predicate: Predicate) -> Iterable[Number]:
        return self._sorted.beginning_with(_literal(predicate)) if predicate.operator == "strstarts" else ()

    def _beginning(self, text: str) -> Iterator[tuple[Number, Literal]]:
        """The predicates on what a text begins with."""
        for length in self._lengths:
            if length <= len(text) and text[:length] in self._table:
                yield from self._table[text[:length]].items()


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


def _apart(known: str, wanted: str) -> bool:
    """Whether one comparison implies another only if their constants differ: what is not more may not be less."""
    return known in ("=", "<=", ">=") and wanted in ("<", ">")


def _alike(one: Literal, other: Literal) -> bool:
    """Whether two constants are of one kind; for texts, of one language."""
    one_kind, other_kind = kind_and_place(one), kind_and_place(other)
    return one_kind is not None and other_kind is not None and one_kind[0] == other_kind[0]


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
