"""Concepts over HTTP: those of the ontology, and those that are proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Path, Query
from pyoxigraph import NamedNode

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Anybody, Ontologist
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.ontologies import Body, DryRun, reason_of, would_change
from triplewire.broker.subscribing.synonyms import concept_of
from triplewire.concepts.catalogue import Section
from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.outline import Kind
from triplewire.concepts.proposed import Proposal, check_decision
from triplewire.errors import UsageError
from triplewire.rdf.terms import Triple
from triplewire.store import StoredProposal
from triplewire.store.rights import ONTOLOGY
from triplewire.store.versions import having_learnt

router = APIRouter(tags=["concepts"])

Number = Annotated[int, Path(ge=1, lt=1 << 63)]
Search = Annotated[str, Query(max_length=200)]
StateName = Literal["open", "accepted", "merged", "rejected"]
Made = TypeVar("Made")


@router.get("/v1/concepts")
def list_concepts(
    _: Anybody, shared: Shared, page: Paged, search: Search | None = None, kind: Kind = "interests"
) -> ExactJSONResponse:
    """The concepts that interests may name, or the terms of another kind.

    If a text is searched for, those whose words have it in them: those that are called just so first, then those that
    begin so. If there is none, those that it is most likely a misspelling of, and ``misspelt`` is true. ``called`` are
    those that an interest means by the text, be it in the plural or without its accents.
    """
    catalogue = shared.models.catalogue()
    section, model, text = catalogue.section(kind), catalogue.model, search or ""
    called = [term for term in model.concepts_called(text) if text and term in section.outline.nodes]
    found = list(dict.fromkeys([*called, *section.search(text)]))
    besides = {} if search is None else {"misspelt": not found, "called": [term.value for term in called]}
    return page.of_all(found or section.nearest(text), lambda concept: _shown(concept, section, model), **besides)


@router.get("/v1/concepts/proposals")
def list_proposals(caller: Anybody, shared: Shared, page: Paged, state: StateName | None = None) -> ExactJSONResponse:
    """Proposed concepts in the order in which they were proposed, with what came of them.

    Whoever may decide on them sees everybody's; others see their own.
    """
    proposer = None if caller.may(ONTOLOGY) else caller.name
    return page.of(shared.store.proposals(page.after, page.more, state, proposer), shown, lambda one: one.number)


@router.post("/v1/concepts/proposals/{number}/accept")
def accept(caller: Ontologist, shared: Shared, number: Number, body: Body, dry_run: DryRun = False) -> dict[str, Any]:
    """Make a proposed concept everybody's. ``reason`` and ``author`` go into the ontology version.

    With ``dry-run=true`` nothing is changed: it is told what would be different, and for whom.
    """
    author, reason, model = caller.acts_for(body.get("author")), reason_of(body), shared.models.current()
    proposal = _open(shared, number)
    _decided(lambda: check_decision(proposal, model))
    if dry_run:
        return _trial(caller, shared, proposal.accepted())
    return shown(_decided(lambda: shared.store.accept(number, author, reason)))


@router.post("/v1/concepts/proposals/{number}/merge")
def merge(caller: Ontologist, shared: Shared, number: Number, body: Body, dry_run: DryRun = False) -> dict[str, Any]:
    """Make the word of a proposed concept a synonym of the concept ``into``, told by its IRI or a word for it.

    With ``dry-run=true`` nothing is changed: it is told what would be different, and for whom.
    """
    author, reason, model = caller.acts_for(body.get("author")), reason_of(body), shared.models.current()
    into = concept_of(body, "into", model)
    proposal = _open(shared, number)
    _decided(lambda: check_decision(proposal, model, into))
    if dry_run:
        return _trial(caller, shared, proposal.merged(into))
    return shown(_decided(lambda: shared.store.merge(number, into, author, reason)))


@router.post("/v1/concepts/proposals/{number}/reject")
def reject(caller: Ontologist, shared: Shared, number: Number, body: Body) -> dict[str, Any]:
    """Keep a proposed concept from everybody but those who use it already, to whom it means what it did."""
    author, reason = caller.acts_for(body.get("author")), reason_of(body)
    _open(shared, number)
    return shown(_decided(lambda: shared.store.reject(number, author, reason)))


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


def _open(shared: State, number: int) -> Proposal:
    """A proposal that is to be decided on."""
    found = shared.store.proposals(number - 1, 1)
    if not found or found[0].number != number:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no proposal {number}")
    if found[0].state != "open":
        raise ProblemError(HTTPStatus.CONFLICT, f"proposal {number} is {found[0].state} already")
    return found[0].proposal


def _decided(decide: Callable[[], Made]) -> Made:
    try:
        return decide()
    except UsageError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error)) from None


def _trial(caller: Caller, shared: State, learnt: Iterable[Triple]) -> dict[str, Any]:
    """What would change if something was learnt."""
    documents = having_learnt(shared.store.newest_ontology(), learnt)
    return would_change(caller, model_of_documents(documents), shared)


def _shown(concept: NamedNode, section: Section, model: ConceptModel) -> dict[str, Any]:
    node = section.outline.nodes[concept]
    same = {term.value for term in node.terms if term != concept}
    above = {parent.terms[0].value for parent in section.outline.parents[node]}
    words = [label.value for label in model.labels.get(concept, ())] or [model.label(concept)]
    return {
        "concept": concept.value,
        "label": model.label(concept),
        "words": words,
        "parents": sorted(same | above),
    }
