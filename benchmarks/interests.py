"""Interests: a million of them over the STW thesaurus, and finding labels in texts."""

from __future__ import annotations

import json
import random
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pyoxigraph import Literal, NamedNode

from benchmarks.report import report
from benchmarks.stw import STW, model
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.synonyms import Dictionary
from triplewire.matching.engine.interests import Interests
from triplewire.matching.engine.postings import Postings
from triplewire.matching.engine.scorer import Scorer
from triplewire.matching.engine.texts import Texts
from triplewire.rdf.graph import Graph

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NO_GRAPH = Graph(())  # nobody attached new words to the model


def main() -> None:
    spotting()
    if STW.exists():
        matching(model())
    else:
        print(f"The STW thesaurus is not at {STW}, and is left out.")


def matching(model: ConceptModel, interests: int = 1_000_000, seed: int = 1) -> None:
    """Interests of one to five concepts drawn evenly, and the papers' concepts as events."""
    concepts = sorted(model.concept_parents, key=str)
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, interests)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = rng.integers(0, len(concepts), offsets[-1]).astype(np.int32)
    texts = Texts.of(json.dumps([concept.value]).encode() for concept in concepts)
    thresholds = np.full(interests, 0.7)
    together = Interests(texts, np.arange(interests, dtype=np.int32), offsets, members, thresholds)
    papers = [json.loads(line)["concepts"] for line in (STW / "papers-train.ndjson").read_text().splitlines()]
    profiles = [frozenset(map(NamedNode, paper)) for paper in papers]
    postings = Postings.of(together)
    scorer = Scorer(together, postings, model)
    scorer.best(profiles[0], NO_GRAPH)
    before = _megabytes()
    prepared = _spent(lambda: scorer.best(frozenset(concepts), NO_GRAPH))
    kept = _megabytes() - before
    chosen = random.Random(seed).sample(profiles, 200)
    scorer.match(chosen[0], NO_GRAPH)
    counts = [len(scorer.match(profile, NO_GRAPH)[0]) for profile in chosen]
    times = [_spent(lambda: scorer.match(profile, NO_GRAPH)) for profile in chosen]  # noqa: B023
    row = {
        "interests": f"{interests:,}",
        "concepts": f"{len(concepts):,}",
        "concepts an event, mean": f"{statistics.mean(map(len, chosen)):.1f}",
        "matches an event, median": f"{statistics.median(counts):,.0f}",
        "all rows, s": f"{prepared:.1f}",
        "all rows, MB": kept,
        "postings, MB": sum(array.nbytes for array in vars(postings).values()) >> 20,
        "an event, least ms": f"{min(times) * 1e3:.1f}",
        "an event, median ms": f"{statistics.median(times) * 1e3:.1f}",
    }
    report("interests", "Exact matching of interests, one core; CPU time of the thread, threshold 0.7.", [row])


def spotting(labels: int = 100_000, seed: int = 1) -> None:
    rng = random.Random(seed)
    named, common = (_words(rng, count) for count in (20_000, 3_000))
    texts = [" ".join(rng.choices(named, k=rng.choice([1, 1, 2, 2, 2, 3, 4]))) for _ in range(labels)]
    table = {NamedNode(f"http://example.org/{i}"): (Literal(text),) for i, text in enumerate(texts)}
    dictionary = Dictionary(table, table)
    rows: list[dict[str, object]] = []
    for told, words in (("one word in ten begins a label", common), ("every word begins several labels", named)):
        written = [_text(rng, words, texts) for _ in range(100)]
        found = [len(list(dictionary.spot(text))) for text in written]
        times = [_spent(lambda: list(dictionary.spot(text))) for _ in range(5) for text in written]  # noqa: B023
        rows.append(
            {
                "text": told,
                "labels": f"{labels:,}",
                "spotted, mean": f"{statistics.mean(found):.0f}",
                "least µs": f"{min(times) * 1e6:.0f}",
                "median µs": f"{statistics.median(times) * 1e6:.0f}",
            }
        )
    report("spotting", "Labels found in texts of 2 KB, one core; CPU time of the thread.", rows)


def _words(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(count)]


def _text(rng: random.Random, words: list[str], labels: list[str]) -> str:
    text: list[str] = []
    while sum(map(len, text)) + len(text) < 2048:
        text.append(rng.choice(labels) if rng.random() < 0.1 else rng.choice(words))
    return " ".join(text)[:2048]


def _spent(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start


def _megabytes() -> int:
    """What the process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20


if __name__ == "__main__":
    main()
