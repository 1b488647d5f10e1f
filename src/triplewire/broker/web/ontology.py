"""The ontology: browse it, the words for its concepts, what is proposed for it, and its versions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pyoxigraph import NamedNode, RdfFormat, parse

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Anybody
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.effect import MOST_SECONDS, MOST_SUBSCRIPTIONS
from triplewire.broker.subscribing.ontologies import shown
from triplewire.broker.subscribing.trial import MOST_EVENTS
from triplewire.broker.web.frame import render
from triplewire.concepts.load import SUFFIXES
from triplewire.rdf.terms import SKOS
from triplewire.store import Ontology
from triplewire.store.ontologies import NEWEST
from triplewire.store.rights import ONTOLOGY

PARTS = (
    ("/ontology", "Browse"),
    ("/ontology/words", "Words"),
    ("/ontology/proposals", "Proposals"),
    ("/ontology/versions", "Versions"),
)
KINDS = {
    "interests": "all concepts",
    "classes": "classes",
    "properties": "properties",
    "concepts": "SKOS concepts",
}
SHOWN = 50

router = APIRouter(include_in_schema=False)

Before = Annotated[int, Query(ge=1, le=NEWEST)]


@router.get("/ontology", response_class=HTMLResponse)
def browse(caller: Anybody, request: Request, shared: Shared) -> HTMLResponse:
    """The hierarchies as a tree, and what is known of the term that is chosen."""
    return _part(request, caller, shared, "ontology.html", kinds=KINDS)


@router.get("/ontology/words", response_class=HTMLResponse)
def words(caller: Anybody, request: Request, shared: Shared, before: Before = NEWEST) -> HTMLResponse:
    """The words that were added, the newest first."""
    found = shared.store.newest_learnt(before, SHOWN + 1)
    page = found[:SHOWN]
    older = page[-1][0] if len(found) > SHOWN else None
    added = [one for _, line, version in page if (one := _word(line, version, shared)) is not None]
    return _part(request, caller, shared, "ontology_words.html", words=added, older=older)


@router.get("/ontology/proposals", response_class=HTMLResponse)
def proposals(caller: Anybody, request: Request, shared: Shared) -> HTMLResponse:
    """What is proposed, and what came of it."""
    return _part(request, caller, shared, "ontology_proposals.html")


@router.get("/ontology/versions", response_class=HTMLResponse)
def versions(caller: Anybody, request: Request, shared: Shared, before: Before = NEWEST) -> HTMLResponse:
    """The versions, the newest first, and the place for a new one."""
    found = shared.store.newest_ontologies(before, SHOWN + 1)
    older = found[SHOWN - 1].version if len(found) > SHOWN else None
    limits = {"events": MOST_EVENTS, "subscriptions": MOST_SUBSCRIPTIONS, "seconds": MOST_SECONDS}
    values = {"versions": [shown(one) for one in found[:SHOWN]], "older": older, "limits": limits, "suffixes": SUFFIXES}
    return _part(request, caller, shared, "ontology_versions.html", **values)


def _part(request: Request, caller: Caller, shared: State, template: str, **values: Any) -> HTMLResponse:
    newest = shared.store.newest_ontologies(limit=1)
    values |= {"parts": PARTS, "may": caller.may(ONTOLOGY), "newest": newest[0].version if newest else None}
    return render(request, caller, template, **values)


def _word(line: str, version: Ontology, shared: State) -> dict[str, Any] | None:
    """A word that was added, with who added it; None if a statement says something else."""
    [quad] = parse(line, RdfFormat.N_TRIPLES)
    if quad.predicate != SKOS.altLabel or not isinstance(quad.subject, NamedNode):
        return None
    told = {"author": version.author, "created": version.created, "reason": version.reason, "version": version.version}
    concept = {"concept": quad.subject.value, "label": shared.models.current().label(quad.subject)}
    return concept | {"word": quad.object.value, "language": quad.object.language} | told
