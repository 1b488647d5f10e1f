"""Whatever stands in a subscription's text, the answer is a subscription or an error of ours, and comes soon."""

import json
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from triplewire.concepts.load import model_of, read_ontology
from triplewire.errors import SubscriptionError
from triplewire.subscriptions.languages import parse_subscription

TEXTS = {"ops": 10_000, "gtopss": 10_000, "sparql": 5_000, "filter": 10_000, "interest": 10_000}
"""Queries take the longest; the first 5,000 are refused in as many places of the code as 10,000."""
LONGEST = 1.0
"""Seconds of computing for one text: against hangs, hundreds of times what a text takes."""

VECTORS = [tomllib.loads(p.read_text()) for p in sorted((Path(__file__).parents[1] / "vectors").glob("*.toml"))]
MODEL = model_of(
    read_ontology(
        "@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        "ex:price rdfs:domain ex:Offer . ex:brand rdfs:domain ex:Offer . ex:Pop rdfs:subClassOf ex:Music .",
        "text/turtle",
        "test",
    )
)
SPICE = [
    *"()[]{}<>\"'\\?_:.,;|&!=+-*/^@#$%~` \n\t0159eE",
    *("\x00", "\ud800", "\uffff", "é", "𝒳", "\r", "\u2028", "?x", "_:H", "_:x", "xsd:decimal", "^^", "@en", "1e999"),
    *("-0.0", "\\u12", '"""', "'''", "and ", "not ", "exists ", "in (", 'regex(?x, "(")', "true", "SERVICE ", "null"),
    *("OPTIONAL {", "FILTER(", "UNION", "SELECT * ", "[]", "{}", '["?x", "<", 1]', "9" * 400),
]


def _texts(language: str, rng: Random) -> Iterator[str]:
    patterns = [v["subscription"]["pattern"] for v in VECTORS if v["subscription"]["language"] == language]
    seeds = [p if isinstance(p, str) else json.dumps(p) for p in patterns]
    for _ in range(TEXTS[language]):
        text = rng.choice(seeds)
        for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
            text = _changed(text, rng.choice(seeds), rng)
        yield text


def _changed(text: str, other: str, rng: Random) -> str:
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    end = min(end, start + rng.choice([1, 3, 30]))
    match rng.randrange(7):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:start] + text[start:end] * rng.choice([2, 3, 50]) + text[end:]
        case 2:
            return text[:start] + other[rng.randrange(len(other)) :][:20] + text[end:]
        case 3:
            return text[:start]
        case 4:
            return text[:start] + rng.choice(SPICE) * rng.choice([1, 1, 1, 300]) + text[start:]
        case _:
            return text[:start] + rng.choice(SPICE) + text[end:]


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_with_mistakes_is_understood_or_refused_by_us_and_soon(language):
    refused = 0
    for text in _texts(language, Random(language)):
        record = {"id": "s", "language": language, "pattern": text, "prefixes": {"ex": "http://example.org/"}}
        was_refused, took = _read(record)
        refused += was_refused
        # What other tests left in memory is looked through now and then, and takes its time: not twice in a row.
        assert took < LONGEST or _read(record)[1] < LONGEST, text
    assert TEXTS[language] / 20 < refused < TEXTS[language], "the mistakes are too many or too few to tell"


def _read(record):
    """Whether a record is refused, and the seconds of the processor that it takes."""
    start = time.process_time()
    try:
        parse_subscription(record, MODEL)
    except SubscriptionError as error:
        json.dumps(error.as_dict())
        return True, time.process_time() - start
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}, for {record['pattern']!r}") from error
    return False, time.process_time() - start


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ops", "(_:H, ?1, (ex:A, ex:p, ex:B), " + "(" * 5_000 + "?1 < 3" + ")" * 5_000 + ")"),
        ("ops", "(_:H, ?1, (ex:A, ex:p, ex:B), " + "not " * 5_000 + "?1 < 3)"),
        ("ops", "(_:H, ?1, (ex:A, ex:p, ex:B), " + "?1 < 3 or " * 5_000 + "?1 < 3)"),
        ("ops", "(_:H, ?1, (ex:A, ex:p, ex:B))\n" * 100_000),
        ("filter", "(" * 20_000 + "price < 3" + ")" * 20_000),
        ("filter", "price" + ".price" * 10_000 + " < 3"),
        ("filter", "price in (" + "1," * 30_000 + "1)"),
        ("filter", "price matches " + '"' + "(a?)" * 10_000 + '"'),
        ("gtopss", "[" * 20_000),
        ("gtopss", json.dumps([["?a", "ex:p", "?b"]] * 10_000)),
        ("interest", '{"a":' * 20_000),
        ("interest", json.dumps({"concepts": ["Music"] * 100_000})),
        ("sparql", "ASK " + "{" * 5_000 + "}" * 5_000),
        ("sparql", "ASK { ?x ?p ?y FILTER(" + "(" * 2_000 + "?y" + ")" * 2_000 + ") }"),
        ("sparql", "ASK { ?x ?p ?y FILTER(" + "!" * 20_000 + "?y) }"),
        ("sparql", "ASK { " + "{ ?x ?p ?y } UNION " * 3_000 + "{ ?x ?p ?y } }"),
        ("sparql", "ASK { ?x (ex:a|ex:b)" + "/(ex:a|ex:b)" * 300 + " ?y }"),
        ("sparql", "ASK { ?x " + " ; ".join(f"ex:p{n} ?y{n}" for n in range(240)) + " }"),
        ("sparql", "ASK { ?x ex:p " + ", ".join(f"?y{n}" for n in range(480)) + " }"),
        ("sparql", "ASK { ?x ex:p" + "/ex:p" * 400 + " ?y }"),
        ("sparql", "ASK { ?x " + "^" * 10_000 + "ex:p ?y }"),
        ("sparql", "ASK { " + "{ ?x ?p ?y } UNION { ?y ?p ?x } " * 60 + "}"),
        ("sparql", "ASK { " + "{ ?x ?p ?y } UNION { ?y ?p ?x } { } UNION { " * 14 + "} " * 15),
        ("sparql", "ASK { ?x ?p ?y FILTER(?y IN (" + "1," * 20_000 + "1)) }"),
    ],
    ids=lambda value: value if len(value) < 10 else f"{value[:40]}…",
)  # fmt: skip
def test_what_is_very_deep_or_very_long_is_read_or_refused_soon(language, text):
    record = {"id": "s", "language": language, "pattern": text, "prefixes": {"ex": "http://example.org/"}}
    start = time.process_time()
    try:
        parse_subscription(record, MODEL)
    except SubscriptionError as error:
        assert len(str(error)) < 2_000
    assert time.process_time() - start < 5 * LONGEST


@pytest.mark.parametrize(
    ("language", "text", "excerpt", "message"),
    [
        ("gtopss", '[["?x", "ex:p", "?y", [],\n [["?y", "~", 1]]]]', ' [["?y", "~", 1]]]]\n         ^', "no operator"),
        ("gtopss", '[["?x", "ex:p"\n "?y"]]', ' "?y"]]\n ^', "Expected ',' delimiter"),
        ("gtopss", [["?x", "plain", "?y"]], '[["?x", "plain", "?y"]]\n        ^', "an IRI or a variable"),
        ("interest", '{"concepts": ["Music",\n "Mussic"]}', ' "Mussic"]}\n ^', "no concept is called 'Mussic'"),
        ("interest", {"interest": 3}, '{"interest": 3}\n             ^', "should hold a concept's name"),
        ("filter", "price <\n  400 and", "  400 and\n         ^", "the text ends here"),
        ("ops", "(_:H, ?1,\n?2 (ex:A, ex:p, ex:B))", "?2 (ex:A, ex:p, ex:B))\n^", "Expected '('"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_an_error_points_at_its_place(language, text, excerpt, message):
    record = {"id": "s", "language": language, "pattern": text, "prefixes": {"ex": "http://example.org/"}}
    with pytest.raises(SubscriptionError) as caught:
        parse_subscription(record, MODEL)
    assert caught.value.as_dict()["excerpt"] == excerpt
    assert message in str(caught.value)
