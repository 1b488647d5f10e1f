"""Who covers whom in a set of subscriptions.

Asking of every pair is for small sets. A subscription can cover another only if the other has what it asks for
(``traits``), which is looked up first. And who covers a subscription covers all that it covers: so the general ones
come first, and of a subscription's candidates the most special are asked about first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from triplewire.concepts.model import ConceptModel
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.covering import covers
from triplewire.subscriptions.pattern import Subscription
from triplewire.subscriptions.traits import Range, Trait, asked, asked_ranges, had, had_ranges


@dataclass(frozen=True)
class Relatives:
    """The ids of the subscriptions that match the same events as one does, fewer, and more; in the set's order."""

    equal: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    covering: tuple[str, ...] = ()


def relatives(subscriptions: Sequence[Subscription], model: ConceptModel) -> list[Relatives]:
    """Each subscription's relatives among the others, so far as ``covers`` can tell.

    Left out is that everything covers a subscription that nothing can match.
    """
    above = _above(subscriptions, model)
    below = _turned(above)
    found = []
    for up, down in zip(above, below, strict=True):
        parts = (up & down, down & ~up, up & ~down)
        found.append(Relatives(*(tuple(subscriptions[n].id for n in _bits(part)) for part in parts)))
    return found


def _above(subscriptions: Sequence[Subscription], model: ConceptModel) -> list[int]:
    """For each subscription those that cover it. A set of subscriptions is a number, and each of them a bit of it."""
    may_cover = _candidates(subscriptions, model)
    candidates = _turned(may_cover)
    rank = {n: place for place, n in enumerate(sorted(range(len(may_cover)), key=lambda n: -may_cover[n].bit_count()))}
    above = [0] * len(subscriptions)
    for n in rank:
        for other in sorted(_bits(candidates[n]), key=rank.__getitem__, reverse=True):
            if not above[n] >> other & 1 and covers(subscriptions[other], subscriptions[n], model):
                above[n] |= 1 << other | above[other]
        above[n] &= ~(1 << n)
    for n in reversed(rank):
        above[n] = reduce(int.__or__, (above[other] for other in _bits(above[n])), above[n]) & ~(1 << n)
    return above


def _candidates(subscriptions: Sequence[Subscription], model: ConceptModel) -> list[int]:
    """For each subscription those that it may cover."""
    having: dict[Trait, int] = defaultdict(int)
    ranges: dict[object, list[Range]] = defaultdict(lambda: [Range()] * len(subscriptions))
    plain = [[canonical(a.pattern, model)[0] for a in subscription.alternatives] for subscription in subscriptions]
    for n, patterns in enumerate(plain):
        for pattern in (*patterns, *(alternative.pattern for alternative in subscriptions[n].alternatives)):
            for trait in had(pattern, model):
                having[trait] |= 1 << n
        for pattern in patterns:
            for property_, range_ in had_ranges(pattern, model).items():
                ranges[property_][n] = ranges[property_][n].narrowed(range_)
    lows = {property_: np.array([range_.low for range_ in found]) for property_, found in ranges.items()}
    highs = {property_: np.array([range_.high for range_ in found]) for property_, found in ranges.items()}
    everyone = (1 << len(subscriptions)) - 1
    found = []
    for n, patterns in enumerate(plain):
        wanted = reduce(frozenset.intersection, (asked(pattern, model) for pattern in patterns))
        left = reduce(int.__and__, (having[trait] for trait in wanted), everyone & ~(1 << n))
        for property_, range_ in asked_ranges(patterns[0]) if left and len(patterns) == 1 else ():
            if property_ in ranges:
                left &= _number((lows[property_] >= range_.low) & (highs[property_] <= range_.high))
        found.append(left)
    return found


def _number(mask: np.ndarray) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _turned(sets: list[int]) -> list[int]:
    """For each member the sets that it is in."""
    turned = [0] * len(sets)
    for n, members in enumerate(sets):
        for member in _bits(members):
            turned[member] |= 1 << n
    return turned
