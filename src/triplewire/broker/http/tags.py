"""Entity tags: a client that has something needs not be sent it again, and changes only what it has seen."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Header, Response

from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.problems import ProblemError
from triplewire.lift.documents import write_json

IfMatch = Annotated[str | None, Header(description="Do it only if the tag that a GET tells is still one of these.")]
IfNoneMatch = Annotated[str | None, Header(description="Answer 304 if the tag is one of these.")]

NOTHING: Mapping[str, Any] = {}


def tag_of(content: Any) -> str:
    """The tag of what a GET shows."""
    return f'"{sha256(write_json(content).encode()).hexdigest()[:32]}"'


def is_among(tag: str, tags: str, weak: bool = False) -> bool:
    """Whether a list of tags, as a header has it, holds a tag. A weak one counts only where that is enough."""
    listed = [one.strip() for one in tags.split(",")]
    return "*" in listed or tag in listed or (weak and f"W/{tag}" in listed)


def tagged(content: Any, if_none_match: str | None, aside: Mapping[str, Any] = NOTHING) -> Response:
    """What a GET shows, with its tag; or that the client has it already. What is ``aside`` is no part of the tag."""
    tag = tag_of(content)
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if if_none_match is not None and is_among(tag, if_none_match, weak=True):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return ExactJSONResponse({**content, **aside} if aside else content, headers=headers)


def check_unchanged(content: Any, if_match: str | None) -> None:
    """Refuse a change of something that is not as the client saw it; None, if there is nothing to be changed."""
    if if_match is not None and content is None:
        raise ProblemError(HTTPStatus.PRECONDITION_FAILED, "there is none yet that could have this tag")
    if if_match is not None and not is_among(tag_of(content), if_match):
        detail = "it was changed since you read it; read it again, and see whether your change still makes sense"
        raise ProblemError(HTTPStatus.PRECONDITION_FAILED, detail, {"ETag": tag_of(content)})
