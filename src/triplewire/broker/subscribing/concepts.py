"""Concepts over HTTP: those of the ontology, those that are proposed, and the words for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal

import pyoxigraph
from fastapi import APIRouter, Depends, Path, Query
from pyoxigraph import NamedNode

from triplewire.broker.access.users import Anybody, Ontologist
from triplewire.broker.http.bodies import ExactJSONResponse, json_object
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.concepts.catalogue import Section
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.outline import Kind
from triplewire.concepts.proposed import Proposal, check_decision, concept_named
from triplewire.errors import UsageError
from triplewire.rdf.terms import SKOS, Triple
from triplewire.store import StoredProposal
from triplewire.store.rights import ONTOLOGY

router = APIRouter(tags=["concepts"])

Body = Annotated[dict[str, Any], Depends(json_object)]
Number = Annotated[int, Path(ge=1, lt=1 << 63)]
Search = Annotated[str, Query(max_length=200)]
StateName = Literal["open", "accepted", "merged", "rejected"]


@router.get("/v1/concepts")
def list_concepts(
    _: Anybody, shared: Shared, page: Paged, search: Search = "", kind: Kind = "interests"
) -> ExactJSONResponse:
    """The concepts that interests may name, or the terms of another kind.

    If a text is searched for, those whose words have it in them: those that are called just so first, then those that
    begin so. If there is none, those that it is most likely a misspelling of, and ``misspelt`` is true. ``called`` are
    those that an interest means by the text, be it in the plural or without its accents.
    """
    catalogue = shared.models.catalogue()
    section, model = catalogue.section(kind), catalogue.model
    called = [term for term in model.concepts_called(search) if search and term in section.outline.nodes]
    found = list(dict.fromkeys([*called, *section.search(search)]))
    return page.of_all(
        found or section.nearest(search),
        lambda concept: _shown(concept, section, model),
        misspelt=not found,
        called=[term.value for term in called],
    )


@router.get("/v1/concepts/proposals")
def list_proposals(caller: Anybody, shared: Shared, page: Paged, state: StateName | None = None) -> ExactJSONResponse:
    """Proposed concepts in the order in which they were proposed, with what came of them.

    Whoever may decide on them sees everybody's; others see their own.
    """
    proposer = None if caller.may(ONTOLOGY) else caller.name
    return page.of(shared.store.proposals(page.after, page.more, state, proposer), shown, lambda one: one.number)


@router.post("/v1/concepts/proposals/{number}/accept")
def accept(caller: Ontologist, shared: Shared, number: Number, body: Body) -> dict[str, Any]:
    """Make a proposed concept everybody's. ``reason`` and ``author`` go into the ontology version."""
    author, reason, model = caller.acts_for(body.get("author")), _reason(body), shared.models.current()

    def decide(proposal: Proposal) -> StoredProposal:
        check_decision(proposal, model)
        return shared.store.accept(number, author, reason)

    return _decided(shared, number, decide)


@router.post("/v1/concepts/proposals/{number}/merge")
def merge(caller: Ontologist, shared: Shared, number: Number, body: Body) -> dict[str, Any]:
    """Make the word of a proposed concept a synonym of the concept ``into``, told by its IRI or a word for it."""
    author, reason, model = caller.acts_for(body.get("author")), _reason(body), shared.models.current()
    into = _concept(body, "into", model)

    def decide(proposal: Proposal) -> StoredProposal:
        check_decision(proposal, model, into)
        return shared.store.merge(number, into, author, reason)

    return _decided(shared, number, decide)


@router.post("/v1/concepts/proposals/{number}/reject")
def reject(caller: Ontologist, shared: Shared, number: Number, body: Body) -> dict[str, Any]:
    """Keep a proposed concept from everybody but those who use it already, to whom it means what it did."""
    author, reason = caller.acts_for(body.get("author")), _reason(body)
    return _decided(shared, number, lambda _: shared.store.reject(number, author, reason))


@router.get("/v1/synonyms")
def list_synonyms(_: Anybody, shared: Shared, page: Paged, concept: str | None = None) -> ExactJSONResponse:
    """The words for each concept, or for one, told by its IRI or a word for it, in their order."""
    model = shared.models.current()
    asked = _in_order(model) if concept is None else [_concept({"concept": concept}, "concept", model)]
    return page.of_all(asked, lambda one: _synonyms(one, model))


@router.post("/v1/synonyms", status_code=HTTPStatus.CREATED)
def add_synonym(caller: Ontologist, shared: Shared, body: Body) -> dict[str, Any]:
    """Have a ``concept`` called by a further ``word``, of a ``language`` if it is told, for the events to come."""
    model = shared.models.current()
    concept = _concept(body, "concept", model)
    label = _label(body)
    reason = _reason(body) or f"{label.value} means {concept}"
    author = caller.acts_for(body.get("author"))
    version = shared.store.learn([Triple(concept, SKOS.altLabel, label)], author, reason)
    return {**_synonyms(concept, shared.models.current()), "version": version.version, "since": version.since}


def shown(one: StoredProposal) -> dict[str, Any]:
    proposal = one.proposal
    decision = {"author": one.author, "reason": one.reason, "version": one.version}
    return {
        "id": one.number,
        "concept": proposal.concept.value,
        "word": proposal.word,
        "under": proposal.parent.value,
        "proposer": one.proposer,
        "origin": one.origin,
        "created": one.created,
        "state": one.state,
    } | (decision if one.state != "open" else {})


def _decided(shared: State, number: int, decide: Callable[[Proposal], StoredProposal]) -> dict[str, Any]:
    found = shared.store.proposals(number - 1, 1)
    if not found or found[0].number != number:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no proposal {number}")
    if found[0].state != "open":
        raise ProblemError(HTTPStatus.CONFLICT, f"proposal {number} is {found[0].state} already")
    try:
        return shown(decide(found[0].proposal))
    except UsageError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error)) from None


def _reason(body: Mapping[str, Any]) -> str:
    reason = body.get("reason", "")
    if not isinstance(reason, str):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'reason' should be a text, not {reason!r}")
    return reason


def _concept(body: Mapping[str, Any], member: str, model: ConceptModel) -> NamedNode:
    name = body.get(member)
    if not isinstance(name, str):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'{member}' should name a concept, not {name!r}")
    try:
        return concept_named(name, model)
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None


def _label(body: Mapping[str, Any]) -> pyoxigraph.Literal:
    word, language = body.get("word"), body.get("language")
    if not isinstance(word, str) or not word.strip():
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'word' should be a word, not {word!r}")
    if language is None:
        return pyoxigraph.Literal(word.strip())
    try:
        return pyoxigraph.Literal(word.strip(), language=language)
    except (TypeError, ValueError):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'language' should be a tag such as en, not {language!r}") from None


def _in_order(model: ConceptModel) -> list[NamedNode]:
    return sorted(model.concept_parents, key=str)


def _words(concept: NamedNode, model: ConceptModel) -> list[str]:
    return [label.value for label in model.labels.get(concept, ())] or [model.label(concept)]


def _shown(concept: NamedNode, section: Section, model: ConceptModel) -> dict[str, Any]:
    node = section.outline.nodes[concept]
    same = {term.value for term in node.terms if term != concept}
    above = {parent.terms[0].value for parent in section.outline.parents[node]}
    return {
        "concept": concept.value,
        "label": model.label(concept),
        "words": _words(concept, model),
        "parents": sorted(same | above),
    }


def _synonyms(concept: NamedNode, model: ConceptModel) -> dict[str, Any]:
    words = [
        {"word": label.value} | ({"language": label.language} if label.language else {})
        for label in model.labels.get(concept, ())
    ]
    return {"concept": concept.value, "words": words}
