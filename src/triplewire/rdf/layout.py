"""Where the boxes and arrows of a diagram go: a layered layout, the same for the same input.

Every arrow runs from layer to layer. Its label has a place of its own in a layer between those of the boxes, and
wherever the arrow passes a layer it has a place there too. So nothing lies on anything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from triplewire.rdf.layers import Place, advance, spread, untangle

Direction = Literal["right", "down"]

_NARROWEST = 2.5  # between arrows side by side; if it were less, they begin or end in one point
_APART = 24.0  # between parts with no connection
_LOOP = 20.0  # how far an arrow from a box to itself stands out


class Size(NamedTuple):
    width: float
    height: float


class Point(NamedTuple):
    x: float
    y: float


class Rect(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> Point:
        return Point(self.x + self.width / 2, self.y + self.height / 2)

    def overlaps(self, other: Rect) -> bool:
        apart_x = self.x + self.width <= other.x or other.x + other.width <= self.x
        return not (apart_x or self.y + self.height <= other.y or other.y + other.height <= self.y)


@dataclass(frozen=True)
class Link:
    """An arrow to be laid out, and how much room its label needs; none if it has no label."""

    start: str
    end: str
    label: Size | None = None


@dataclass(frozen=True)
class Route:
    """The way of an arrow: cubic curves (a point, then three for each curve), in two pieces around its label."""

    pieces: tuple[tuple[Point, ...], ...]
    label: Rect | None


@dataclass(frozen=True)
class Layout:
    boxes: Mapping[str, Rect]
    routes: tuple[Route, ...]
    size: Size


def layered(
    sizes: Mapping[str, Size], links: Sequence[Link], root: str | None = None, direction: Direction = "right"
) -> Layout:
    """Lay out a diagram: every box in the layer behind all that point to it, ``root`` first where there are cycles."""
    turned = direction == "down"
    boxes: dict[str, Rect] = {}
    routes: dict[int, Route] = {}
    end = 0.0
    for group in sorted(_groups(sizes, links), key=lambda group: root not in group):
        numbers = [n for n, link in enumerate(links) if link.start in group]
        part = _connected({name: sizes[name] for name in group}, [links[n] for n in numbers], root, turned)
        move = Point(end, 0.0) if turned else Point(0.0, end)
        boxes |= {name: _moved(rect, move) for name, rect in part.boxes.items()}
        routes |= {n: _moved_route(route, move) for n, route in zip(numbers, part.routes, strict=True)}
        end += (part.size.width if turned else part.size.height) + _APART
    return Layout(boxes, tuple(routes[n] for n in range(len(links))), _extent(boxes.values(), routes.values()))


def _groups(names: Iterable[str], links: Sequence[Link]) -> Iterator[dict[str, None]]:
    """The names, grouped with those that they are connected with."""
    near: dict[str, list[str]] = {name: [] for name in names}
    for link in links:
        near[link.start].append(link.end)
        near[link.end].append(link.start)
    met: set[str] = set()
    for first in near:
        if first in met:
            continue
        group, todo = {first}, [first]
        while todo:
            new = set(near[todo.pop()]) - group
            group |= new
            todo.extend(new)
        yield {name: None for name in near if name in group}
        met |= group


def _moved(rect: Rect, by: Point) -> Rect:
    return rect._replace(x=rect.x + by.x, y=rect.y + by.y)


def _moved_route(route: Route, by: Point) -> Route:
    pieces = tuple(tuple(Point(p.x + by.x, p.y + by.y) for p in piece) for piece in route.pieces)
    return Route(pieces, route.label and _moved(route.label, by))


def _extent(boxes: Iterable[Rect], routes: Iterable[Route]) -> Size:
    routes = list(routes)
    rooms = [*boxes, *(route.label for route in routes if route.label)]
    corners = [Point(room.x + room.width, room.y + room.height) for room in rooms]
    corners += [p for route in routes for piece in route.pieces for p in piece]
    return Size(max((p.x for p in corners), default=0.0), max((p.y for p in corners), default=0.0))


def _connected(sizes: Mapping[str, Size], links: Sequence[Link], root: str | None, turned: bool) -> Layout:
    """The layout of boxes that are all connected with each other."""
    loops = defaultdict(list)
    for n, link in enumerate(links):
        if link.start == link.end:
            loops[link.start].append(n)
    forward, met = _acyclic(list(sizes), links, root)
    layer = _layers(list(sizes), list(forward.values()), root)
    step = 2 if any(link.label for link in links) else 1

    boxes = {name: _box(sizes[name], [links[n] for n in loops[name]], step * layer[name], turned) for name in sizes}
    chains = {
        n: [boxes[low], *_chain(links[n].label, step * layer[low], step * layer[high], turned), boxes[high]]
        for n, (low, high) in forward.items()
    }
    for chain in chains.values():
        for one, two in pairwise(chain):
            one.after.append(two)
            two.before.append(one)
    rank = {name: n for n, name in enumerate(met)}
    ordered = [(rank[name], place) for name, place in boxes.items()]
    ordered += [(rank[forward[n][1]], place) for n, chain in chains.items() for place in chain[1:-1]]
    layers: list[list[Place]] = [[] for _ in range(1 + max((p.layer for _, p in ordered), default=0))]
    for _, place in sorted(ordered, key=lambda pair: pair[0]):
        layers[place.layer].append(place)

    untangle(layers)
    spread(layers)
    advance(layers)
    return _drawn(boxes, chains, forward, links, loops, turned)


def _box(size: Size, loops: list[Link], layer: int, turned: bool) -> Place:
    along, across = _turn(size, turned)
    labels = [_turn(link.label or Size(0, 0), turned) for link in loops]
    along = max(along, len(loops) * (max((label[0] for label in labels), default=0.0) + 8), 28.0 * len(loops))
    beyond = _LOOP + max(label[1] for label in labels) + 2 if loops else 0.0
    return Place(layer, along, across / 2, beyond, margin=10.0 if turned else 7.0)


def _chain(label: Size | None, low: int, high: int, turned: bool) -> Iterator[Place]:
    """An arrow's places in the layers between its ends, one of them with its label."""
    middle = (low + high) // 4 * 2 + 1
    for layer in range(low + 1, high):
        if label and layer == middle:
            along, across = _turn(label, turned)
            yield Place(layer, along + 6, across / 2, margin=6.0 if turned else 2.0, passing=True, label=True)
        else:
            yield Place(layer, passing=True)


def _turn(size: Size, turned: bool) -> tuple[float, float]:
    return (size.height, size.width) if turned else (size.width, size.height)


def _acyclic(
    names: list[str], links: Sequence[Link], root: str | None
) -> tuple[dict[int, tuple[str, str]], dict[str, None]]:
    """For every link its ends in such an order that there is no cycle, and the names in the order they are met."""
    leaving: dict[str, list[int]] = {name: [] for name in names}
    for n, link in enumerate(links):
        if link.start != link.end:
            leaving[link.start].append(n)
    entered = {link.end for link in links if link.start != link.end}
    tops = [name for name in names if name not in entered]
    forward: dict[int, tuple[str, str]] = {}
    met: dict[str, None] = {}
    done: set[str] = set()
    for top in [*([root] if root in leaving else []), *tops, *names]:
        if top in met:
            continue
        met[top] = None
        stack = [(top, iter(leaving[top]))]
        while stack:
            name, rest = stack[-1]
            number = next(rest, None)
            if number is None:
                done.add(name)
                stack.pop()
                continue
            end = links[number].end
            back = end in met and end not in done
            forward[number] = (end, name) if back else (name, end)
            if end not in met:
                met[end] = None
                stack.append((end, iter(leaving[end])))
    return forward, met


def _layers(names: list[str], pairs: list[tuple[str, str]], root: str | None) -> dict[str, int]:
    """Each name's layer: the longest way from a top. A top that is not the root moves up to what it points to."""
    after: dict[str, list[str]] = {name: [] for name in names}
    waiting = dict.fromkeys(names, 0)
    for low, high in pairs:
        after[low].append(high)
        waiting[high] += 1
    layer = dict.fromkeys(names, 0)
    tops = [name for name in names if not waiting[name]]
    ready = list(tops)
    while ready:
        name = ready.pop()
        for high in after[name]:
            layer[high] = max(layer[high], layer[name] + 1)
            waiting[high] -= 1
            if not waiting[high]:
                ready.append(high)
    for name in tops:
        if name != root and after[name]:
            layer[name] = min(layer[high] for high in after[name]) - 1
    return layer


def _drawn(
    boxes: Mapping[str, Place],
    chains: Mapping[int, list[Place]],
    forward: Mapping[int, tuple[str, str]],
    links: Sequence[Link],
    loops: Mapping[str, list[int]],
    turned: bool,
) -> Layout:
    """The places as rectangles and curves, in x and y."""

    def point(along: float, across: float) -> Point:
        return Point(across, along) if turned else Point(along, across)

    def rect(along: float, across: float, size: tuple[float, float]) -> Rect:
        return Rect(*point(along, across), *point(*size))

    leaving = _ports({n: (chain[0], chain[1]) for n, chain in chains.items()})
    entering = _ports({n: (chain[-1], chain[-2]) for n, chain in chains.items()})
    routes: dict[int, Route] = {}
    for n, chain in chains.items():
        pieces, label = _curves(chain, leaving[n], entering[n])
        if forward[n] != (links[n].start, links[n].end):
            pieces = [piece[::-1] for piece in pieces[::-1]]
        room = None
        if label:
            room = rect(label.start + 3, label.across - label.half, (label.along - 6, 2 * label.half))
        routes[n] = Route(tuple(tuple(point(*p) for p in piece) for piece in pieces), room)
    for name, numbers in loops.items():
        box = boxes[name]
        share = box.along / len(numbers) if numbers else 0.0
        for k, n in enumerate(numbers):
            middle, side = box.start + share * (k + 0.5), box.across + box.half
            size = _turn(links[n].label or Size(0, 0), turned)
            out = side + _LOOP * 4 / 3
            curve = [(middle - 9, side), (middle - 13, out), (middle + 13, out), (middle + 9, side)]
            room = rect(middle - size[0] / 2, side + _LOOP + 2, size) if links[n].label else None
            routes[n] = Route((tuple(point(*p) for p in curve),), room)
    rects = {name: rect(box.start, box.across - box.half, (box.along, 2 * box.half)) for name, box in boxes.items()}
    return Layout(rects, tuple(routes[n] for n in range(len(links))), _extent(rects.values(), routes.values()))


def _ports(ends: Mapping[int, tuple[Place, Place]]) -> dict[int, float]:
    """Where on its box each arrow begins or ends: side by side, in the order of the places they come from or go to."""
    at: dict[Place, list[int]] = defaultdict(list)
    for n, (box, _) in ends.items():
        at[box].append(n)
    ports: dict[int, float] = {}
    for box, numbers in at.items():
        numbers.sort(key=lambda n: ends[n][1].across)
        gap = min(9.0, box.half / len(numbers))
        gap = gap if gap > _NARROWEST else 0.0
        for k, n in enumerate(numbers):
            ports[n] = box.across + (k - (len(numbers) - 1) / 2) * gap
    return ports


def _curves(
    chain: list[Place], leaving: float, entering: float
) -> tuple[list[list[tuple[float, float]]], Place | None]:
    """An arrow through its places: straight within a layer, bent between two, broken where its label stands."""
    first, *middle, last = chain
    here = (first.start + first.along, leaving)
    pieces = [[here]]
    label = None

    def straight(along: float) -> None:
        start = pieces[-1][-1]
        end = (along, start[1])
        if along > start[0]:
            pieces[-1].extend([start, end, end])

    def bent(along: float, across: float) -> None:
        start = pieces[-1][-1]
        half = (start[0] + along) / 2
        pieces[-1].extend([(half, start[1]), (half, across), (along, across)])

    straight(first.band[1])
    for place in middle:
        bent(place.band[0], place.across)
        if place.label:
            label = place
            straight(place.start)
            pieces.append([(place.start + place.along, place.across)])
        straight(place.band[1])
    bent(last.start, entering)
    return pieces, label
