"""How fast texts of subscriptions are understood: parsed, validated against the model, and made canonical.

First texts that differ in shape, names and constants, then texts that differ only in constants, then the same texts
again. Beside them, what the parsers alone do: Lark for ``ops`` and ``filter``, rdflib for ``sparql``. One core's time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from rdflib.plugins.sparql.parser import parseQuery

from benchmarks.report import report
from triplewire import load_model, parse_subscription
from triplewire.subscriptions import filter as filters
from triplewire.subscriptions import ops
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.grammar import parser

PREFIXES = {"ex": "http://example.org/auction#", "": "http://example.org/auction#"}
CLASSES = ["Product", "Computer", "DesktopPC", "NotebookPC", "Book", "EBook", "DigitalProduct", "MP3"]
WANTED = {"ops": 1_000, "filter": 3_000, "sparql": 200}
"""Texts a second that are to be reached."""


def ops_text(shape: random.Random, constant: int) -> str:
    order = shape.sample(range(4), 4)
    names = shape.sample("abcdefghijkl", 4)
    cls, kind = shape.choice(CLASSES), shape.choice(["<", "<=", ">", ">="])
    lines = [
        f"(_:H, ?{names[0]}, (ex:Selling, ex:target, ex:{cls}))",
        f"(_:H, ?{names[1]}, (ex:Selling, ex:price, ex:MoneyValue))",
        f"(?{names[1]}, ?{names[2]}, (ex:MoneyValue, rdf:value, xsd:decimal), ?{names[2]} {kind} {constant}.00)",
        f"(_:H, ?{names[3]}, (ex:Selling, ex:seller, ex:Customer))",
    ]
    return "\n".join(lines[i] for i in order)


def filter_text(shape: random.Random, constant: int) -> str:
    parts = [
        f"price {shape.choice(['<', '<=', '>', '>='])} {constant}",
        f'(seller = "{constant}" or target startswith "{constant}")',
        f"not exists {shape.choice(['size', 'part', 'name'])}",
        f"rdf:value {shape.choice(['<', '!='])} {constant}.5",
    ]
    return " and ".join(shape.sample(parts, shape.choice([2, 3, 4])))


def sparql_text(shape: random.Random, constant: int) -> str:
    x, y, v = shape.sample("abcdefghijkl", 3)
    parts = [
        f"tw:home ex:target ?{x} .",
        f"?{x} a ex:{shape.choice(CLASSES)} .",
        f"tw:home ex:price ?{y} . ?{y} rdf:value ?{v} .",
        f"FILTER(?{v} {shape.choice(['<', '<=', '>', '>='])} {constant})",
    ]
    return f"SELECT {shape.choice(['*', f'?{x}'])} WHERE {{ {' '.join(shape.sample(parts, 4))} }}"


def main(count: int = 2_000) -> None:
    model = load_model([Path(__file__).parents[1] / "examples/auction/ontology.ttl"])
    makers = {"ops": ops_text, "filter": filter_text, "sparql": sparql_text}
    alone: dict[str, Callable[[str], object]] = {
        "ops": parser(ops.GRAMMAR).parse,
        "filter": parser(filters.GRAMMAR).parse,
        "sparql": lambda text: parseQuery(_HEAD + text),
    }
    rows: list[dict[str, object]] = []
    for language, make in makers.items():
        number = count if language != "sparql" else count // 4

        def understand(text: str, language: str = language) -> object:
            record = {"id": "s", "language": language, "pattern": text, "prefixes": PREFIXES}
            return [canonical(one.pattern, model) for one in parse_subscription(record, model).alternatives]

        different = [make(random.Random(i), i) for i in range(number)]
        alike = [make(random.Random(-1), i + number) for i in range(number)]
        understand(different[0])
        rows.append(
            {
                "language": language,
                "different texts/s": _rate(understand, different),
                "differing in constants/s": _rate(understand, alike),
                "the same again/s": _rate(understand, alike[-1_000:]),
                "the parser alone/s": _rate(alone[language], different[: number // 4]),
                "to reach": WANTED[language],
            }
        )
    report("subscriptions", (__doc__ or "").strip(), rows)


_HEAD = (
    "PREFIX tw: <urn:triplewire:> PREFIX ex: <http://example.org/auction#> "
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
)


def _rate(work: Callable[[str], object], texts: list[str]) -> int:
    start = time.process_time()
    for text in texts:
        work(text)
    return round(len(texts) / (time.process_time() - start))


if __name__ == "__main__":
    main()
