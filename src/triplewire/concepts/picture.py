"""Hierarchies as a picture, in the manner of the OPS paper's Figure 2.

Classes and SKOS concepts are round, properties square. A line's head is at the more general end; a term with several
parents stands there once, with a line to each.
"""

from __future__ import annotations

from collections.abc import Sequence

from triplewire.concepts.outline import Node, Outline
from triplewire.rdf.svg import Arrow, Box, Diagram, Shape, draw, shortened

TERMS = 150
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
        arrows=[
            Arrow(_key(part, parent), _key(part, node), tip=f"{node.label} ⊑ {parent.label}", back=True)
            for part in parts
            for node, above in part.parents.items()
            for parent in above
        ],
        direction="down" if count <= _DOWNWARD else "right",
        note=f"Left out, furthest from the top: {left_out} of {count} terms." if left_out else "",
    )


def _key(whole: Outline, node: Node) -> str:
    return f"{whole.kind} {node.terms[0]}"


def _box(whole: Outline, node: Node) -> Box:
    shape: Shape = "square" if whole.kind == "properties" else "round"
    lines = tuple(shortened(line) for line in (node.label, node.note) if line)
    return Box(_key(whole, node), lines, shape, tip=" = ".join(map(str, node.terms)))
