"""How well interests find papers: precision and recall over thresholds, on the STW thesaurus and its 2,934 papers.

An interest is one inner concept; the papers that it should find are those with a concept at or below it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from benchmarks.report import report
from triplewire.concepts.load import load_model
from triplewire.concepts.measures import MEASURES
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.similarity import Similarity
from triplewire.concepts.taxonomy import ROOT, Taxonomy
from triplewire.matching.engine.rows import Rows

STW = Path(__file__).parents[2] / "shared/data/stw"
THRESHOLDS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
EXAMINED = [0.7, 0.8, 0.85]
KINDS = ["above it", "a sibling", "below a sibling", "beside what is above it", "farther away"]

Curve = list[tuple[float, float]]
Parents = Mapping[NamedNode, Collection[NamedNode]]


def main() -> None:
    if why := absent():
        print(why)
        return
    parents, papers = thesaurus(), papers_of_economics()
    inner = inner_concepts(parents)
    wanted = papers_wanted(papers, inner, Taxonomy(parents))
    kept = wanted.any(axis=0)
    frequencies = Counter(concept for paper in papers for concept in paper)
    curves: dict[str, Curve] = {}
    relations = Relations(Taxonomy(parents), inner)
    wrong: list[dict[str, object]] = []
    for measure in MEASURES:
        rows = Rows([(concept, ()) for concept in inner], Similarity(parents, measure, frequencies))
        near = [np.array([rows.to(concept) for concept in paper]) for paper in papers]
        scores = np.array([one.max(axis=0) for one in near])
        curves[measure] = [quality(scores[:, kept] > threshold, wanted[:, kept]) for threshold in THRESHOLDS]
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


def absent() -> str | None:
    """What is missing, if something is."""
    return None if STW.exists() else f"the STW thesaurus is not at {STW}"


@cache
def model() -> ConceptModel:
    """The thesaurus as a concept model."""
    return load_model([STW / "stw-skos.ttl"])


def thesaurus() -> Parents:
    """The concepts, with those that are broader."""
    return model().concept_parents


def papers_of_economics() -> list[list[NamedNode]]:
    """The concepts of each paper, as librarians chose them."""
    lines = (STW / "papers-train.ndjson").read_text().splitlines()
    return [[NamedNode(name) for name in json.loads(line)["concepts"]] for line in lines]


def inner_concepts(parents: Parents) -> list[NamedNode]:
    """Those that others are narrower than."""
    return sorted({parent for above in parents.values() for parent in above}, key=str)


def papers_wanted(papers: list[list[NamedNode]], inner: list[NamedNode], taxonomy: Taxonomy) -> NDArray[np.bool_]:
    """Which paper has a concept at or below which inner concept."""
    names = [taxonomy.name(concept) for concept in inner]
    rows = []
    for paper in papers:
        above = {ancestor for concept in paper for ancestor in taxonomy.ancestors(taxonomy.name(concept))}
        rows.append([name in above for name in names])
    return np.array(rows)


def quality(found: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> tuple[float, float]:
    """Precision and recall over all pairs of an interest and a paper."""
    both = np.count_nonzero(found & wanted)
    return both / max(1, np.count_nonzero(found)), both / np.count_nonzero(wanted)


if __name__ == "__main__":
    main()
