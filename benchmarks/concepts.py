"""Loading ontologies and asking them: DBpedia's, and one of 45,000 classes with deep multiple inheritance."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
import timeit
from pathlib import Path

from benchmarks.report import report
from triplewire.concepts.load import load_model
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.statements import model_of
from triplewire.rdf.terms import RDFS, Triple, Vocabulary

DBPEDIA = Path(__file__).parents[2] / "shared/data/dbpedia-ontology/dbo.nq"
EX = Vocabulary("http://example.org/")


def main(classes: int = 45_000) -> None:
    """Each in a process of its own, so that its memory is its own."""
    rows = [_in_own_process("large", classes)]
    if DBPEDIA.exists():
        rows.append(_in_own_process("dbpedia", classes))
    else:
        print(f"DBpedia's ontology is not at {DBPEDIA}, and is left out.")
    report("concepts", "Loaded with closures, one core; is-a asked from Python.", rows)


def _in_own_process(name: str, classes: int) -> dict[str, object]:
    command = [sys.executable, "-c", f"from benchmarks.concepts import measure; print(measure({name!r}, {classes}))"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return dict(
        zip(("ontology", "classes", "subsumptions", "depth", "s", "MB", "is-a, µs"), told.split("|"), strict=True)
    )


def measure(name: str, classes: int) -> str:
    before = _megabytes()
    start = time.perf_counter()
    model = load_model([DBPEDIA]) if name == "dbpedia" else model_of(large(classes))
    subsumptions = sum(map(len, model.class_hierarchy.ancestors))
    seconds = time.perf_counter() - start
    used = _megabytes() - before
    figures = (len(model.classes), subsumptions, model.report.classes.depth)
    return "|".join(map(str, (name, *figures, f"{seconds:.2f}", used, f"{_is_a(model):.2f}")))


def large(classes: int = 45_000, seed: int = 1) -> list[Triple]:
    """Classes in 25 layers, each with one to three parents in the two layers above: some hundred ancestors below."""
    rng = random.Random(seed)
    nodes = [EX[f"C{n}"] for n in range(classes)]
    layer = classes // 25
    return [
        Triple(nodes[n], RDFS.subClassOf, nodes[rng.randrange(max(0, n - 2 * layer), n - layer + 1)])
        for n in range(layer, classes)
        for _ in range(rng.choices([1, 2, 3], [80, 15, 5])[0])
    ]


def _is_a(model: ConceptModel) -> float:
    """Microseconds for one question, on questions asked before."""
    rng = random.Random(2)
    classes = sorted(model.classes, key=str)
    pairs = [(rng.choice(classes), rng.choice(classes)) for _ in range(1000)]
    ask = model.is_subclass
    return min(timeit.repeat(lambda: [ask(a, b) for a, b in pairs], number=10, repeat=5)) / 10_000 * 1e6


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
