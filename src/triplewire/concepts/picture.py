"""Hierarchies as a picture, in the manner of the OPS paper's Figure 2.

Classes and SKOS concepts are round, properties square. A line's head is at the more general end; a term with several
parents stands there once, with a line to each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from triplewire.concepts.outline import Node, Outline
from triplewire.rdf.svg import Arrow, Box, Diagram, Shape, draw, shortened

TERMS, AROUND = 150, 60
"""So many terms are drawn of a whole, and so many around one."""
_NARROW = 8
_DOWNWARD = 26  # as many terms as fit side by side on a page, about


def picture(outlines: Sequence[Outline], title: str = "Ontology", terms: int = TERMS) -> str:
    """The outlines as SVG. Of more than so many terms, those nearest to the tops are drawn."""
    return draw(diagram(outlines, title, terms))


def diagram(outlines: Sequence[Outline], title: str = "Ontology", terms: int = TERMS) -> Diagram:
    """What is to be drawn: every term that has another one above or below it, or all if there is no such term."""
    in_place = [whole.only(n for n in whole.parents if whole.parents[n] or whole.children[n]) for whole in outlines]
    drawn = in_place if any(whole.parents for whole in in_place) else list(outlines)
    count = sum(len(whole.parents) for whole in drawn)
    parts: list[Outline] = []
    room = terms
    for whole in drawn:
        parts.append(whole.only(whole.nearest_to_tops()[:room]))
        room -= len(parts[-1].parents)
    told = " and ".join(f"{len(whole.parents)} {whole.kind}" for whole in drawn if whole.parents)
    left_out = max(0, count - terms)
    return Diagram(
        title=title,
        description=f"{told or 'Nothing'}, the general above the special.",
        boxes=[_box(part, node) for part in parts for node in part.parents],
        arrows=[arrow for part in parts for arrow in _arrows(part)],
        direction="down" if count <= _DOWNWARD else "right",
        note=f"Left out, furthest from the top: {left_out} of {count} terms." if left_out else "",
    )


def neighbourhood(
    whole: Outline, node: Node, up: int, down: int, link: Callable[[Node], str], terms: int = AROUND
) -> Diagram:
    """A term with what is so many steps above and below it, each with a link; of more than so many, the nearest.

    Everything above it is drawn first, as that is seldom much.
    """
    near = whole.near(node, up, down)
    part = whole.only(near[:terms])
    left_out = len(near) - len(part.parents)
    return Diagram(
        title=f"{node.label} and what is near it",
        description=f"{len(part.parents)} {whole.kind}, the general above the special.",
        boxes=[replace(_box(part, one), strong=one == node, link=link(one)) for one in part.parents],
        arrows=_arrows(part),
        direction="down" if len(part.parents) <= _NARROW else "right",
        note=f"Left out: {left_out} of {len(near)}." if left_out else "",
    )


def _arrows(part: Outline) -> list[Arrow]:
    return [
        Arrow(_key(part, parent), _key(part, node), tip=f"{node.label} ⊑ {parent.label}", back=True)
        for node, above in part.parents.items()
        for parent in above
    ]


def _key(whole: Outline, node: Node) -> str:
    return f"{whole.kind} {node.terms[0]}"


def _box(whole: Outline, node: Node) -> Box:
    shape: Shape = "square" if whole.kind == "properties" else "round"
    lines = tuple(shortened(line) for line in (node.label, node.note) if line)
    return Box(_key(whole, node), lines, shape, tip=" = ".join(map(str, node.terms)))
