"""The golden vectors: small cases, each with the clause of the semantics that decides it.

``tests/vectors/README.md`` tells how to read and write them.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode

from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.model import ConceptModel
from triplewire.errors import EventError, SubscriptionError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce, Match
from triplewire.matching.engine.index import Index
from triplewire.matching.translated import SparqlOracle
from triplewire.rdf.graph import Event, check_strict
from triplewire.rdf.terms import OWL, WELL_KNOWN_PREFIXES
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Alternative, ClassConstraint, Pattern, Subscription

FOLDER = Path(__file__).parent.parent / "vectors"
PREFIXES = WELL_KNOWN_PREFIXES | {"ex": "http://example.org/"}
TURTLE = "text/turtle"
SCORES_APART = 1e-6

CLAUSES = [
    *(f"1.{n}" for n in range(1, 8)),
    *(f"2.{n}" for n in range(1, 8)),
    *(f"3.{n}" for n in range(1, 7)),
    *(f"4.ops.{n}" for n in range(1, 8)),
    *(f"4.gtopss.{n}" for n in range(1, 11)),
    *(f"4.sparql.{n}" for n in range(1, 11)),
    *(f"4.filter.{n}" for n in range(1, 6)),
    *(f"4.interest.{n}" for n in range(1, 9)),
    *("5.1", "5.2", "5.5"),
    *("decision", "paper"),
]
KEYS = {"why", "clause", "model", "typing", "home", "strict", "event", "event_type", "subscription", "expected"}
EXPECTATIONS = [
    {"matches", "bindings", "score", "warns", "graph"},
    {"matches", "warns"},
    {"refused", "naming"},
]


@dataclass(frozen=True)
class Vector:
    name: str
    case: dict[str, Any]

    @property
    def language(self) -> str:
        return self.case["subscription"]["language"]

    @property
    def asks_similarity(self) -> bool:
        return self.language == "interest" or "~" in self.case["subscription"]["pattern"]

    @property
    def expected(self) -> dict[str, Any]:
        return self.case["expected"]

    def model(self) -> ConceptModel:
        ontology = read_ontology(turtle(self.case.get("model", "")), TURTLE, self.name)
        return model_of(ontology, self.case["typing"]) if "typing" in self.case else model_of(ontology)

    def event(self, model: ConceptModel) -> Event:
        """The event, out of the JSON text that it travels as."""
        media_type = self.case.get("event_type", TURTLE)
        envelope = {
            "specversion": "1.0",
            "id": "e",
            "source": "/vectors",
            "type": "vector",
            "datacontenttype": media_type,
            "data": turtle(self.case["event"]) if media_type == TURTLE else self.case["event"],
        }
        if "home" in self.case:
            envelope["home"] = self.case["home"]
        event = parse_event(json.dumps(envelope))
        if self.case.get("strict"):
            check_strict(event.graph, model.types)
        return event

    def subscription(self, model: ConceptModel) -> Subscription:
        """The subscription, out of the JSON text that it travels as."""
        stated = self.case["subscription"]
        prefixes = {"ex": PREFIXES["ex"]} | stated.get("prefixes", {})
        return parse_subscription(json.loads(json.dumps(stated | {"id": "s", "prefixes": prefixes})), model)

    def matches(self) -> list[Match]:
        """What is expected of a matcher."""
        if not self.expected["matches"]:
            return []
        bindings = tuple({name: term(text) for name, text in row.items()} for row in self.expected["bindings"])
        score = pytest.approx(self.expected.get("score", 1.0), abs=SCORES_APART)
        graph = tuple(self.expected["graph"]) if "graph" in self.expected else None
        return [Match("e", "s", score, bindings, graph)]


def without_pairs(matches: list[Match]) -> list[Match]:
    """Matches without the pairs of concepts that made their scores, of which a vector says nothing."""
    return [replace(match, pairs=()) for match in matches]


def turtle(text: str) -> str:
    return "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items()) + text


def term(text: str) -> str:
    """A term in N-Triples syntax, of one in which a prefix stands for its IRI: ``ex:a``, ``"1"^^xsd:integer``."""
    return re.sub(r"(?:^|(?<=\^\^))([a-z]+):(\w+)$", lambda found: f"<{PREFIXES[found[1]]}{found[2]}>", text)


VECTORS = [Vector(path.stem, tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(FOLDER.glob("*.toml"))]


def vectors(expectation: str, of_oxigraph: bool = False) -> pytest.MarkDecorator:
    """The vectors with an expectation of that name; for Oxigraph without similarity, which SPARQL cannot say."""
    chosen = [v for v in VECTORS if expectation in v.expected and not (of_oxigraph and v.asks_similarity)]
    return pytest.mark.parametrize("vector", [pytest.param(v, id=v.name) for v in chosen])


@vectors("matches")
def test_brute_force_agrees_with_the_vector(vector: Vector) -> None:
    model = vector.model()
    brute = BruteForce(model)
    brute.add(vector.subscription(model))
    assert without_pairs(brute.match(vector.event(model), bindings=True)) == vector.matches()


@vectors("matches")
def test_the_engine_agrees_with_the_vector(vector: Vector) -> None:
    model = vector.model()
    index = Index.build([vector.subscription(model)], model)
    assert without_pairs(index.match(vector.event(model), bindings=True)) == vector.matches()
    scores = [(match.subscription, match.score) for match in vector.matches()]
    assert [(match.subscription, match.score) for match in index.match(vector.event(model))] == scores


@vectors("matches", of_oxigraph=True)
def test_oxigraph_agrees_with_the_vector(vector: Vector) -> None:
    model = vector.model()
    oracle = SparqlOracle(model)
    oracle.add(vector.subscription(model))
    assert oracle.match(vector.event(model), bindings=True) == vector.matches()


@vectors("warns")
def test_warnings_are_as_the_vector_says(vector: Vector) -> None:
    assert bool(vector.subscription(vector.model()).warnings) is vector.expected["warns"]


@vectors("refused")
def test_what_the_vector_calls_bad_is_refused(vector: Vector) -> None:
    model = vector.model()
    naming = re.escape(vector.expected["naming"]) if "naming" in vector.expected else None
    if vector.expected["refused"] == "event":
        vector.subscription(model)
        with pytest.raises(EventError, match=naming):
            vector.event(model)
    else:
        vector.event(model)
        with pytest.raises(SubscriptionError, match=naming):
            vector.subscription(model)


def test_a_constraint_on_a_constant_needs_it_in_the_event() -> None:
    """A decision that no language can say: a constant in a constraint and in no arc."""
    vector = next(v for v in VECTORS if v.name == "1.3-same-names-are-one-vertex")
    model = vector.model()
    event = vector.event(model)
    for oracle in (BruteForce(model), SparqlOracle(model)):
        for name in ("bigBlue", "ibm", "dell"):
            constraint = ClassConstraint(NamedNode(PREFIXES["ex"] + name), OWL.Thing)
            oracle.add(Subscription(name, (Alternative(Pattern(classes=(constraint,))),)))
        assert [match.subscription for match in oracle.match(event)] == ["bigBlue", "ibm"]


@pytest.mark.parametrize("clause", CLAUSES)
def test_every_clause_has_a_vector(clause: str) -> None:
    assert any(vector.case["clause"] == clause for vector in VECTORS)


@pytest.mark.parametrize("vector", [pytest.param(v, id=v.name) for v in VECTORS])
def test_vectors_are_well_formed(vector: Vector) -> None:
    case = vector.case
    assert case.keys() <= KEYS
    assert {"why", "clause", "event", "subscription", "expected"} <= case.keys()
    assert case["clause"] in CLAUSES
    assert re.fullmatch(re.escape(case["clause"]) + r"(-[a-z0-9]+)+", vector.name)
    assert case["why"].rstrip().endswith(".")
    assert "\n" not in case["why"]
    assert "id" not in case["subscription"]
    assert any(vector.expected.keys() <= keys for keys in EXPECTATIONS)
    if vector.expected.get("matches"):
        assert "bindings" in vector.expected
