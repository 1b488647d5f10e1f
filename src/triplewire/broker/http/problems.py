"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from triplewire.broker.operations.logs import request_id
from triplewire.errors import (
    EventError,
    OntologyError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    SubscriptionError,
)

MEDIA_TYPE = "application/problem+json"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SOON = {"Retry-After": "1"}
"""While the store is away nobody knows for how long; to ask costs little."""

logger = logging.getLogger(__name__)


class ProblemError(Exception):
    """A request that is answered with a problem document."""

    def __init__(
        self, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.members = members

    def response(self) -> JSONResponse:
        body: dict[str, Any] = {"type": "about:blank", "title": self.status.phrase, "status": self.status}
        body["detail"] = self.detail
        if request_id.get():
            body["request"] = request_id.get()
        return JSONResponse(body | self.members, self.status, self.headers, MEDIA_TYPE)


def answer_with_problems(app: FastAPI) -> None:
    """Have every error that a route raises answered with a problem document."""

    @app.exception_handler(ProblemError)
    def _problem(_: Request, error: ProblemError) -> JSONResponse:
        return error.response()

    @app.exception_handler(EventError)
    def _event(_: Request, error: EventError) -> JSONResponse:
        return ProblemError(HTTPStatus.BAD_REQUEST, str(error)).response()

    @app.exception_handler(OntologyError)
    def _ontology(_: Request, error: OntologyError) -> JSONResponse:
        return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)).response()

    @app.exception_handler(SubscriptionError)
    def _subscription(_: Request, error: SubscriptionError) -> JSONResponse:
        """With language, line, column, excerpt and nearest term, as far as they are known."""
        members = {name: value for name, value in error.as_dict().items() if name not in ("error", "message")}
        return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), **members).response()

    @app.exception_handler(StoreError)
    def _store(_: Request, error: StoreError) -> JSONResponse:
        logger.error("%s", error)
        if isinstance(error, StoreFullError):
            detail = "the disk is full, and nothing of this was accepted; try again later"
            return ProblemError(HTTPStatus.INSUFFICIENT_STORAGE, detail, SOON).response()
        detail = "the store cannot be used now; try again later"
        if isinstance(error, StoreReadOnlyError):
            detail = "the store can only be read now, and nothing of this was accepted; try again later"
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, detail, SOON).response()

    @app.exception_handler(RequestValidationError)
    def _parameters(_: Request, error: RequestValidationError) -> JSONResponse:
        found = "; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors())
        return ProblemError(HTTPStatus.BAD_REQUEST, found).response()

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> JSONResponse:
        return as_problem(request, error)


def as_problem(request: Request, error: HTTPException) -> JSONResponse:
    """The answer to a request that no route takes."""
    detail, headers = error.detail, dict(error.headers or {})
    if error.status_code == HTTPStatus.NOT_FOUND:
        detail = f"there is nothing at {request.url.path}; /openapi.json tells what there is"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request))
        detail = f"{request.method} is not for {request.url.path}; there is {headers['Allow']}"
    return ProblemError(HTTPStatus(error.status_code), detail, headers).response()


def _methods(request: Request) -> Iterator[str]:
    """The methods that some route has for the path of a request."""
    for method in METHODS:
        asked = {**request.scope, "method": "GET" if method == "HEAD" else method}
        if any(route.matches(asked)[0] is Match.FULL for route in request.app.routes):
            yield method
