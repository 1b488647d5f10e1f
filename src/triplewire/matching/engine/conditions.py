"""What filters ask of single vertices: the part of them that the trie can decide.

A filter becomes a list of **ways** in which it may come true, each a conjunction of atoms. Where an atom is
``UNDECIDED``, the others are necessary and the filter itself must be looked at afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from triplewire.matching.engine.ranks import FLIPPED, Range, known_value, prefix_range, range_of
from triplewire.rdf.terms import Resource, Term
from triplewire.rdf.values import Number, Text
from triplewire.subscriptions.pattern import VALUE, AttributeExists, AttributeTest, Call, Expression, Home, Variable

Label: TypeAlias = bytes | Range
"""What is asked of one vertex: a word of the labels' dictionary, or a range of values."""
Names: TypeAlias = Callable[[Resource], Resource]

MOST_WAYS = 8
"""A filter with more ways than this is left undecided, as far as needed."""

UNLIKE_NUMBERS, UNLIKE_LITERALS = b"n", b"u"
"""The labels of what ``!=`` any number, or any text or boolean, without being in order with it: resources, and NaN."""
_TEXTS = {"contains", "strends", "regex"}
_ANY_TEXT = Range("text *", None, None)
_ANCHORED = re.compile(r"\^([A-Za-z0-9 _:/-]+)(?![*?{])")
"""The letters that a regular expression begins with, without the last if that may be missing."""


class _Undecided(Enum):
    UNDECIDED = "undecided"


UNDECIDED = _Undecided.UNDECIDED


@dataclass(frozen=True)
class Demand:
    """A variable's vertex, or the home vertex, has a label."""

    vertex: Variable | Home
    label: Label


@dataclass(frozen=True)
class Attribute:
    """There is a vertex with these labels at the end of a path from the home vertex."""

    path: tuple[NamedNode, ...]
    labels: tuple[Label, ...] = ()


Atom: TypeAlias = Demand | Attribute | _Undecided
Way: TypeAlias = tuple[Atom, ...]


def is_label(term: NamedNode | Literal, name: Names) -> bytes:
    """The label of being a certain constant, under the one name for all that are the same."""
    return b"i" + text_of(term if isinstance(term, Literal) else name(term))


def similar_label(concept: NamedNode, threshold: Literal) -> bytes:
    """The label of being similar to a concept."""
    return b"~%s %s" % (threshold.value.encode(), text_of(concept))


def read_similar_label(label: bytes) -> tuple[NamedNode, float]:
    """The concept and the threshold that a label of similarity names."""
    threshold, _, concept = label[1:].partition(b" ")
    return NamedNode(concept.decode("utf-8", "surrogatepass")[1:-1]), float(threshold)


@lru_cache(maxsize=100_000)
def text_of(term: Term) -> bytes:
    """A term as the dictionaries know it."""
    return str(term).encode("utf-8", "surrogatepass")


def ways_of(filters: Iterable[Expression], name: Names) -> list[Way]:
    """The ways in which all of some filters may come true."""
    return _all([_ways(filter_, True, name) for filter_ in filters])


def _ways(expression: Expression, wanted: bool, name: Names) -> list[Way]:
    """The ways in which an expression may come to be true, or false if that is wanted. An error is neither."""
    match expression:
        case Call("not", (argument,)):
            return _ways(argument, not wanted, name)
        case Call("and" | "or" as operator, arguments):
            parts = [_ways(argument, wanted, name) for argument in arguments]
            return _all(parts) if (operator == "and") is wanted else _some(parts)
        case Call("in", (needle, *hay)) if wanted:
            return _some([_ways(Call("=", (needle, straw)), True, name) for straw in hay])
        case AttributeExists(path) if wanted:
            return [(Attribute(path),)]
        case AttributeTest(path, test) if wanted:
            return [_attribute(path, way) for way in _ways(test, True, name)]
        case AttributeTest(path, _):
            return [(Attribute(path), UNDECIDED)]
        case Call("~", (Variable() | Home() as vertex, NamedNode() as concept, Literal() as threshold)) if wanted:
            return [(Demand(vertex, similar_label(concept, threshold)), UNDECIDED)]  # since the score is to be told
        case Call(
            "!=", (Variable() as variable, Literal() as constant) | (Literal() as constant, Variable() as variable)
        ) if wanted:
            return _different(variable, constant)
        case Call(operator, arguments) if wanted:
            return [_comparison(operator, arguments, name)]
        case _:
            return [(UNDECIDED,)]


def _all(parts: list[list[Way]]) -> list[Way]:
    """Ways to have all the parts; the part with most ways is left undecided where they would be too many."""
    while True:
        count = 1
        for part in parts:
            count *= len(part)
        if count <= MOST_WAYS:
            return [tuple(dict.fromkeys(atom for way in chosen for atom in way)) for chosen in product(*parts)]
        widest = max(range(len(parts)), key=lambda i: len(parts[i]))
        parts = [_undecided(part) if i == widest else part for i, part in enumerate(parts)]


def _some(parts: list[list[Way]]) -> list[Way]:
    ways = list(dict.fromkeys(way for part in parts for way in part))
    return ways if len(ways) <= MOST_WAYS else _undecided(ways)


def _undecided(ways: list[Way]) -> list[Way]:
    """One way instead of many: the attributes that all of them need, and the rest undecided."""
    needed = [{Attribute(atom.path): None for atom in way if isinstance(atom, Attribute)} for way in ways]
    return [(*(one for one in needed[0] if all(one in others for others in needed)), UNDECIDED)]


def _attribute(path: tuple[NamedNode, ...], way: Way) -> Way:
    """A way to satisfy an attribute's test: what it demands of the value, and whether that is all."""
    labels = tuple(atom.label for atom in way if isinstance(atom, Demand) and atom.vertex == VALUE)
    found = Attribute(path, labels)
    return (found,) if len(labels) == len(way) else (found, UNDECIDED)


def _comparison(operator: str, arguments: tuple[Expression, ...], name: Names) -> Way:
    """What a call with a variable and a constant demands of the variable."""
    if operator in _TEXTS and isinstance(arguments[0], Variable):
        return (Demand(arguments[0], _beginning(operator, arguments[1:]) or _ANY_TEXT), UNDECIDED)
    if len(arguments) != 2:
        return (UNDECIDED,)
    left, right = arguments
    if operator in FLIPPED and isinstance(left, Literal | NamedNode):
        operator, left, right = FLIPPED[operator], right, left
    match operator, left, right:
        case (("=" | "sameterm"), Variable(), NamedNode()):
            return (Demand(left, is_label(right, name)),)
        case "sameterm", Variable(), Literal():
            return (Demand(left, is_label(right, name)),)
        case "strstarts", Variable(), Literal():
            range_ = prefix_range(right)
            return (UNDECIDED,) if range_ is None else (Demand(left, range_),)
        case _, Variable(), Literal() if operator in FLIPPED:
            return _ordered(operator, left, right, False, name)
        case _, Call("number", (Variable() as read,)), Literal() if operator in FLIPPED:
            return _ordered(operator, read, right, True, name)
        case _:
            return (UNDECIDED,)


def _beginning(operator: str, arguments: tuple[Expression, ...]) -> Range | None:
    """The range of texts that begin as a regular expression says that they must, if it says so plainly."""
    match operator, arguments:
        case "regex", (Literal() as pattern,) if "|" not in pattern.value:
            found = _ANCHORED.match(pattern.value)
            return prefix_range(Literal(found[1])) if found else None
    return None


def _different(variable: Variable, constant: Literal) -> list[Way]:
    """The ways in which a value may be unlike a constant: before it, after it, or unlike everything of its kind."""
    known = known_value(constant)
    in_one_order = isinstance(known, bool | Number) or (isinstance(known, Text) and known.language is None)
    before, after = range_of("<", constant), range_of(">", constant)
    if not in_one_order or before is None or after is None:
        return [(UNDECIDED,)]
    unlike = UNLIKE_NUMBERS if isinstance(known, Number) else UNLIKE_LITERALS
    return [(Demand(variable, label),) for label in (before, after, unlike)]


def _ordered(operator: str, variable: Variable, constant: Literal, read: bool, name: Names) -> Way:
    range_ = range_of(operator, constant, read)
    if range_ is not None:
        return (Demand(variable, range_),)
    if operator == "=" and known_value(constant) is None:  # equal to itself alone
        return (Demand(variable, is_label(constant, name)),)
    return (UNDECIDED,)
