"""Patterns to start from, by language. They speak of the auction of ``examples/auction``, of publications, of JSON."""

from __future__ import annotations

from triplewire.broker.web import examples

NAMESPACES = dict(line.split(": ") for line in examples.PREFIXES.splitlines())

STARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "ops": (
        ("Computers for less than 400 dollars", examples.PATTERNS["ops"].replace("300", "400")),
        ("Whatever an IBM product is offered with", "(_:H, ?product, (ex:Selling, ex:target, ex:Product))\n"
         "(?product, ex:IBM, (ex:Product, ex:manufacture, ex:Company))\n"),
        ("Publications that speak of a concert", "(_:H, ?text, (tw:Publication, tw:content, rdfs:Literal),"
         ' regex(lcase(?text), "\\\\bconcerts?\\\\b"))\n'),
    ),
    "filter": (
        ("Plain JSON: cheap, and of one of two brands", 'cost < 400 and brand in ("IBM", "Lenovo")\n'),
        ("Offers for less than 400", examples.PATTERNS["filter"].replace("300", "400")),
        ("Texts that speak of a concert, with a link", 'tw:content matches "(?i)concert" and exists tw:link\n'),
    ),
    "sparql": (
        ("Who offers a computer", examples.PATTERNS["sparql"]),
        ("What is offered without a price", "ASK {\n  tw:home ex:target ?product .\n"
         "  FILTER NOT EXISTS { tw:home ex:price ?price }\n}\n"),
        ("Any text with a word in it", 'SELECT ?text WHERE {\n  tw:home ?property ?text .\n'
         '  FILTER(isLiteral(?text) && CONTAINS(LCASE(STR(?text)), "concert"))\n}\n'),
    ),
    "gtopss": (
        ("Any kind of computer", examples.PATTERNS["gtopss"]),
        ("A price below 400", '[["?offer", "ex:price", "?money", [], []],\n'
         ' ["?money", "rdf:value", "?sum", [], [["?sum", "<", 400]]]]\n'),
    ),
    "interest": (("In plain words", "Computer, IBM\n"),),
}  # fmt: skip
