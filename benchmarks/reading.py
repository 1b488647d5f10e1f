"""Reading and checking an event of 55 triples beside pyoxigraph's own parser on the same bytes, in one run."""

from __future__ import annotations

import timeit
from collections.abc import Callable

from pyoxigraph import RdfFormat, parse

from benchmarks.report import report
from triplewire.rdf.graph import Graph
from triplewire.rdf.syntax import read_graph


def main(rounds: int = 5) -> None:
    text = event()
    times = [(_us(lambda: list(parse(text, RdfFormat.N_TRIPLES))), _us(lambda: read(text))) for _ in range(rounds)]
    theirs, ours = min(r[0] for r in times), min(r[1] for r in times)
    row = {"pyoxigraph, µs": f"{theirs:.1f}", "read and check, µs": f"{ours:.1f}", "ratio": f"{ours / theirs:.2f}"}
    report("reading", "An N-Triples event of 55 triples and 20 blank nodes, best of five rounds taken in turn.", [row])


def read(text: str) -> Graph:
    return read_graph(text, "application/n-triples")


def event() -> str:
    lines = []
    for n in range(55):
        subject = "_:H" if n % 20 == 0 else f"_:n{n % 20}"
        end = f"_:n{(n * 7 + 1) % 20}" if n % 3 else f'"value {n}"'
        lines.append(f"{subject} <http://example.org/ontology#property{n % 7}> {end} .\n")
    return "".join(lines)


def _us(call: Callable[[], object]) -> float:
    return min(timeit.repeat(call, number=300, repeat=5)) / 300 * 1e6


if __name__ == "__main__":
    main()
