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

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from tests.broker.clients import AUCTION, bearer, notify
from tests.broker.conftest import served
from triplewire.broker import create_app
from triplewire.broker.http.openapi import describe
from triplewire.broker.publishing.sample import load_sample
from triplewire.rdf.syntax import FORMATS
from triplewire.store import Store, store_url

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
    within = case.path.startswith("/v1/deliveries/{subscription_id}/")
    case.call_and_validate(
        checks=CHECKS,
        excluded_checks=[schemathesis.checks.unsupported_method] if within else [],  # an id may end in such a word
        **broker_with_something,
    )


def test_every_route_says_what_it_takes_and_what_it_answers() -> None:
    for path, operations in description()["paths"].items():
        for verb, operation in operations.items():
            done = {s: one for s, one in operation["responses"].items() if s.startswith("2")}
            told = all(one["content"] or status == "204" for status, one in done.items())
            assert told or path == "/v1/hub", f"{verb} {path}: add what it answers to broker/http/shapes.py"
            assert operation["summary"] and operation["description"]
            for status, answer in operation["responses"].items():
                if status >= "4" and path != "/readyz":
                    assert list(answer["content"]) == ["application/problem+json"]


def test_examples_of_the_description_are_accepted(broker: httpx.Client) -> None:
    raw = description()
    for path in ("/v1/events", "/v1/subscriptions", "/v1/ontologies"):
        for kind, body in raw["paths"][path]["post"]["requestBody"]["content"].items():
            text = body["example"] if isinstance(body["example"], str) else json.dumps(body["example"])
            answer = broker.post(path, content=text, headers={"Content-Type": kind})
            assert answer.status_code in (201, 202), f"{path} {kind}: {answer.text}"
