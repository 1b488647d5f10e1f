"""Constants in order: for every kind of values that can be compared, where a constant stands among its like."""

from __future__ import annotations

from typing import Any, TypeAlias

from pyoxigraph import Literal

from triplewire.rdf.terms import Term
from triplewire.rdf.values import Moment, NoValueError, Number, Rank, Text, single, value

Kind: TypeAlias = tuple[object, ...]
"""Along the constants of one kind, in order, ``value < constant`` turns from false to true once, whatever the value."""


def kind_and_place(literal: Literal) -> tuple[Kind, Any] | None:
    """The kind of a constant and its place in the kind's order; None if nothing is less or greater than it.

    Integers and decimals compare exactly with each other, and beside a float or double are rounded alike: one kind.
    """
    try:
        found = value(literal)
    except NoValueError:
        return None
    match found:
        case Number(rank, number):
            return (("number", max(rank, Rank.DECIMAL)), number) if number == number else None
        case Text(text, language):
            return ("text", language), text
        case Moment():
            return ("moment", found.datatype, found.zoned), found.seconds
        case _:
            return ("boolean",), found


def surely_less(one: Literal, other: Literal) -> bool:
    """Whether a constant stays before another of its kind even where both are rounded."""
    a, b = value(one), value(other)
    if isinstance(a, Number) and isinstance(b, Number):
        return single(float(a.promoted(Rank.DOUBLE))) < single(float(b.promoted(Rank.DOUBLE)))
    return True


def equality_key(term: Term) -> object:
    """The same for any two literals that are equal; two with the same key need not be."""
    if not isinstance(term, Literal):
        return term
    try:
        found = value(term)
    except NoValueError:
        return term
    match found:
        case Number():
            return single(float(found.promoted(Rank.DOUBLE)))
        case Moment():
            return found.datatype, found.seconds
        case _:
            return found
