"""The multi-level predicate index: predicates by number, in sets by attribute and operator class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import Literal

from triplewire.matching.papers.forest.implication import implies
from triplewire.matching.papers.forest.predicates import Path, Predicate
from triplewire.matching.papers.forest.sets import Equalities, Number, Others, PredicateSet, Prefixes, Thresholds

SELECTIVITY = {"=": 0, "in": 1, "strstarts": 2, "<": 3, "<=": 3, ">": 3, ">=": 3}
"""Which operators are likely to leave the fewest events."""


class PredicateIndex:
    """The distinct predicates of all subscriptions, each with a number while someone uses it."""

    def __init__(self, names: dict[Any, Any]) -> None:
        self._names = names
        self._numbers: dict[Predicate, Number] = {}
        self._free: list[Number] = []
        self._uses: list[int] = []
        self.predicates: list[Predicate] = []
        self.set_of: list[PredicateSet | None] = []
        """The set in which a predicate is searched; none if only presence is asked."""
        self.affirmed: list[Number] = []
        """The number of the predicate that a denied one denies, else its own."""
        self._sets: defaultdict[Path, dict[str, PredicateSet]] = defaultdict(dict)
        self._on: defaultdict[Path, set[Number]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self.predicates)

    @property
    def in_use(self) -> int:
        return len(self._numbers)

    def take(self, predicate: Predicate) -> Number:
        """A predicate's number, kept until it is let go of as often as it was taken."""
        number = self._numbers.get(predicate)
        if number is None:
            number = self._numbers[predicate] = self._new(predicate)
            self._on[predicate.path].add(number)
            if predicate.denied:
                self.affirmed[number] = self.take(Predicate(predicate.path, predicate.test))
            elif predicate.test is not None:
                self.set_of[number] = found = self._set(predicate)
                found.add(number, predicate)
        self._uses[number] += 1
        return number

    def let_go(self, number: Number) -> None:
        self._uses[number] -= 1
        if self._uses[number]:
            return
        predicate = self.predicates[number]
        self._on[predicate.path].discard(number)
        found = self.set_of[number]
        if found is not None:
            found.discard(number, predicate)
            self.set_of[number] = None
        if predicate.denied:
            self.let_go(self.affirmed[number])
        del self._numbers[predicate]
        self._free.append(number)

    def selectivity(self, number: Number) -> tuple[int, Number]:
        predicate = self.predicates[number]
        return SELECTIVITY.get("" if predicate.denied else predicate.operator, 4), number

    def implied(self, numbers: Iterable[Number]) -> set[Number]:
        """The predicates that are known to hold if these do."""
        return {found for number in numbers for found in self._related(number, weaker=True)}

    def implying(self, number: Number) -> set[Number]:
        """The predicates each of which makes this one hold."""
        return set(self._related(number, weaker=False))

    def _related(self, number: Number, weaker: bool) -> Iterator[Number]:
        predicate = self.predicates[number]
        yield number
        for candidate in self._candidates(predicate, weaker):
            other = self.predicates[candidate]
            if implies(predicate, other) if weaker else implies(other, predicate):
                yield candidate

    def _candidates(self, predicate: Predicate, weaker: bool) -> Iterator[Number]:
        presence = Predicate(predicate.path)
        if weaker:
            yield from (self._numbers[known] for known in (presence,) if known in self._numbers)
        elif predicate == presence:
            yield from self._on[predicate.path]
        operator, sets = predicate.operator, self._sets.get(predicate.path, {})
        if predicate.denied or not operator:
            return
        for name in ("=", "strstarts", "<", "<=", ">", ">="):
            one, other = (operator, name) if weaker else (name, operator)
            if name in sets and _may_imply(one, other, predicate):
                yield from sets[name].weaker(predicate) if weaker else sets[name].stronger(predicate)

    def _set(self, predicate: Predicate) -> PredicateSet:
        sets, name = self._sets[predicate.path], predicate.operator
        name = "=" if name == "in" else name
        if name not in sets:
            sets[name] = self._new_set(name)
        return sets[name]

    def _new_set(self, operator: str) -> PredicateSet:
        match operator:
            case "=":
                return Equalities(self._names)
            case "strstarts":
                return Prefixes()
            case "":
                return Others()
            case _:
                return Thresholds(operator)

    def _new(self, predicate: Predicate) -> Number:
        if self._free:
            number = self._free.pop()
            self.predicates[number], self._uses[number], self.affirmed[number] = predicate, 0, number
            return number
        self.predicates.append(predicate)
        self._uses.append(0)
        self.set_of.append(None)
        self.affirmed.append(len(self.affirmed))
        return len(self.predicates) - 1


def _may_imply(one: str, other: str, predicate: Predicate) -> bool:
    """Whether a predicate with one operator may imply one with another."""
    if one == "=":
        return other == "=" or all(isinstance(operand, Literal) for operand in predicate.operands)
    return one == other or (one[0] == other[0] and one[0] in "<>") or (one == "in" and other == "=")
