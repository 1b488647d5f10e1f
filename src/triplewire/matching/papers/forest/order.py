"""Constants in order: for every kind of values that can be compared, where a constant stands among its like."""

from __future__ import annotations

from typing import Any, TypeAlias

from pyoxigraph import Literal

from triplewire.rdf.terms import Term
from triplewire.rdf.values import Moment, NoValueError, Number, Rank, Text, double, single, value

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


def rounded(place: Any) -> Any:
    """A place as coarsely as it is ever compared: a number may be rounded beside a float. A text stays as it is."""
    return place if isinstance(place, str) else single(double(place))


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
