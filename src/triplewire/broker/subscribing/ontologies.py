"""The ontology's versions over HTTP: those there are, what they change, and what a new one would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Anybody, Ontologist
from triplewire.broker.http.bodies import (
    MEBIBYTE,
    ExactJSONResponse,
    json_object,
    media_type,
    read_body,
    text_of,
    unsupported,
)
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.repeats import WITH_KEY, repeatable
from triplewire.broker.http.tags import IfMatch, IfNoneMatch, check_unchanged, tag_of, tagged
from triplewire.broker.model import problems
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.effect import effect_on
from triplewire.concepts.catalogue import Catalogue
from triplewire.concepts.difference import Subsumption, Word, diff
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.outline import KINDS, outline
from triplewire.errors import OntologyError
from triplewire.rdf.syntax import FORMATS
from triplewire.store import Ontology
from triplewire.store.rights import SUBSCRIBE
from triplewire.store.versions import Check, together

ONTOLOGY_LIMIT = 64 * MEBIBYTE
MOST_DIFFERENCES = 100
"""So many of each kind are told; all are counted."""

router = APIRouter(prefix="/v1/ontologies", tags=["ontologies"], route_class=repeatable(lambda _: ONTOLOGY_LIMIT))


Reason = Annotated[str, Query(max_length=1000)]
Version = Annotated[int, Path(ge=1, lt=1 << 63)]
Against = Annotated[
    int | None, Query(ge=0, lt=1 << 63, description="Another version, 0 for none; the one before if left out.")
]
DryRun = Annotated[bool, Query(alias="dry-run", description="Change nothing; tell what it would come to.")]
Strict = Annotated[bool, Query(description="Refuse a cycle of subclasses, sub-properties or broader concepts.")]
Body = Annotated[dict[str, Any], Depends(json_object)]


async def _document(request: Request, name: Annotated[str, Query(max_length=200)] = "ontology") -> dict[str, str]:
    kind = media_type(request)
    if kind not in FORMATS:
        raise unsupported(kind, tuple(FORMATS))
    return {"name": name, "media_type": kind, "text": text_of(await read_body(request, ONTOLOGY_LIMIT))}


Document = Annotated[dict[str, str], Depends(_document)]


@router.get("")
def list_ontologies(_: Anybody, shared: Shared, page: Paged) -> ExactJSONResponse:
    """Every version of the ontology, oldest first."""
    return page.of(shared.store.ontologies(page.after, page.more), shown, lambda one: one.version)


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[WITH_KEY])
def put_ontology(
    caller: Ontologist,
    shared: Shared,
    document: Document,
    reason: Reason = "",
    author: str | None = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    if_match: IfMatch = None,
) -> ExactJSONResponse:
    """Make a document, under its media type, the ontology for the events to come. The same again changes nothing.

    What was learnt from proposals and synonyms stays beside it; a document of that name replaces it.
    ``warnings`` names the caller's subscriptions that cannot be understood with it, and match nothing until they are
    changed; ``affected`` counts everybody's. With ``If-Match``, it replaces the version with that tag or none.

    With ``dry-run=true`` nothing is changed: it is told what the document holds, how many of its triples are used and
    which are not, what would be different, and which subscriptions would match differently.
    """
    current = shared.store.newest_ontology()
    documents = together(current, [document])
    candidate = Catalogue.of_documents(documents)  # or it is refused
    if strict and candidate.model.report.warnings:
        raise OntologyError(f"{document['name']}: {'; '.join(candidate.model.report.warnings)}")
    if dry_run:
        return ExactJSONResponse(_trial(caller, candidate.model, shared))
    made = shared.store.put_ontology([document], caller.acts_for(author), reason, _unless_changed(if_match))
    if made.documents == documents:
        shared.models.keep(made.version, candidate)
    return _made(caller, shared, made)


def _trial(caller: Caller, candidate: ConceptModel, shared: State) -> dict[str, Any]:
    report = candidate.report
    return {
        "triples": report.triples,
        "used": sum(report.used.values()),
        "unused": dict(report.unused),
        "imports": list(report.imports),
        "cycles": list(report.warnings),
        "terms": {kind: len(outline(candidate, kind).parents) for kind in KINDS},
    } | would_change(caller, candidate, shared)


def would_change(caller: Caller, candidate: ConceptModel, shared: State) -> dict[str, Any]:
    """What would be different if a model took the place of today's, and for whom."""
    current = shared.models.current()
    told = effect_on(caller, current, candidate, shared.store, shared.recent)
    return {"dryRun": True, "difference": difference(current, candidate), "effect": told}


def _made(caller: Caller, shared: State, ontology: Ontology) -> ExactJSONResponse:
    """What is told of a version that was made, with those who cannot be understood by it."""
    found = list(problems(shared.store, shared.models.of(ontology.version)))
    warnings = [{"id": one.id, "reason": why} for one, why in found if caller.may(SUBSCRIBE) and caller.sees(one.owner)]
    headers = {"Location": f"{router.prefix}/{ontology.version}", "ETag": tag_of(_whole(ontology))}
    answer = {**shown(ontology), "warnings": warnings, "affected": len(found)}
    return ExactJSONResponse(answer, HTTPStatus.CREATED, headers)


def shown(ontology: Ontology) -> dict[str, Any]:
    documents = [{"name": d["name"], "media_type": d["media_type"]} for d in ontology.documents]
    told = {"author": ontology.author, "reason": ontology.reason, "created": ontology.created}
    return {"version": ontology.version, "since": ontology.since, "documents": documents, **told}


@router.get("/{version}")
def read_ontology(_: Anybody, shared: Shared, version: Version, if_none_match: IfNoneMatch = None) -> Response:
    """A version with its documents' texts."""
    return tagged(_whole(_found(shared, version)), if_none_match)


@router.post("/{version}/restore", status_code=HTTPStatus.CREATED, dependencies=[WITH_KEY])
def restore_ontology(
    caller: Ontologist, shared: Shared, version: Version, body: Body, if_match: IfMatch = None
) -> ExactJSONResponse:
    """Have the ontology say for the events to come what it said in an earlier version.

    That is a new version: what was matched by the versions in between stays as it is. What was learnt since the
    earlier version is not in it. ``reason`` goes into the version. If the newest says the same, nothing changes.
    With ``If-Match``, it replaces the version with that tag or none.
    """
    earlier = _found(shared, version)
    author, why = caller.acts_for(body.get("author")), reason_of(body) or f"as in version {version}"
    return _made(caller, shared, shared.store.restore(earlier, author, why, _unless_changed(if_match)))


@router.get("/{version}/difference")
def show_difference(_: Anybody, shared: Shared, version: Version, against: Against = None) -> dict[str, Any]:
    """What is a kind of what in a version and not in another, and the other way round; and what is called otherwise.

    What follows from other statements is told, too. All is counted, and the first hundred of each kind are told.
    """
    before, after = _two(shared, version, against)
    return {"version": version, "against": before[0], **difference(before[1], after)}


@router.get("/{version}/effect")
def show_effect(caller: Anybody, shared: Shared, version: Version, against: Against = None) -> dict[str, Any]:
    """Which subscriptions match differently under a version than under another, on the newest events of the log.

    Both versions are tried with the subscriptions of today, on the newest 1,000 events or as many as can be in 5
    seconds, and with the caller's subscriptions. Whoever may change the ontology is told as well how many of
    everybody's are ``affected``, among the 5,000 that have been unchanged for longest. Of a hundred that the caller
    sees it is told how many events they have ``gained`` and ``lost``, and which ones.
    """
    before, after = _two(shared, version, against)
    told = effect_on(caller, before[1], after, shared.store, shared.recent)
    return {"version": version, "against": before[0], **told}


def reason_of(body: Mapping[str, Any]) -> str:
    """Why something is done, as a body says."""
    reason = body.get("reason", "")
    if not isinstance(reason, str):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'reason' should be a text, not {reason!r}")
    return reason


def difference(old: ConceptModel, new: ConceptModel) -> dict[str, Any]:
    """What is different, by kind: how many, and some of them."""
    change = diff(old, new)
    kinds: dict[str, tuple[Sequence[Subsumption | Word], Sequence[Subsumption | Word]]] = {
        "classes": (change.classes_appeared, change.classes_gone),
        "properties": (change.properties_appeared, change.properties_gone),
        "concepts": (change.concepts_appeared, change.concepts_gone),
        "words": (change.words_appeared, change.words_gone),
    }
    return {
        kind: {
            "appeared": {
                "count": len(appeared),
                "items": [_told(one, new, old) for one in appeared[:MOST_DIFFERENCES]],
            },
            "gone": {"count": len(gone), "items": [_told(one, old, new) for one in gone[:MOST_DIFFERENCES]]},
        }
        for kind, (appeared, gone) in kinds.items()
    }


def _told(one: Subsumption | Word, here: ConceptModel, there: ConceptModel) -> dict[str, Any]:
    """Something that is said here and not there, with labels: of what is called otherwise, the other one."""
    if isinstance(one, Word):
        language = {"language": one.word.language} if one.word.language else {}
        return {"term": one.term.value, "label": there.label(one.term), "word": one.word.value} | language
    lower, upper = one
    return {"lower": lower.value, "upper": upper.value, "label": here.label(lower), "under": here.label(upper)}


def _two(shared: State, version: int, against: int | None) -> tuple[tuple[int, ConceptModel], ConceptModel]:
    """The version that one is compared with, and the models of both."""
    store = shared.store
    _found(shared, version)
    before = [one.version for one in store.newest_ontologies(version, 1)]
    other = against if against is not None else before[0] if before else 0
    if other:
        _found(shared, other)
    return (other, shared.models.of(other)), shared.models.of(version)


def _found(shared: State, version: int) -> Ontology:
    ontology = shared.store.ontology(version)
    if ontology is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no ontology version {version}")
    return ontology


def _unless_changed(if_match: str | None) -> Check:
    """What refuses to replace a version that is not the one which the client saw."""
    return lambda current: check_unchanged(None if current is None else _whole(current), if_match)


def _whole(ontology: Ontology) -> dict[str, Any]:
    return shown(ontology) | {"documents": ontology.documents}
