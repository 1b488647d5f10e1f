"""Diagrams of boxes and arrows as SVG: dark on light, standing alone, with nothing to fetch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import east_asian_width
from xml.etree import ElementTree as ET

from triplewire.rdf.layout import Direction, Layout, Link, Point, Rect, Size, layered

Shape = Literal["round", "square", "oval", "note", "plain"]
Style = Literal["plain", "missing", "faint"]

_FONT = 13.0
_SMALL = 11.5
_LINE = 17.0
_PADDING = Size(10.0, 6.0)
_BORDER = 12.0
_LONGEST = 44
_INK = "#1f2933"
_SOFT = "#52606d"
_FAINT = "#6b7785"
_MISSING = "#b42318"
_LINES: dict[Style, str] = {"plain": _SOFT, "missing": _MISSING, "faint": "#c3cad1"}
_PAIRS = ("#1d5fa8", "#1d7a46", "#7a3fa0", "#a34f0b", "#0b6e78", "#a3266d")
"""The colours of what belongs together; white can be read on each."""
_BADGE = 8.5
_APART = 64.0  # between the two halves of a pair
_NARROW = frozenset("iljtfrI.,:;'|!()[]/ \"-")
_WIDE = frozenset("mwMW@%")
_UNWRITABLE = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FILLS: dict[str, str] = {"round": "#e8f1fb", "square": "#fbf6e3", "oval": "#eef7ec", "note": "#f5f5f5"}


@dataclass(frozen=True)
class Box:
    """A box with its lines of text, the first one large; ``key`` tells it from the others, ``tip`` tells it in full.

    A ``note`` has a broken outline, and what is ``plain`` has none. What is ``missing`` has long dashes.
    ``reasons`` are lines that stand out. A ``link`` leads elsewhere.
    """

    key: str
    lines: tuple[str, ...]
    shape: Shape = "round"
    strong: bool = False
    tip: str = ""
    style: Style = "plain"
    reasons: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True)
class Arrow:
    """An arrow between the boxes of two keys; its head is at its end, or at its start if it points ``back``."""

    start: str
    end: str
    label: str = ""
    tip: str = ""
    back: bool = False
    style: Style = "plain"


@dataclass(frozen=True)
class Diagram:
    """What is to be drawn. ``title`` and ``description`` are for those who cannot see it, ``note`` stands below it."""

    title: str
    description: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    root: str | None = None
    direction: Direction = "right"
    note: str = ""


def draw(diagram: Diagram) -> str:
    """The diagram as an SVG document."""
    layout = arrange(diagram)
    notes = [diagram.note] if diagram.note else []
    svg, stage = _document(diagram.title, diagram.description, layout.size, notes)
    if any(box.link for box in diagram.boxes):
        svg.set("role", "group")  # what is in an image cannot be reached
    _draw_diagram(stage, diagram, layout)
    _draw_notes(stage, layout.size, notes)
    return _written(svg)


@dataclass(frozen=True)
class Pair:
    """Two diagrams, one over the other, with lines between boxes of the upper and boxes of the lower one."""

    title: str
    description: str
    upper: Diagram
    lower: Diagram
    lines: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()


def draw_pair(pair: Pair) -> str:
    """The pair as an SVG document: each half under its title, the notes below.

    What a line joins has the line's colour and number; the lines are dotted and behind all else.
    """
    upper, lower = arrange(pair.upper), arrange(pair.lower)
    below = 2 * _LINE + upper.size.height + _APART
    size = Size(max(upper.size.width, lower.size.width), below + lower.size.height)
    svg, stage = _document(pair.title, pair.description, size, pair.notes)
    above = 1.5 * _LINE
    badges = list(_badges(pair, upper, lower, above, below))
    for start, end in zip(badges[::2], badges[1::2], strict=True):
        _draw_line(stage, start, end)
    _caption(stage, pair.upper.title, _LINE - 4)
    _caption(stage, pair.lower.title, below - _LINE)
    for place, (diagram, layout, y) in enumerate(((pair.upper, upper, above), (pair.lower, lower, below))):
        colours = {line[place]: _colour(number) for number, line in reversed(list(enumerate(pair.lines)))}
        half = ET.SubElement(stage, "g", {"transform": f"translate(0 {_number(y)})"})
        _draw_diagram(half, diagram, layout, colours)
    for badge in badges:
        _draw_badge(stage, badge)
    _draw_notes(stage, size, pair.notes)
    return _written(svg)


@dataclass(frozen=True)
class _Badge:
    """The number of a line where it ends, at a box."""

    number: int
    at: Point


def _badges(pair: Pair, upper: Layout, lower: Layout, above: float, below: float) -> Iterator[_Badge]:
    """Both ends of each line: below a box of the upper half, and above one of the lower. Several stand in a row."""
    taken: Counter[tuple[bool, str]] = Counter()
    for number, (top_key, bottom_key) in enumerate(pair.lines):
        top, bottom = upper.boxes[top_key], lower.boxes[bottom_key]
        for is_top, key, box, y in (
            (True, top_key, top, above + top.y + top.height),
            (False, bottom_key, bottom, below + bottom.y),
        ):
            beside = _BADGE + 3 + taken[is_top, key] * 2 * _BADGE
            taken[is_top, key] += 1
            yield _Badge(number, Point(min(box.x + beside, box.x + box.width), y))


def _colour(number: int) -> str:
    return _PAIRS[number % len(_PAIRS)]


def _draw_badge(stage: ET.Element, badge: _Badge) -> None:
    x, y = badge.at
    place = {"cx": _number(x), "cy": _number(y), "r": _number(_BADGE), "fill": _colour(badge.number)}
    ET.SubElement(stage, "circle", place)
    words = {"x": _number(x), "y": _number(y + 3.8), "text-anchor": "middle", "font-size": "10.5", "fill": "#ffffff"}
    _text(ET.SubElement(stage, "text", words | {"font-weight": "bold", "class": "badge-number"}), f"{badge.number + 1}")


def _document(title: str, description: str, size: Size, notes: Sequence[str]) -> tuple[ET.Element, ET.Element]:
    """A document with room for something of a size, and for notes below it; the second element is to be drawn in."""
    width = max([size.width, *(text_width(note, _SMALL) for note in notes)]) + 2 * _BORDER
    height = size.height + 2 * _BORDER + len(notes) * _LINE + (6 if notes else 0)
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {_number(width)} {_number(height)}",
            "width": _number(width),
            "height": _number(height),
            "role": "img",
            "font-family": "Helvetica, Arial, sans-serif",
            "font-size": _number(_FONT),
            "fill": _INK,
        },
    )
    _text(ET.SubElement(svg, "title"), title)
    _text(ET.SubElement(svg, "desc"), description)
    _arrowhead(ET.SubElement(svg, "defs"))
    ET.SubElement(svg, "rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    stage = ET.SubElement(svg, "g", {"transform": f"translate({_number(_BORDER)} {_number(_BORDER)})"})
    return svg, stage


def _draw_notes(stage: ET.Element, size: Size, notes: Sequence[str]) -> None:
    for n, note in enumerate(notes, start=1):
        place = {"x": "0", "y": _number(size.height + n * _LINE + 4), "class": "note"}
        _text(ET.SubElement(stage, "text", place | {"font-size": _number(_SMALL), "fill": _SOFT}), note)


def _draw_diagram(
    stage: ET.Element, diagram: Diagram, layout: Layout, colours: Mapping[str, str] | None = None
) -> None:
    """The diagram, with the boxes of some keys in a colour."""
    for arrow, route in zip(diagram.arrows, layout.routes, strict=True):
        _draw_arrow(stage, arrow, route.pieces, route.label)
    for box in diagram.boxes:
        _draw_box(stage, box, layout.boxes[box.key], (colours or {}).get(box.key))


def _written(svg: ET.Element) -> str:
    ET.indent(svg, " ")
    return ET.tostring(svg, encoding="unicode") + "\n"


def _caption(stage: ET.Element, text: str, y: float) -> None:
    place = {"x": "0", "y": _number(y), "class": "caption", "font-weight": "bold", "fill": _SOFT}
    halo = {"stroke": "#ffffff", "stroke-width": "6", "paint-order": "stroke"}
    _text(ET.SubElement(stage, "text", place | halo), text)


def _draw_line(stage: ET.Element, start: _Badge, end: _Badge) -> None:
    middle = (start.at.y + end.at.y) / 2
    way = _path((start.at, Point(start.at.x, middle), Point(end.at.x, middle), end.at))
    look = {"fill": "none", "stroke": _colour(start.number), "stroke-width": "1.6", "stroke-dasharray": "1.5 4"}
    ET.SubElement(stage, "path", {"d": way, "class": "mapping", "stroke-linecap": "round"} | look)


def arrange(diagram: Diagram) -> Layout:
    """Where everything in the diagram goes."""
    sizes = {box.key: _box_size(box) for box in diagram.boxes}
    links = [Link(arrow.start, arrow.end, _label_size(arrow.label)) for arrow in diagram.arrows]
    return layered(sizes, links, diagram.root, diagram.direction)


def text_width(text: str, size: float = _FONT) -> float:
    """About how wide a text is, rather too wide than too narrow: nobody knows which font will be there."""
    ems = 0.0
    for sign in text:
        if east_asian_width(sign) in "WF":
            ems += 1.0
        elif sign in _NARROW:
            ems += 0.37
        elif sign in _WIDE:
            ems += 0.92
        else:
            ems += 0.7 if sign.isupper() else 0.6
    return ems * size


def shortened(text: str, longest: int = _LONGEST) -> str:
    """A text as one line that fits a box."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _box_size(box: Box) -> Size:
    first, *more = box.lines or ("",)
    bold = (1.08 * text_width(line, _SMALL) for line in box.reasons)
    width = max(text_width(first), *(text_width(line, _SMALL) for line in more), *bold, 16.0)
    height = _LINE * len((*(box.lines or ("",)), *box.reasons)) + 2 * _PADDING.height
    return Size(width + 2 * _PADDING.width + (height / 3 if box.shape == "oval" else 0.0), height)


def _label_size(label: str) -> Size | None:
    return Size(text_width(label, _SMALL), _LINE - 2) if label else None


def _draw_box(parent: ET.Element, box: Box, rect: Rect, colour: str | None = None) -> None:
    if box.link:
        parent = ET.SubElement(parent, "a", {"href": box.link, "aria-label": " ".join(box.lines[:1])})
    group = ET.SubElement(parent, "g", {"class": "box home" if box.strong else "box"})
    _text(ET.SubElement(group, "title"), box.tip or " ".join(box.lines))
    if box.shape != "plain":
        _draw_outline(group, box, rect, colour)
    top = rect.centre.y - _LINE * (len((*box.lines, *box.reasons)) - 1) / 2
    for n, line in enumerate((*box.lines, *box.reasons)):
        place = {"x": _number(rect.centre.x), "y": _number(top + n * _LINE + 4.5), "text-anchor": "middle"}
        if n:
            place |= {"font-size": _number(_SMALL), "font-style": "italic", "fill": _SOFT}
        elif box.strong:
            place["font-weight"] = "bold"
        if box.style == "faint":
            place["fill"] = _FAINT
        elif "✗" in line:
            place["fill"] = _MISSING
        elif n >= len(box.lines):
            place |= {"fill": colour or _INK, "font-weight": "bold", "class": "reason"}
        _text(ET.SubElement(group, "text", place), line)


def _draw_outline(group: ET.Element, box: Box, rect: Rect, colour: str | None = None) -> None:
    outline = {name: _number(value) for name, value in rect._asdict().items()}
    outline |= {"fill": _FILLS[box.shape], "stroke": _INK, "stroke-width": "2.4" if box.strong else "1"}
    if box.shape == "round":
        outline["rx"] = _number(min(12.0, rect.height / 3))
    elif box.shape == "oval":
        outline["rx"] = _number(rect.height / 2)
    elif box.shape == "note":
        outline["stroke-dasharray"] = "4 3"
    if colour is not None:
        outline |= {"stroke": colour, "stroke-width": "3" if box.strong else "2"}
    if box.style == "missing":
        outline |= {"stroke": _MISSING, "stroke-dasharray": "9 4", "stroke-width": "1.8"}
    elif box.style == "faint":
        outline |= {"stroke": _LINES["faint"], "fill": "#fbfcfd"}
    ET.SubElement(group, "rect", outline)


def _draw_arrow(parent: ET.Element, arrow: Arrow, pieces: tuple[tuple[Point, ...], ...], label: Rect | None) -> None:
    group = ET.SubElement(parent, "g", {"class": "arrow"})
    _text(ET.SubElement(group, "title"), arrow.tip or arrow.label or f"{arrow.start} → {arrow.end}")
    way = " ".join(_path(piece) for piece in pieces)
    head = "marker-start" if arrow.back else "marker-end"
    look = {"d": way, "fill": "none", "stroke": _LINES[arrow.style], head: "url(#triplewire-head)"}
    if arrow.style == "missing":
        look |= {"stroke-dasharray": "9 4", "stroke-width": "1.8"}
    ET.SubElement(group, "path", look)
    if label:
        x, y = label.centre
        place = {"x": _number(x), "y": _number(y + 4), "text-anchor": "middle", "font-size": _number(_SMALL)}
        if arrow.style != "plain":
            place["fill"] = _MISSING if arrow.style == "missing" else _FAINT
        _text(ET.SubElement(group, "text", place), arrow.label)


def _path(piece: tuple[Point, ...]) -> str:
    start, *rest = (f"{_number(x)},{_number(y)}" for x, y in piece)
    return f"M{start} " + " ".join(f"C{' '.join(rest[n : n + 3])}" for n in range(0, len(rest), 3))


def _arrowhead(defs: ET.Element) -> None:
    size = {"viewBox": "0 0 10 10", "refX": "9", "refY": "5", "markerWidth": "9", "markerHeight": "9"}
    name = {"id": "triplewire-head", "orient": "auto-start-reverse", "markerUnits": "userSpaceOnUse"}
    marker = ET.SubElement(defs, "marker", name | size)
    ET.SubElement(marker, "path", {"d": "M0,1 L10,5 L0,9 z", "fill": _SOFT})


def _text(element: ET.Element, text: str) -> None:
    """Set an element's text, without the characters that XML cannot hold."""
    element.text = _UNWRITABLE.sub("\ufffd", text)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
