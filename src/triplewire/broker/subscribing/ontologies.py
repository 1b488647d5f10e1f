"""The ontology's versions over HTTP."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from triplewire.broker.access.users import Anybody, Ontologist
from triplewire.broker.http.bodies import MEBIBYTE, ExactJSONResponse, media_type, read_body, text_of, unsupported
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.repeats import WITH_KEY, repeatable
from triplewire.broker.http.tags import IfMatch, IfNoneMatch, check_unchanged, tag_of, tagged
from triplewire.broker.model import problems
from triplewire.broker.state import Shared, State
from triplewire.concepts.load import model_of_documents
from triplewire.rdf.syntax import FORMATS
from triplewire.store import Ontology

ONTOLOGY_LIMIT = 64 * MEBIBYTE

router = APIRouter(tags=["ontologies"], route_class=repeatable(ONTOLOGY_LIMIT))


Reason = Annotated[str, Query(max_length=1000)]


async def _document(request: Request, name: Annotated[str, Query(max_length=200)] = "ontology") -> dict[str, str]:
    kind = media_type(request)
    if kind not in FORMATS:
        raise unsupported(kind, tuple(FORMATS))
    return {"name": name, "media_type": kind, "text": text_of(await read_body(request, ONTOLOGY_LIMIT))}


@router.get("/v1/ontologies")
def list_ontologies(_: Anybody, shared: Shared, page: Paged) -> ExactJSONResponse:
    """Every version of the ontology, oldest first."""
    return page.of(shared.store.ontologies(page.after, page.more), _shown, lambda one: one.version)


@router.post("/v1/ontologies", status_code=HTTPStatus.CREATED, dependencies=[WITH_KEY])
def put_ontology(
    caller: Ontologist,
    shared: Shared,
    document: Annotated[dict[str, str], Depends(_document)],
    reason: Reason = "",
    author: str | None = None,
    if_match: IfMatch = None,
) -> ExactJSONResponse:
    """Make a document, under its media type, the ontology for the events to come. The same again changes nothing.

    What was learnt from proposals and synonyms stays beside it; a document of that name replaces it.
    ``warnings`` names the caller's subscriptions that cannot be understood with it, and match nothing until they are
    changed; ``affected`` counts everybody's. With ``If-Match``, it replaces the version with that tag or none.
    """
    model_of_documents([document])  # or it is refused
    check_unchanged(_newest(shared), if_match)
    ontology = shared.store.put_ontology([document], caller.acts_for(author), reason)
    model = model_of_documents(ontology.documents)
    found = list(problems(shared.store, model))
    warnings = [{"id": one.id, "reason": why} for one, why in found if caller.sees(one.owner)]
    headers = {"Location": f"/v1/ontologies/{ontology.version}", "ETag": tag_of(_whole(ontology))}
    answer = {**_shown(ontology), "warnings": warnings, "affected": len(found)}
    return ExactJSONResponse(answer, HTTPStatus.CREATED, headers)


def _shown(ontology: Ontology) -> dict[str, Any]:
    documents = [{"name": d["name"], "media_type": d["media_type"]} for d in ontology.documents]
    told = {"author": ontology.author, "reason": ontology.reason, "created": ontology.created}
    return {"version": ontology.version, "since": ontology.since, "documents": documents, **told}


@router.get("/v1/ontologies/{version}")
def read_ontology(
    _: Anybody, shared: Shared, version: Annotated[int, Path(ge=1, lt=1 << 63)], if_none_match: IfNoneMatch = None
) -> Response:
    """A version with its documents' texts."""
    ontology = shared.store.ontology(version)
    if ontology is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no ontology version {version}")
    return tagged(_whole(ontology), if_none_match)


def _whole(ontology: Ontology) -> dict[str, Any]:
    return _shown(ontology) | {"documents": ontology.documents}


def _newest(shared: State) -> dict[str, Any] | None:
    newest = shared.store.ontology(shared.store.ontology_version(shared.store.last_position() + 1))
    return None if newest is None else _whole(newest)
