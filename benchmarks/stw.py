"""How well interests find papers: precision and recall over thresholds, on the STW thesaurus and its 2,934 papers.

An interest is one inner concept; the papers that it should find are those with a concept at or below it.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from benchmarks.report import report
from triplewire.concepts.load import load_model
from triplewire.concepts.measures import MEASURES
from triplewire.concepts.similarity import Similarity
from triplewire.concepts.taxonomy import ROOT, Taxonomy
from triplewire.matching.engine.rows import Rows

STW = Path(__file__).parents[2] / "shared/data/stw"
PICTURE = Path(__file__).parents[1] / "docs/images/stw.svg"
THRESHOLDS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
COLOURS = {"path": "#0b6e99", "wu-palmer": "#b5542b", "lin": "#4d7c2f"}
BESIDE = {"path": (6, -5), "wu-palmer": (-22, 12), "lin": (6, -5)}
"""Where a threshold is written, so that it is not in another curve's way."""
LEFT, TOP, SIDE = 60, 40, 400
EXAMINED = [0.7, 0.8, 0.85]
KINDS = ["above it", "a sibling", "below a sibling", "beside what is above it", "farther away"]

Curve = list[tuple[float, float]]


def main() -> None:
    if not STW.exists():
        print(f"The STW thesaurus is not at {STW}.")
        return
    parents = load_model([STW / "stw-skos.ttl"]).concept_parents
    lines = (STW / "papers-train.ndjson").read_text().splitlines()
    papers = [[NamedNode(name) for name in json.loads(line)["concepts"]] for line in lines]
    inner = sorted({parent for above in parents.values() for parent in above}, key=str)
    wanted = _wanted(papers, inner, Taxonomy(parents))
    kept = wanted.any(axis=0)
    frequencies = Counter(concept for paper in papers for concept in paper)
    curves: dict[str, Curve] = {}
    relations = Relations(Taxonomy(parents), inner)
    wrong: list[dict[str, object]] = []
    for measure in MEASURES:
        rows = Rows([(concept, ()) for concept in inner], Similarity(parents, measure, frequencies))
        near = [np.array([rows.to(concept) for concept in paper]) for paper in papers]
        scores = np.array([one.max(axis=0) for one in near])
        curves[measure] = [_quality(scores[:, kept] > threshold, wanted[:, kept]) for threshold in THRESHOLDS]
        closest = [[paper[i] for i in one.argmax(axis=0)] for paper, one in zip(papers, near, strict=True)]
        for threshold in EXAMINED:
            found = (scores > threshold) & kept
            wrong.append(
                {"measure": measure, "threshold": threshold, "found": f"{np.count_nonzero(found):,}"}
                | {"at or below it": f"{np.count_nonzero(found & wanted) / np.count_nonzero(found):.0%}"}
                | relations.shares(found & ~wanted, closest, np.count_nonzero(found))
            )
    told = f"{kept.sum():,} interests of one inner concept each, {len(papers):,} papers; precision / recall."
    table = [
        {"threshold": t} | {name: f"{curve[i][0]:.2f} / {curve[i][1]:.2f}" for name, curve in curves.items()}
        for i, t in enumerate(THRESHOLDS)
    ]
    report("stw", told, table)
    report(
        "stw-wrong", "What is closest to an interest's concept in the papers that it finds, in shares of those.", wrong
    )
    PICTURE.write_text(_picture(curves), encoding="utf-8")


class Relations:
    """How a paper's concept stands to an interest's that it is not at or below."""

    def __init__(self, taxonomy: Taxonomy, inner: list[NamedNode]) -> None:
        self.taxonomy = taxonomy
        self.inner = [taxonomy.name(concept) for concept in inner]
        self.above = cache(taxonomy.ancestors)
        self.of = cache(self._of)

    def shares(self, wrong: NDArray[np.bool_], closest: list[list[NamedNode]], total: int) -> dict[str, str]:
        """Of some pairs of a paper and an interest, how many stand how."""
        counts = Counter(
            self.of(closest[paper][interest], self.inner[interest]) for paper, interest in np.argwhere(wrong)
        )
        return {kind: f"{counts[kind] / total:.0%}" for kind in KINDS}

    def _of(self, given: NamedNode, wanted: NamedNode) -> str:
        given = self.taxonomy.name(given)
        parents = set(self.taxonomy.above(wanted)) - {ROOT}
        if given in self.above(wanted):
            return "above it"
        if parents & set(self.taxonomy.above(given)):
            return "a sibling"
        if parents & self.above(given):
            return "below a sibling"
        if set(self.taxonomy.above(given)) & self.above(wanted) - {ROOT}:
            return "beside what is above it"
        return "farther away"


def _wanted(papers: list[list[NamedNode]], inner: list[NamedNode], taxonomy: Taxonomy) -> NDArray[np.bool_]:
    """Which paper has a concept at or below which inner concept."""
    names = [taxonomy.name(concept) for concept in inner]
    rows = []
    for paper in papers:
        above = {ancestor for concept in paper for ancestor in taxonomy.ancestors(taxonomy.name(concept))}
        rows.append([name in above for name in names])
    return np.array(rows)


def _quality(found: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> tuple[float, float]:
    """Precision and recall over all pairs of an interest and a paper."""
    both = np.count_nonzero(found & wanted)
    return both / max(1, np.count_nonzero(found)), both / np.count_nonzero(wanted)


def _picture(curves: dict[str, Curve]) -> str:
    """Recall to the right, precision upward, a point for each threshold."""
    parts = [_text(LEFT + SIDE / 2, TOP + SIDE + 40, "recall", "middle"), _text(LEFT - 45, TOP - 15, "precision")]
    for tick in range(6):
        at = tick / 5
        x, y = _place(at, at)
        parts.append(f'<path d="M{LEFT} {y}H{LEFT + SIDE}M{x} {TOP}V{TOP + SIDE}" stroke="#ddd"/>')
        parts += [_text(LEFT - 8, y + 4, f"{at:.1f}", "end"), _text(x, TOP + SIDE + 18, f"{at:.1f}", "middle")]
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[name]
        points = [_place(recall, precision) for precision, recall in curve]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for threshold, (x, y) in zip(THRESHOLDS, points, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{threshold}</title></circle>')
            if threshold in (0.5, 0.7, 0.9):
                right, down = BESIDE[name]
                parts.append(_text(x + right, y + down, str(threshold), colour=colour, size=10))
        parts.append(_text(LEFT + SIDE + 15, TOP + 20 + 20 * number, name, colour=colour))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + SIDE + 110} {TOP + SIDE + 55}" width="640"'
    title = "<title>Precision and recall of interests on the STW thesaurus, over thresholds</title>"
    return (
        f'{head} font-family="sans-serif">{title}<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _place(x: float, y: float) -> tuple[float, float]:
    return LEFT + SIDE * x, TOP + SIDE * (1 - y)


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "#333", size: int = 13) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{text}</text>'


if __name__ == "__main__":
    main()
