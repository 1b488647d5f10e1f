"""Charts as SVG: lines over linear or logarithmic axes, and bars. Small, the same for the same input, light and dark.

Written by hand rather than with a plotting library: the files stay at a few kilobytes without fonts or paths for
letters, they follow the reader's colour scheme, their text can be read aloud and searched, and nothing is installed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

Style = Literal["measured", "published", "described"]
"""Measured here; a number that a paper prints; a shape that it tells in words, which has no numbers of its own."""

WIDTH, HEIGHT = 400, 250
"""Of the area between a panel's axes."""
LEFT, RIGHT, TOP, BOTTOM = 66, 24, 58, 48
LEGEND_ROW, BAR = 18, 24
COLOURS = ["#0b6e99", "#b5542b", "#4d7c2f", "#7a4fa3", "#a3770a", "#a83a5e", "#4c5866"]
DARK_COLOURS = ["#5db7e0", "#ee9468", "#93c572", "#bd9be0", "#dcb44c", "#e78aa8", "#a9b4c0"]
MARKS = ["circle", "square", "diamond", "triangle"]


@dataclass(frozen=True)
class Axis:
    """``numbers`` is false where only a shape is known. A linear axis begins at zero; ``shown`` are always on it."""

    label: str
    scale: Literal["linear", "log"] = "linear"
    numbers: bool = True
    shown: tuple[float, ...] = ()


@dataclass(frozen=True)
class Line:
    """Points in order of x. A ``colour`` is the number of one; lines without take the next."""

    name: str
    points: Sequence[tuple[float, float]]
    style: Style = "measured"
    colour: int | None = None


@dataclass(frozen=True)
class Panel:
    """Lines over two axes."""

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """A bar for each name, with its value written beside it; ``log`` where they differ by orders of magnitude.

    ``most`` is what the longest could be, where several stand side by side. ``line`` is a value to compare with, and
    its name. Where some are ``ours``, the others are grey.
    """

    title: str
    label: str
    values: Sequence[tuple[str, float]]
    log: bool = False
    note: str = ""
    most: float = 0.0
    line: tuple[float, str] | None = None
    ours: tuple[str, ...] = ()


def svg(title: str, told: str, panels: Sequence[Panel | Bars]) -> str:
    """Panels in rows of two; one that is left over is as wide as two. ``told`` is for those who cannot see it."""
    across = WIDTH + LEFT + RIGHT
    width = across * min(2, len(panels))
    parts, y = list[str](), 0
    for first in range(0, len(panels), 2):
        row = panels[first : first + 2]
        wide = width // len(row) - LEFT - RIGHT
        for number, panel in enumerate(row):
            parts.append(f'<g transform="translate({across * number} {y})">{_panel(panel, wide)}</g>')
        y += max(map(_height, row))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" role="img"'
    return (
        f'{head} aria-labelledby="t d"><title id="t">{escape(title)}</title><desc id="d">{escape(told)}</desc>\n'
        f'<style>{_STYLE}</style>\n<rect class="paper" width="100%" height="100%"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _panel(panel: Panel | Bars, wide: int) -> str:
    heading = _text(LEFT - 46, 24, panel.title, "title")
    note = _text(LEFT - 46, 43, panel.note, "note") if panel.note else ""
    return heading + note + (_bars(panel, wide) if isinstance(panel, Bars) else _lines(panel, wide))


def _height(panel: Panel | Bars) -> int:
    if isinstance(panel, Bars):
        return TOP + BAR * len(panel.values) + BOTTOM
    return TOP + HEIGHT + BOTTOM + LEGEND_ROW * len(panel.lines) + 14


@dataclass(frozen=True)
class _Span:
    """Where an axis begins and ends, and what is written along it."""

    axis: Axis
    low: float
    high: float
    ticks: Sequence[float]

    @classmethod
    def of(cls, axis: Axis, values: Iterable[float]) -> _Span:
        known = [value for value in (*axis.shown, *values) if axis.scale == "linear" or value > 0] or [1.0]
        return cls._log(axis, min(known), max(known)) if axis.scale == "log" else cls._linear(axis, known)

    @classmethod
    def _log(cls, axis: Axis, low: float, high: float) -> _Span:
        steps = (1, 2, 5) if high / low < 60 else (1,)
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
        all_ = [step * 10.0**decade for decade in decades for step in steps]
        bottom = max(tick for tick in all_ if tick <= low * 1.0001)
        top = min(tick for tick in all_ if tick >= high * 0.9999 and tick > bottom)
        ticks = [tick for tick in all_ if bottom <= tick <= top]
        every = -(-len(ticks) // 8)
        return cls(axis, bottom, top, ticks[::every])

    @classmethod
    def _linear(cls, axis: Axis, known: Sequence[float]) -> _Span:
        low, high = min(0.0, *known), max(known)
        if high == low:
            high = low + (abs(low) or 1)
        size = 10.0 ** math.floor(math.log10((high - low) / 4))
        step = next(size * times for times in (1, 2, 2.5, 5, 10) if (high - low) / (size * times) <= 5.01)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(axis, first * step, last * step, [n * step for n in range(first, last + 1)])

    def share(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        if self.axis.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def _lines(panel: Panel, wide: int) -> str:
    x = _Span.of(panel.x, (point[0] for line in panel.lines for point in line.points))
    y = _Span.of(panel.y, (point[1] for line in panel.lines for point in line.points))
    parts = [_grid(x, y, wide)]
    taken = -1
    for number, line in enumerate(panel.lines):
        taken = taken + 1 if line.colour is None else line.colour
        places = [
            (LEFT + wide * x.share(a), TOP + HEIGHT * (1 - y.share(b)))
            for a, b in line.points
            if (a > 0 or panel.x.scale == "linear") and (b > 0 or panel.y.scale == "linear")
        ]
        parts.append(_line(line, places, taken % len(COLOURS)))
        parts.append(_entry(line, number, taken % len(COLOURS)))
    return "".join(parts)


def _grid(x: _Span, y: _Span, wide: int) -> str:
    parts = []
    for tick in y.ticks:
        at = TOP + HEIGHT * (1 - y.share(tick))
        if y.axis.numbers:
            parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{LEFT + wide}"/>')
            parts.append(_text(LEFT - 8, at + 4, number(tick), "tick", "end"))
    for tick in x.ticks if x.axis.numbers else ():
        at = LEFT + wide * x.share(tick)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{TOP + HEIGHT}"/>')
        parts.append(_text(at, TOP + HEIGHT + 17, number(tick), "tick", "middle"))
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{TOP + HEIGHT}H{LEFT + wide}"/>')
    parts.append(_text(LEFT + wide / 2, TOP + HEIGHT + 37, x.axis.label, "label", "middle"))
    middle = TOP + HEIGHT / 2
    turned = f'transform="rotate(-90 16 {middle:.0f})"'
    parts.append(_text(16, middle, y.axis.label, "label", "middle", turned))
    return "".join(parts)


def _line(line: Line, places: Sequence[tuple[float, float]], colour: int) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [f'<g class="c{colour} {line.style}">']
    if len(places) > 1 and line.style != "published":
        parts.append(f'<polyline points="{joined}"/>')
    if line.style != "described":
        for (x, y), (a, b) in zip(places, line.points, strict=False):
            told = f"{line.name}: {number(a)}, {number(b)}"
            parts.append(_mark(x, y, colour, line.style, told))
    return "".join(parts) + "</g>"


def _mark(x: float, y: float, colour: int, style: Style, told: str = "") -> str:
    title = f"<title>{escape(told)}</title>" if told else ""
    size = 5.5 if style == "published" else 3.6
    match MARKS[colour % len(MARKS)]:
        case "circle":
            shape = f"M{x - size:.1f} {y:.1f}a{size} {size} 0 1 0 {2 * size} 0a{size} {size} 0 1 0 {-2 * size} 0z"
        case "square":
            shape = f"M{x - size:.1f} {y - size:.1f}h{2 * size}v{2 * size}h{-2 * size}z"
        case "diamond":
            wide = size * 1.3
            shape = f"M{x:.1f} {y - wide:.1f}l{wide:.1f} {wide:.1f}l{-wide:.1f} {wide:.1f}l{-wide:.1f} {-wide:.1f}z"
        case _:
            shape = f"M{x:.1f} {y - size:.1f}l{size * 1.1:.1f} {size * 2}h{-size * 2.2:.1f}z"
    return f'<path class="mark" d="{shape}">{title}</path>'


def _entry(line: Line, number_: int, colour: int) -> str:
    """A line of the legend."""
    y = TOP + HEIGHT + BOTTOM + 12 + LEGEND_ROW * number_
    sample = f'<polyline points="{LEFT},{y - 4} {LEFT + 26},{y - 4}"/>' if line.style != "published" else ""
    mark = _mark(LEFT + 13, y - 4, colour, line.style) if line.style != "described" else ""
    return f'<g class="c{colour} {line.style}">{sample}{mark}</g>' + _text(LEFT + 34, y, line.name, "entry")


def _bars(panel: Bars, wide: int) -> str:
    axis = Axis(panel.label, "log" if panel.log else "linear")
    span = _Span.of(axis, (panel.most, *(value for _, value in panel.values)))
    names = max((len(name) for name, _ in panel.values), default=0) * 6.4
    left = max(LEFT - 46, min(220, names)) + 30
    most = LEFT + wide - left - 54
    parts = []
    for row, (name, value) in enumerate(panel.values):
        y = TOP + BAR * row
        length = max(2.0, most * span.share(value)) if value > 0 or not panel.log else 2.0
        parts.append(_text(left - 8, y + 14, name, "entry", "end"))
        colour = len(COLOURS) - 1 if panel.ours and name not in panel.ours else 0
        parts.append(f'<rect class="c{colour} bar" x="{left}" y="{y + 2}" width="{length:.1f}" height="16"/>')
        parts.append(_text(left + length + 6, y + 14, number(value), "tick"))
    if panel.line:
        at, name = left + most * span.share(panel.line[0]), panel.line[1]
        parts.append(f'<path class="line" d="M{at:.1f} {TOP - 4}V{TOP + BAR * len(panel.values) + 2}"/>')
        parts.append(_text(at, TOP - 8, name, "note", "middle"))
    told = panel.label + (", logarithmic" if panel.log else "")
    parts.append(_text(left, TOP + BAR * len(panel.values) + 20, told, "label"))
    return "".join(parts)


def number(value: float) -> str:
    """A number with as many digits as are worth reading."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6 and value % 1e5 == 0:
        return f"{value / 1e6:g}M"
    if abs(value) >= 100 or value == round(value):
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start", more: str = "") -> str:
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{at} {more}>{escape(text)}</text>'.replace(" >", ">")


def _colours(colours: Sequence[str]) -> str:
    return "".join(f".c{n}{{stroke:{c};fill:{c}}}" for n, c in enumerate(colours))


_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#33404d;stroke:none}.title{font-size:15px;font-weight:600;fill:#16202a}"
    ".note{font-size:12px;fill:#5a6875}.tick{font-size:11px;fill:#5a6875}.label{font-size:12.5px}"
    ".paper{fill:#fff}.grid{stroke:#e4e8ec;fill:none}.axis{stroke:#8b97a3;fill:none}"
    ".line{stroke:#16202a;stroke-dasharray:4 3;fill:none}"
    "polyline{fill:none;stroke-width:2}.mark{stroke-width:1.2}.bar{stroke:none}"
    ".described polyline{stroke-dasharray:7 5}.published .mark{fill:#fff;stroke-width:2.4}"
    + _colours(COLOURS)
    + "@media(prefers-color-scheme:dark){text{fill:#d5dce3}.title{fill:#f2f5f8}.note,.tick{fill:#a3afbb}"
    ".paper,.published .mark{fill:#161b21}.grid{stroke:#2b333b}.axis{stroke:#6d7986}.line{stroke:#f2f5f8}"
    + _colours(DARK_COLOURS)
    + "}"
)
