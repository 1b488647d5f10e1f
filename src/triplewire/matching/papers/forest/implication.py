"""Which predicates follow from which: sound for every event, and not complete."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal

from triplewire.matching.papers.forest.order import kind_and_place, surely_less
from triplewire.matching.papers.forest.predicates import Predicate
from triplewire.subscriptions.evaluate import compare
from triplewire.subscriptions.functions import FilterError


def covers(general: Iterable[Predicate], special: Iterable[Predicate]) -> bool:
    """Whether every event on which the special conjunction holds makes the general one hold too."""
    known = list(special)
    return all(any(implies(predicate, wanted) for predicate in known) for wanted in general)


def implies(known: Predicate, wanted: Predicate) -> bool:
    """Whether one predicate holds wherever another does."""
    if known == wanted:
        return True
    if known.path != wanted.path or (known.test is None and known.denied):
        return False
    if wanted.test is None or known.test is None:
        return wanted.test is None and not wanted.denied
    if known.denied or wanted.denied:
        return known.denied and wanted.denied and _implies_of_a_value(wanted, known)
    return _implies_of_a_value(known, wanted)


def _implies_of_a_value(known: Predicate, wanted: Predicate) -> bool:
    """Whether every value that satisfies one test satisfies the other."""
    if not known.operator or not wanted.operator:
        return known.test == wanted.test
    if known.operator in ("=", "in") and wanted.operator in ("=", "in"):
        return set(known.operands) <= set(wanted.operands)
    (one, *more), (other, *others) = known.operands, wanted.operands
    if more or others or not isinstance(one, Literal) or not isinstance(other, Literal):
        return False
    if wanted.operator == "strstarts":
        begins = known.operator in ("=", "strstarts") and one.value.startswith(other.value)
        return begins and one.datatype == other.datatype and one.language == other.language
    if known.operator == "=":  # so it is not greater and not less
        return _threshold_implies(f"{wanted.operator[0]}=", one, wanted.operator, other)
    return known.operator[0] == wanted.operator[0] and _threshold_implies(known.operator, one, wanted.operator, other)


def _threshold_implies(known: str, one: Literal, wanted: str, other: Literal) -> bool:
    """Whether ``value known one`` implies ``value wanted other``, both operators in one direction."""
    places = kind_and_place(one), kind_and_place(other)
    if places[0] is None or places[1] is None or places[0][0] != places[1][0]:
        return False
    low, high = (one, other) if known[0] == "<" else (other, one)
    if len(known) == 2 and len(wanted) == 1:
        return _in_order("<", low, high) and surely_less(low, high)
    return _in_order("<=", low, high)


def _in_order(operator: str, low: Literal, high: Literal) -> bool:
    try:
        return compare(operator, low, high)
    except FilterError:
        return False
