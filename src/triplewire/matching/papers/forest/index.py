"""The multi-level predicate index: predicates by number, in sets by attribute and operator class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

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
        self._denied: dict[Number, Number] = {}
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
                self.affirmed[number] = affirmed = self.take(Predicate(predicate.path, predicate.test))
                self._denied[affirmed] = number
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
        del self._numbers[predicate]
        self._free.append(number)
        if not self._on[predicate.path]:
            del self._on[predicate.path]
            self._sets.pop(predicate.path, None)
        if predicate.denied:
            del self._denied[self.affirmed[number]]
            self.let_go(self.affirmed[number])

    def selectivity(self, number: Number) -> tuple[int, Number]:
        predicate = self.predicates[number]
        return SELECTIVITY.get("" if predicate.denied else predicate.operator, 4), number

    def implied(self, numbers: Iterable[Number]) -> set[Number]:
        """The predicates that are known to hold if these do."""
        return set().union(*map(self._implied, numbers))

    def implying(self, number: Number) -> set[Number]:
        """The predicates each of which is known to make this one hold."""
        predicate = self.predicates[number]
        if predicate.test is None:
            return {number} if predicate.denied else {n for n in self._on[predicate.path] if not self._is_absence(n)}
        return self._denials(self._weaker(number)) if predicate.denied else self._stronger(number)

    def _implied(self, number: Number) -> set[Number]:
        predicate = self.predicates[number]
        if predicate.test is None:
            return {number}
        found = self._denials(self._stronger(number)) if predicate.denied else self._weaker(number)
        presence = self._numbers.get(Predicate(predicate.path))
        return found if presence is None else found | {presence}

    def _weaker(self, number: Number) -> set[Number]:
        """The tests that hold of every value of which the test of this predicate does."""
        predicate = self.predicates[number]
        sets = self._sets[predicate.path].values() if predicate.operator else ()
        return {self.affirmed[number]}.union(*(one.weaker(predicate) for one in sets))

    def _stronger(self, number: Number) -> set[Number]:
        """The tests that hold of no value but those of which the test of this predicate does."""
        predicate = self.predicates[number]
        sets = self._sets[predicate.path].values() if predicate.operator else ()
        return {self.affirmed[number]}.union(*(one.stronger(predicate) for one in sets))

    def _denials(self, numbers: Iterable[Number]) -> set[Number]:
        return {self._denied[number] for number in numbers if number in self._denied}

    def _is_absence(self, number: Number) -> bool:
        predicate = self.predicates[number]
        return predicate.test is None and predicate.denied

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
