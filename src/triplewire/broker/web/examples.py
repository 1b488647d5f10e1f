"""What the web page's boxes are filled with to begin with: the auction of ``examples/auction``."""

from __future__ import annotations

from triplewire.rdf.syntax import FORMATS, read, write

AUCTION = "http://example.org/auction#"

_TURTLE = """\
@prefix ex: <http://example.org/auction#> .
@prefix units: <http://example.org/units#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .

_:H a ex:Selling ; ex:seller _:you ; ex:price _:price ; ex:target _:pc .
_:you a ex:Customer ; ex:name "Your Name" .
_:price a ex:MoneyValue ; ex:currency units:dollar ; rdf:value 299.00 .
_:pc a ex:NotebookPC .
"""

EVENTS = {media_type: write(read(_TURTLE, "text/turtle"), media_type) for media_type in FORMATS} | {
    "text/turtle": _TURTLE
}

PLAIN = _TURTLE.replace("ex:NotebookPC", "ex:Computer")
"""An offer for where no ontology says what a notebook is."""

PREFIXES = """\
ex: http://example.org/auction#
units: http://example.org/units#
"""

PATTERNS = {
    "ops": """\
(_:H, ?pc, (ex:Selling, ex:target, ex:Computer))
(_:H, ?price, (ex:Selling, ex:price, ex:MoneyValue))
(?price, units:dollar, (ex:MoneyValue, ex:currency, owl:Thing))
(?price, ?sum, (ex:MoneyValue, rdf:value, xsd:decimal), ?sum < 300.00)
""",
    "gtopss": """\
[["?offer", "ex:target", "?product", [], [["?product", "<=", "ex:Computer"]]]]
""",
    "sparql": """\
SELECT ?seller WHERE {
  tw:home ex:seller ?seller ; ex:target ?product .
  ?product a ex:Computer .
}
""",
    "filter": """\
price.rdf:value < 300
""",
    "interest": """\
{"concepts": ["Computer"]}
""",
}
