"""The description of the API, as OpenAPI has it.

FastAPI knows the routes and their parameters; ``routes`` and ``shapes`` say what travels in bodies; and what every
route has in common, the refusals above all, is added here.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi

import triplewire
from triplewire.broker.http.problems import MEDIA_TYPE, ProblemError
from triplewire.broker.http.routes import ANSWERS, BODIES, OTHERWISE
from triplewire.broker.http.shapes import JSON, MAILED, SCHEMAS, TEXT, named

ABOUT = "Semantic publish/subscribe: RDF events, graph-pattern subscriptions. Problems are as RFC 9457 has them."
REFUSALS = {
    ("post", "/v1/events"): (404, 429),
    ("post", "/v1/subscriptions"): (409, 429),
    ("post", "/v1/sources/{number}/read"): (409, 429),
    ("post", "/v1/ontologies"): (409, 429),
    ("post", "/v1/profiles"): (409,),
    ("get", "/v1/notifications/{number}/event"): (406, 410),
    ("get", "/v1/notifications/{number}/explanation"): (406, 410),
    ("get", "/v1/notifications/{number}/less"): (410, 422),
    ("patch", "/v1/deliveries/{subscription_id}"): (410,),
    ("post", "/v1/deliveries/{subscription_id}/redeliver"): (410,),
    ("get", "/v1/explanations"): (404, 406, 422),
    ("post", "/v1/ontologies/{version}/restore"): (409,),
    ("get", "/v1/ontologies/{version}/effect"): (429,),
    **{("get", f"/v1/concepts/{place}"): (404,) for place in ("children", "details", "picture", "way")},
    ("get", "/v1/synonyms"): (422,),
    ("post", "/v1/synonyms"): (429,),
    ("delete", "/v1/synonyms"): (404, 409, 422, 429),
    **{("post", f"/v1/concepts/proposals/{{number}}/{verb}"): (409, 429) for verb in ("accept", "merge", "reject")},
    ("post", "/v1/users"): (409,),
    ("post", "/v1/session"): (401, 403, 429),
    ("post", "/v1/tokens"): (404,),
    ("post", "/v1/hub"): (404,),
    **{("post", f"/v1/mailboxes/{noun}"): (404,) for noun in MAILED},
}
"""Beyond those that come with parameters, bodies and tokens."""

TRIED = {
    ("post", "/v1/events"): "Preview",
    ("post", "/v1/subscriptions"): "Trial",
    ("post", "/v1/ontologies"): "OntologyTrial",
    ("post", "/v1/synonyms"): "Changes",
}
"""What is made by a route and can be tried out first."""


def describe(app: FastAPI) -> dict[str, Any]:
    """The description, made once."""
    if app.openapi_schema is None:
        found = get_openapi(title=app.title, version=triplewire.__version__, description=ABOUT, routes=app.routes)
        for path, operations in found["paths"].items():
            for verb, operation in operations.items():
                _complete(operation, (verb, path))
        found["components"]["schemas"] = SCHEMAS
        app.openapi_schema = found
    return app.openapi_schema


async def check_parameters(request: Request) -> None:
    """Refuse a parameter that the description does not have: who misspells one would be answered another question."""
    if not request.query_params:
        return
    operations = describe(request.app)["paths"].get(request.scope["route"].path_format, {})
    operation = operations.get(request.method.lower())
    if operation is None:
        return
    known = [one["name"] for one in operation["parameters"] if one["in"] == "query"]
    if unknown := sorted(set(request.query_params) - set(known)):
        there = f"there are {', '.join(known)}" if known else "it has none"
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"there is no parameter {unknown[0]!r} here; {there}")


def _complete(operation: dict[str, Any], place: tuple[str, str]) -> None:
    parameters = operation.get("parameters", [])
    operation["parameters"] = [one for one in parameters if one["name"].lower() != "accept"]  # said by media types
    if place in BODIES:
        operation["requestBody"] = {"required": True, "content": BODIES[place]}
    done = next(status for status in operation["responses"] if status.startswith("2"))
    content = {kind: {"schema": TEXT} for kind in OTHERWISE.get(place, ())}
    if place in ANSWERS:
        content[JSON] = {"schema": ANSWERS[place]}
    responses: dict[str, Any] = {done: {"description": HTTPStatus(int(done)).phrase, "content": content}}
    if place == ("post", "/v1/sources"):
        responses["200"] = {"description": "There already", "content": content}
    if place in TRIED:
        responses["200"] = {"description": "Tried out", "content": {JSON: {"schema": named(TRIED[place])}}}
    if place == ("get", "/readyz"):
        responses["503"] = {"description": "Not ready", "content": responses["200"]["content"]}
    names = {one["name"] for one in operation["parameters"]}
    if "token" in names and "security" in operation:
        operation["security"].append({})  # the address itself may have the token
    if "if-none-match" in names:
        responses["304"] = {"description": "Not Modified"}
    for status in sorted(_refusals(operation, place, names)):
        problem = {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": named("Problem")}}}
        responses.setdefault(str(status), problem)
    operation["responses"] = responses


def _refusals(operation: dict[str, Any], place: tuple[str, str], names: set[str]) -> set[int]:
    """The statuses with which a route may answer that it does not do what is asked."""
    found = {400, 503, *REFUSALS.get(place, ())}
    if operation.get("security"):
        found |= {401, 403, 429}
    if "{" in place[1]:
        found.add(404)
    if place[0] != "get":
        found.add(507)
    if "if-match" in names:
        found.add(412)
    if "idempotency-key" in names:
        found |= {409, 422}
    return found | ({413, 415, 422} if place in BODIES else set())
