"""What the reference pages show is true: every example comes to what stands below it, every function is there.

A block says by the words after its fence what it is: ``turtle ontology`` and ``turtle event`` hold from there on, a
language's name (``ops``, ``json gtopss``, …, with options of the record such as ``mapping=injective``) begins a
subscription, and the ``text`` after it tells its outcome. An ellipsis stands for anything.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal

from triplewire.concepts.load import model_of, read_ontology
from triplewire.errors import SubscriptionError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES, XSD
from triplewire.subscriptions.evaluate import evaluate
from triplewire.subscriptions.functions import FUNCTIONS, LAZY_FUNCTIONS
from triplewire.subscriptions.languages import LANGUAGES, parse_subscription
from triplewire.subscriptions.ops import parse_ops
from triplewire.testing import cloud_event

FOLDER = Path(__file__).parents[1] / "docs/reference"
EX = {"ex": "http://example.org/"}
TURTLE = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in (WELL_KNOWN_PREFIXES | EX).items())
BLOCK = re.compile(r"^(?:    )?```(\w[^\n]*)\n(.*?)^(?:    )?```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Example:
    ontology: str
    event: str
    record: dict[str, Any]
    outcome: list[str]


def examples(page: Path) -> list[Example]:
    ontology = event = ""
    record: dict[str, Any] | None = None
    found = []
    for info, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        words = info.split()
        language = next((word for word in words if word in LANGUAGES), None)
        if words == ["turtle", "ontology"]:
            ontology = text
        elif words == ["turtle", "event"]:
            event = text
        elif language is not None:
            options = dict(word.split("=") for word in words if "=" in word)
            options |= {"threshold": float(options["threshold"])} if "threshold" in options else {}
            record = {"id": "s", "language": language, "pattern": text.rstrip(), "prefixes": EX} | options
        elif words == ["text"]:
            assert record is not None, f"{page.name}: an outcome without a subscription: {text}"
            found.append(Example(ontology, event, record, text.splitlines()))
            record = None
    assert record is None, f"{page.name}: a subscription without an outcome: {record}"
    return found


PAGES = [FOLDER / f"{language}.md" for language in LANGUAGES]
EXAMPLES = [pytest.param(e, id=f"{page.stem}-{n}") for page in PAGES for n, e in enumerate(examples(page), 1)]


def short(term: str) -> str:
    for name, iri in (WELL_KNOWN_PREFIXES | EX).items():
        term = re.sub(rf"<{re.escape(iri)}([\w\-]*)>", rf"{name}:\1", term)
    return term


def outcome(example: Example) -> list[str]:
    model = model_of(read_ontology(TURTLE + example.ontology, "text/turtle", "reference"))
    try:
        subscription = parse_subscription(json.loads(json.dumps(example.record)), model)
    except SubscriptionError as error:
        return ["refused", str(error)]
    matcher = BruteForce(model)
    matcher.add(subscription)
    matches = matcher.match(parse_event(cloud_event(TURTLE + example.event)), bindings=True)
    if not matches:
        return ["does not match"]
    head = "matches" if matches[0].score == 1 else f"matches, score {matches[0].score:.4f}"
    rows = [", ".join(f"{name} = {short(term)}" for name, term in row.items()) for row in matches[0].bindings]
    return [head, *filter(None, rows)]


def alike(shown: str, told: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), told) is not None


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_comes_to_what_is_shown(example):
    told = outcome(example)
    assert len(told) == len(example.outcome), told
    assert all(map(alike, example.outcome, told)), told


def rows() -> list[tuple[str, str, str]]:
    text = (FOLDER / "ops.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (`\w+\(.*?) \| `(.*?)` \| `(.*?)` \|$", text, re.MULTILINE)


@pytest.mark.parametrize(("function", "example", "value"), rows())
def test_every_function_gives_what_is_shown(function, example, value):
    def read(text):
        statement = f"(_:H, ?x, (rdfs:Resource, ex:p, rdfs:Resource), if(true, {text}, ?x))"
        expression = parse_ops(statement, EX).filters[0].arguments[1]
        return evaluate(expression, lambda term: None if str(term).startswith("?") else term, lambda path: frozenset())

    got, wanted = read(example), read(value)
    if isinstance(got, Literal) and got.datatype == XSD.decimal:
        assert float(got.value) == float(wanted.value)
    else:
        assert got == wanted


def test_every_function_is_in_the_table():
    named = {name for function, _, _ in rows() for name in re.findall(r"`(\w+)\(", function)}
    assert named == FUNCTIONS.keys() | LAZY_FUNCTIONS.keys()


def test_every_page_has_examples_of_matches_and_of_what_is_refused():
    for page in PAGES:
        heads = {example.outcome[0].partition(",")[0] for example in examples(page)}
        assert heads == {"matches", "does not match", "refused"}, page.name
