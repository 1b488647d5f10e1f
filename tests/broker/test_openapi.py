"""The description of the API is complete and true: requests are made from it, and answers are held against it.

The requests are the same each time. To try more, and others, set ``SCHEMATHESIS_EXAMPLES`` to a number.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from tests.broker.clients import AUCTION, PREFIXES, bearer, cloudevent, notify, subscription
from tests.broker.conftest import served
from triplewire.broker import create_app
from triplewire.broker.http.openapi import TRIED, describe
from triplewire.broker.publishing.sample import load_sample
from triplewire.rdf.syntax import FORMATS
from triplewire.store import DeadLetter, Offer, Store, store_url
from triplewire.subscriptions.profiles import Person

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "0"))
HOOK = {"channel": "webhook", "url": "https://example.org/", "secret": "whsec_" + "A" * 40}
CHECKS = [
    getattr(schemathesis.checks, name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
        "missing_required_header",
        "unsupported_method",
    )
]
"""All but that whatever fits the schema is accepted: no schema can say what a pattern or a Turtle document is."""


@schemathesis.serializer(*(kind for kind in FORMATS if not kind.endswith("json")))
def _text(_: Any, value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")


def description() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, closing(Store(store_url(Path(folder)))) as store:
        return describe(create_app(store))


def tried() -> dict[str, Any]:
    """The description; unless many examples are asked for, each body in a few media types only."""
    raw = json.loads(json.dumps(description()))
    for operations in raw["paths"].values():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {})
            for kind in [] if EXAMPLES else [one for one in content if one in FORMATS and one != "text/turtle"]:
                del content[kind]
    return raw


schema = schemathesis.openapi.from_dict(tried()).exclude(path="/v1/notifications/stream")  # which has no end


@pytest.fixture(scope="module")
def broker_with_something() -> Iterator[dict[str, Any]]:
    """The address of a broker whose store has something of each kind, and an administrator's token."""
    with tempfile.TemporaryDirectory() as folder, closing(Store(store_url(Path(folder)))) as store:
        load_sample(store, AUCTION)
        notify(store, "s1")
        headers = bearer(store, "ann", "admin")
        with served(store, home=Path(folder)) as address, requests.Session() as session:
            httpx.patch(f"{address}/v1/subscriptions/s1", json={"delivery": HOOK}, headers=headers).raise_for_status()
            yield {"base_url": address, "headers": headers, "session": session}


@schema.parametrize()
@settings(
    max_examples=EXAMPLES or 2,
    derandomize=not EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_the_description_says(case: schemathesis.Case, broker_with_something: dict[str, Any]) -> None:
    place = case.path_parameters or {}
    if (case.path, str(place.get("number"))) == ("/v1/tokens/{number}", "1") or place.get("name") == "ann":
        return  # that is who asks
    excluded = []
    if case.path.startswith("/v1/deliveries/{subscription_id}/"):
        excluded.append(schemathesis.checks.unsupported_method)  # an id may end in such a word
    if vanishes(case):
        excluded.append(schemathesis.checks.negative_data_rejection)
    case.call_and_validate(checks=CHECKS, excluded_checks=excluded, **broker_with_something)


def vanishes(case: schemathesis.Case) -> bool:
    """Whether a parameter is never sent, wrong as it may be: an empty list has no form in an address."""
    query = dict(case.query or {})
    address = requests.Request("GET", "http://localhost/", params=query).prepare().url or ""
    return not query.keys() <= parse_qs(urlsplit(address).query, keep_blank_values=True).keys()


def test_every_route_says_what_it_takes_and_what_it_answers() -> None:
    for path, operations in description()["paths"].items():
        for verb, operation in operations.items():
            done = {s: one for s, one in operation["responses"].items() if s.startswith("2")}
            told = all(one["content"] or status == "204" for status, one in done.items())
            assert told or path == "/v1/hub", f"{verb} {path}: add what it answers to broker/http/routes.py"
            assert operation["summary"] and operation["description"]
            for status, answer in operation["responses"].items():
                if status >= "4" and path != "/readyz":
                    assert list(answer["content"]) == ["application/problem+json"]


def test_every_member_of_an_answer_is_described(broker: httpx.Client, store: Store) -> None:
    """What is read, and what is told of something that is only tried out."""
    headers = fill(broker, store)
    at = {"subscription_id": "s1", "number": 1, "version": 1, "name": "ann", "person": "urn:a"}
    at |= {"position": store.last_position()}
    query = {"of": PREFIXES["ex"] + "Computer", "kind": "classes", "search": "computer", "position": 1}
    query |= {"subscription": json.dumps(subscription()), "dry-run": True}
    raw, unknown = description(), set[tuple[str, str, str]]()
    for (verb, path), operation in operations(raw):
        names = {one["name"] for one in operation["parameters"] if one["in"] == "query"}
        content = operation["responses"].get("200", {}).get("content", {}).get("application/json")
        if content is None or not (verb == "get" or (verb, path) in TRIED):
            continue
        body, kind = None, {}
        if verb == "post":
            kind["Content-Type"], taken = next(iter(operation["requestBody"]["content"].items()))
            example = taken.get("example", {"concept": query["of"], "word": "calculator"})
            body = example if isinstance(example, str) else json.dumps(example)
        params = {name: query[name] for name in names & query.keys()}
        answer = broker.request(verb, path.format(**at), params=params, content=body, headers=headers | kind)
        assert answer.status_code == 200, f"{verb} {path}: {answer.text}"
        unknown |= {(verb, path, one) for one in undescribed(answer.json(), content["schema"], raw)}
    assert unknown == set(), "add it to broker/http/shapes.py"


def operations(raw: dict[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    for path, verbs in raw["paths"].items():
        yield from (((verb, path), operation) for verb, operation in verbs.items())


def fill(broker: httpx.Client, store: Store) -> dict[str, str]:
    """Have there be something of each kind, and somebody who may see it, known by these headers."""
    load_sample(store, AUCTION)
    notify(store, "s1")
    [last] = store.append([("urn:test", "bad", json.dumps(cloudevent("bad", data="no Turtle")))])
    store.record([], [DeadLetter(last, "line 1, column 1: not Turtle")], last, [Offer(1, "e1", "root", "s1", 0.6)])
    store.people.put(Person("urn:a", frozenset({"urn:b"})))
    broker.patch("/v1/subscriptions/s1", json={"delivery": HOOK, "digest": 3600}).raise_for_status()
    broker.post("/v1/sources", json={"url": "https://example.org/feed"}).raise_for_status()
    broker.post("/v1/users", json={"name": "ann"}).raise_for_status()
    return bearer(store, "root", "admin")


def undescribed(value: Any, schema: dict[str, Any], raw: dict[str, Any]) -> Iterator[str]:
    """The members that an answer has and its description lacks."""
    if "$ref" in schema:
        schema = raw["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        yield from min(
            (list(undescribed(value, one, raw)) for one in schema["anyOf"] if one != {"type": "null"}), key=len
        )
    elif isinstance(value, list):
        for one in value:
            yield from undescribed(one, schema.get("items", {}), raw)
    elif isinstance(value, dict) and "properties" in schema:
        for name, member in value.items():
            if name in schema["properties"]:
                yield from undescribed(member, schema["properties"][name], raw)
            else:
                yield name


def test_examples_of_the_description_are_accepted(broker: httpx.Client) -> None:
    raw = description()
    for path in ("/v1/events", "/v1/subscriptions", "/v1/ontologies"):
        for kind, body in raw["paths"][path]["post"]["requestBody"]["content"].items():
            text = body["example"] if isinstance(body["example"], str) else json.dumps(body["example"])
            answer = broker.post(path, content=text, headers={"Content-Type": kind})
            assert answer.status_code in (201, 202), f"{path} {kind}: {answer.text}"
