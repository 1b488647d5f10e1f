"""The layers of a diagram: in which order their places stand, and where.

A place has an extent ``along`` the arrows and one ``across`` them; which of the two is x is not decided here.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

_SWEEPS = 12
_GAP = 22.0  # between layers, at least; more where arrows are steep
_STEEPEST = 80.0
_STRAIGHT = 6.0  # how much more a passing arrow wants to be straight than a box wants to be centred


@dataclass(eq=False)
class Place:
    """Room in a layer: for a box, for a label, or for an arrow that passes by."""

    layer: int
    along: float = 0.0
    half: float = 0.0  # half the extent across
    beyond: float = 0.0  # further room across, for arrows from a box to itself
    margin: float = 4.0
    passing: bool = False  # no box: an arrow's, with its label or without
    label: bool = False
    before: list[Place] = field(default_factory=list)
    after: list[Place] = field(default_factory=list)
    index: int = 0
    across: float = 0.0  # of the centre
    start: float = 0.0
    band: tuple[float, float] = (0.0, 0.0)  # of the whole layer


def untangle(layers: list[list[Place]]) -> None:
    """Order the places of each layer by the mean of their neighbours', up and down, and keep the best order seen."""
    _number(layers)
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down, turn_ties = sweep % 2 == 0, sweep % 4 >= 2
        for layer in layers if down else reversed(layers):
            if turn_ties:
                layer.reverse()
            layer.sort(key=lambda place: _mean(place, place.before if down else place.after))
            _number([layer])
        if (crossings := _crossings(layers)) < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best
    _number(layers)


def _number(layers: Iterable[list[Place]]) -> None:
    for layer in layers:
        for index, place in enumerate(layer):
            place.index = index


def _mean(place: Place, neighbours: list[Place]) -> float:
    return sum(other.index for other in neighbours) / len(neighbours) if neighbours else place.index


def _crossings(layers: list[list[Place]]) -> int:
    """How many pairs of arrows cross: per layer, the inversions among the ends of the arrows that leave it."""
    count = 0
    for layer in layers:
        ends: list[int] = []
        for place in layer:
            indexes = sorted(other.index for other in place.after)
            count += sum(len(ends) - bisect_right(ends, index) for index in indexes)
            for index in indexes:
                insort(ends, index)
    return count


def spread(layers: list[list[Place]]) -> None:
    """Give every place its position across: near its neighbours, in the layer's order, without overlaps."""
    for layer in layers:
        _settle(layer, lambda _: (0.0, 1.0))
    sweeps = [(_before, layers), (_after, layers[::-1])] * _SWEEPS + [(_around, layers)] * 2
    for pull, order in sweeps:
        for layer in order:
            _settle(layer, pull)
    top = min((place.across - place.half for layer in layers for place in layer), default=0.0)
    for layer in layers:
        for place in layer:
            place.across -= top


def _before(place: Place) -> tuple[float, float]:
    return _pull(place, place.before)


def _after(place: Place) -> tuple[float, float]:
    return _pull(place, place.after)


def _around(place: Place) -> tuple[float, float]:
    return _pull(place, place.before + place.after if place.passing or not place.after else place.after)


def _pull(place: Place, neighbours: list[Place]) -> tuple[float, float]:
    """Where a place wants to be, and how much."""
    weights = [_STRAIGHT if place.passing and other.passing else 1.0 for other in neighbours]
    total = sum(weights)
    if not total:
        return place.across, 0.1
    return sum(w * other.across for w, other in zip(weights, neighbours, strict=True)) / total, total


def _settle(layer: list[Place], pull: Callable[[Place], tuple[float, float]]) -> None:
    """Move a layer's places as near to where they want to be as their order and sizes allow, in least squares.

    Neighbours that want to overlap form a group, which stands where its members want to be on average.
    """
    groups: list[tuple[float, float, int]] = []  # position, weight, number of members
    offsets: list[float] = []
    offset = 0.0
    for n, place in enumerate(layer):
        if n:
            above = layer[n - 1]
            offset += above.half + above.beyond + above.margin + place.margin + place.half
        offsets.append(offset)
        wanted, weight = pull(place)
        group = (wanted - offset, weight, 1)
        while groups and groups[-1][0] >= group[0]:
            position, more, members = groups.pop()
            mean = (position * more + group[0] * group[1]) / (more + group[1])
            group = (mean, more + group[1], members + group[2])
        groups.append(group)
    positions = [position for position, _, members in groups for _ in range(members)]
    for place, position, offset in zip(layer, positions, offsets, strict=True):
        place.across = position + offset


def advance(layers: list[list[Place]]) -> None:
    """Give every layer its band along the arrows; the steeper the arrows before it, the further away."""
    end = 0.0
    for n, layer in enumerate(layers):
        if n:
            steep = max((abs(place.across - other.across) for place in layer for other in place.before), default=0.0)
            end += min(_STEEPEST, _GAP + 0.12 * steep)
        start, end = end, end + max((place.along for place in layer), default=0.0)
        for place in layer:
            place.band = (start, end)
            place.start = start + (end - start - place.along) / 2 if place.label else start
