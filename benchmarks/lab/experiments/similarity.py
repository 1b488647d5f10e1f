"""Similarity: the thesis's case studies, and thresholds on a real thesaurus."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.lab.chart import Axis, Bars, Line, Panel
from benchmarks.lab.experiment import Row, experiment, grid
from benchmarks.lab.figure import Drawn, Section, column, figure
from benchmarks.stw import absent, inner_concepts, papers_of_economics, papers_wanted, quality, thesaurus
from triplewire import load_model, make_matcher, parse_event, parse_subscription
from triplewire.concepts.measures import MEASURES
from triplewire.concepts.similarity import Similarity
from triplewire.concepts.taxonomy import Taxonomy
from triplewire.matching.engine.rows import Rows

SECTION = Section(
    40,
    "Similarity and thresholds",
    "The thesis notifies whoever's interests are more similar to a publication than a threshold that users choose. Its "
    "formulas were lost in part and read back; its three case studies say who is to be told.",
)
NEWS = Path(__file__).parents[3] / "examples/music-news"
NOT_TOLD = {"case-1-jeff", "section-3.2-album"}
"""Of those of a publication's own case, who is not to be told; everybody else is."""
DEFAULT = 0.7
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@experiment(
    "similarity-cases",
    "The case studies of the thesis: how similar each subscriber's interests are to the publication of the case.",
    tiny=grid(folder="examples/music-news"),
    normal=grid(folder="examples/music-news"),
    seconds=2,
)
def cases(folder: str) -> Iterator[Row]:
    model = load_model([NEWS / "ontology.ttl"])
    matcher = make_matcher("engine", model)
    for line in (NEWS / "subscriptions.ndjson").read_text().splitlines():
        matcher.add(parse_subscription(json.loads(line) | {"threshold": 0.0}, model))
    for line in (NEWS / "events.ndjson").read_text().splitlines():
        event = parse_event(line)
        for match in matcher.match(event):
            if match.subscription.startswith(event.id):
                told = match.subscription not in NOT_TOLD
                yield {"subscriber": match.subscription, "score": round(match.score, 4), "to be told": told}


@experiment(
    "similarity-stw",
    "Precision and recall of interests over thresholds, for three measures, on the STW thesaurus and its papers.",
    tiny=grid(measure="path", papers=20, every=40),
    normal=grid(measure=tuple(MEASURES), papers=2_934, every=1),
    seconds=40,
    absent=absent,
)
def thresholds(measure: str, papers: int, every: int) -> Iterator[Row]:
    """An interest is an inner concept, every so manieth; it should find papers with a concept at or below it."""
    parents, published = thesaurus(), papers_of_economics()
    inner, frequencies = inner_concepts(parents)[::every], Counter(concept for one in published for concept in one)
    wanted = papers_wanted(published[:papers], inner, Taxonomy(parents))
    kept = wanted.any(axis=0)
    near = Rows([(concept, ()) for concept in inner], Similarity(parents, measure, frequencies))
    scores = np.array([np.max([near.to(concept) for concept in one], axis=0) for one in published[:papers]])
    for threshold in THRESHOLDS:
        precision, recall = quality(scores[:, kept] > threshold, wanted[:, kept])
        yield {"threshold": threshold, "precision": round(precision, 4), "recall": round(recall, 4)}


@figure(
    "similarity-cases",
    "The case studies: who is told",
    SECTION,
    ("similarity-cases",),
    "case 1 notifies Lori, Janet and Kristi but not Jeff; cases 2 and 3 notify everybody; a link of pop notifies "
    "those who want pop and music, not the one who wants an album.",
)
def figure_cases(rows: list[Row]) -> Drawn:
    told = [(str(row["subscriber"]), float(row["score"] or 0)) for row in rows if row["to be told"]]
    others = [(str(row["subscriber"]), float(row["score"] or 0)) for row in rows if not row["to be told"]]
    least, most = min(score for _, score in told), max(score for _, score in others)
    line = (DEFAULT, f"threshold {DEFAULT}")
    works = most <= DEFAULT < least
    return Drawn(
        (
            Bars("To be told", "similarity", sorted(told, key=lambda one: -one[1]), most=1.0, line=line),
            Bars("Not to be told", "similarity", sorted(others, key=lambda one: -one[1]), most=1.0, line=line),
        ),
        f"The least similar who are to be told score {least:.2f}, the most similar who are not {most:.2f}: with one "
        f"ontology every threshold from {most:.2f} up to {least:.2f} tells whom the thesis tells, the default of "
        f"{DEFAULT} among them.",
        "holds" if works else "does not hold",
    )


@figure(
    "similarity-stw",
    "Thresholds on the STW thesaurus",
    SECTION,
    ("similarity-stw",),
    "users choose a threshold; what they gain and lose by it, the thesis does not measure.",
)
def figure_stw(rows: list[Row]) -> Drawn:
    names = list(dict.fromkeys(str(row["measure"]) for row in rows))
    curves = [Line(name, column(rows, "recall", "precision", measure=name)) for name in names]
    threshold = Axis("threshold", shown=(0, 1))
    by_threshold = [
        Line(f"{what}, {name}", column(rows, "threshold", what, measure=name), "measured" if n == 0 else "described", c)
        for n, what in enumerate(("precision", "recall"))
        for c, name in enumerate(names)
    ]
    at = {name: next(row for row in rows if row["measure"] == name and row["threshold"] == DEFAULT) for name in names}
    told = "; ".join(f"{name} {row['precision']:.2f} and {row['recall']:.2f}" for name, row in at.items())
    return Drawn(
        (
            Panel("Precision and recall", Axis("recall", shown=(0, 1)), Axis("precision", shown=(0, 1)), curves),
            Panel("Against the threshold", threshold, Axis("precision (line), recall (dashed)"), by_threshold),
        ),
        f"{rows[0]['papers']:,} papers, each with the concepts that librarians chose; an interest should find those at "
        f"or below its concept. At the default threshold of {DEFAULT} precision and recall are: {told}.",
    )
