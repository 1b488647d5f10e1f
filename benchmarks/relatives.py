"""How long it takes to tell who covers whom in a file of subscriptions, and how few pairs have to be asked about.

A mixture of the five languages' common shapes over the auction. CPU seconds, and counts of pairs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import report
from triplewire import ConceptModel, Subscription, load_model, parse_subscription
from triplewire.subscriptions import relatives as module
from triplewire.subscriptions.covering import covers

PREFIXES = {"ex": "http://example.org/auction#"}
CLASSES = ["Computer", "DesktopPC", "NotebookPC", "Book", "EBook", "MP3", "HardDisk", "DigitalProduct", "Product"]
CONCEPTS = ["Computer", "Book", "E-Book", "MP3", "Hard disk", "Product"]


def pattern(rng: random.Random) -> tuple[str, Any]:
    draw = rng.random()
    if draw < 0.4:
        return "ops", (
            f"(_:H, ?1, (ex:Selling, ex:target, ex:{rng.choice(CLASSES)}))"
            "(_:H, ?2, (ex:Selling, ex:price, ex:MoneyValue))"
            f"(?2, ?3, (ex:MoneyValue, rdf:value, xsd:decimal), ?3 < {rng.randint(1, 1000)})"
        )
    if draw < 0.6:
        number, text = rng.choice(["stars", "weight", "age"]), rng.choice(["brand", "colour"])
        return "filter", f'ex:{number} < {rng.randint(1, 500)} and ex:{text} = "{rng.choice("abcdefghij")}"'
    if draw < 0.75:
        return "sparql", (
            f"SELECT ?x {{ tw:home ex:target ?x . ?x a ex:{rng.choice(CLASSES)} ; ex:size ?s "
            f"FILTER(?s > {rng.randint(1, 500)}) }}"
        )
    if draw < 0.85:
        return "interest", {"concepts": rng.sample(CONCEPTS, rng.randint(1, 3))}
    below = [["?y", "<=", f"ex:{rng.choice(CLASSES)}"]]
    after = [["?z", ">", rng.randint(1990, 2020)]]
    return "gtopss", [["?x", "ex:author", "?y", [], below], ["?x", "ex:year", "?z", [], after]]


def main(counts: Sequence[int] = (100, 300, 1_000)) -> None:
    model = load_model([Path(__file__).parents[1] / "examples/auction/ontology.ttl"])
    rows: list[dict[str, object]] = []
    for count in counts:
        rng = random.Random(count)
        drawn = [pattern(rng) for _ in range(count)]
        records = [
            {"id": str(n), "language": language, "pattern": text, "prefixes": PREFIXES}
            for n, (language, text) in enumerate(drawn)
        ]
        subscriptions = [parse_subscription(record, model) for record in records]
        asked = 0

        def counted(one: Subscription, other: Subscription, model: ConceptModel) -> bool:
            nonlocal asked
            asked += 1
            return covers(one, other, model)

        module.covers = counted  # type: ignore[attr-defined]
        start = time.process_time()
        found = module.relatives(subscriptions, model)
        seconds = time.process_time() - start
        module.covers = covers  # type: ignore[attr-defined]
        told = sum(len(one.covered) + len(one.equal) for one in found)
        rows.append(
            {
                "subscriptions": count,
                "pairs": f"{count * (count - 1):,}",
                "asked about": f"{asked:,}",
                "covered": f"{told:,}",
                "s": f"{seconds:.2f}",
            }
        )
    report("relatives", "Who covers whom in a file of subscriptions.", rows)


if __name__ == "__main__":
    main()
