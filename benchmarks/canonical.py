"""What the canonical form of a pattern costs: of ordinary ones and of very regular ones."""

from __future__ import annotations

import timeit
from itertools import combinations

from benchmarks.report import report
from triplewire.concepts.model import ConceptModel
from triplewire.rdf.terms import Vocabulary
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.filter import parse_filter
from triplewire.subscriptions.ops import parse_ops
from triplewire.subscriptions.pattern import Arc, Pattern, Variable

EX = Vocabulary("http://example.org/")
MODEL = ConceptModel()
OFFER = """
(_:H, ?1, (ex:Selling, ex:target, ex:Computer))
(_:H, ?2, (ex:Selling, ex:price, ex:MoneyValue))
(?2, ex:dollar, (ex:MoneyValue, ex:currency, daml:Thing))
(?2, ?3, (ex:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)
"""


def main(most_arcs: int = 5_000) -> None:
    rows = []
    for name, pattern in patterns().items():
        if len(pattern.arcs) > most_arcs:
            continue
        number = 200 if len(pattern.arcs) < 10 else 1
        best = min(timeit.repeat(lambda p=pattern: canonical(p, MODEL), number=number, repeat=5)) / number  # type: ignore[misc]
        rows.append(
            {"pattern": name, "vertices": len(pattern.vertices), "arcs": len(pattern.arcs), "ms": f"{best * 1000:.3g}"}
        )
    report("canonical", "The canonical form of one pattern, best of five rounds. Drawings have an arc each way.", rows)


def patterns() -> dict[str, Pattern]:
    prefixes = {"ex": EX.base}
    side = range(64)
    return {
        "four statement patterns": parse_ops(OFFER, prefixes),
        "two attributes": parse_filter('price < 400 and brand = "IBM"', prefixes, MODEL),
        "cycle": drawing([(i, (i + 1) % 64) for i in side]),
        "hypercube": drawing([(i, i ^ 1 << bit) for i in side for bit in range(6) if i < i ^ 1 << bit]),
        "triangles": drawing([(3 * k + a, 3 * k + b) for k in range(21) for a, b in ((0, 1), (1, 2), (0, 2))]),
        "rook's graph": drawing([(a, b) for a in side for b in range(a) if a // 8 == b // 8 or a % 8 == b % 8]),
        "star": Pattern(arcs=tuple(Arc(Variable("x"), EX.p, Variable(f"x{i}")) for i in range(63))),
        "complete graph": drawing(list(combinations(side, 2))),
    }


def drawing(edges: list[tuple[int, int]]) -> Pattern:
    both = [(a, b) for x, y in edges for a, b in ((x, y), (y, x))]
    return Pattern(arcs=tuple(Arc(Variable(f"x{a}"), EX.p, Variable(f"x{b}")) for a, b in both))


if __name__ == "__main__":
    main()
