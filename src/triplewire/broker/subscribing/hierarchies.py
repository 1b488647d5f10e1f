"""The ontology's hierarchies over HTTP, a branch at a time, and what is known of a term."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from pyoxigraph import NamedNode

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Anybody
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.model import standing
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.synonyms import words_for
from triplewire.concepts.catalogue import Catalogue
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.outline import ALL_KINDS, Kind, Node, Outline
from triplewire.concepts.picture import neighbourhood
from triplewire.errors import SubscriptionError
from triplewire.rdf.svg import draw
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import terms_named

router = APIRouter(prefix="/v1/concepts", tags=["concepts"])

MOST_STATEMENTS = 50
"""So many meta-statements of a term are told."""
MOST_SECONDS = 0.5
"""So long is it looked for subscriptions that name a term."""

Of = Annotated[str, Query(max_length=2000, description="The IRI of a term.")]
Steps = Annotated[int, Query(ge=0, le=10)]


@router.get("/children")
def list_children(
    _: Anybody, shared: Shared, page: Paged, of: Of | None = None, kind: Kind = "interests"
) -> ExactJSONResponse:
    """What is directly below a term in a hierarchy, or what has nothing above it; in the order of labels.

    Each with how many there are below it in turn, with all its parents, and with the terms that are the same.
    """
    whole = shared.models.catalogue().section(kind).outline
    below = whole.tops if of is None else whole.children[_node(of, whole)]
    return page.of_all(below, lambda node: branch(node, whole))


@router.get("/way")
def show_way(_: Anybody, shared: Shared, of: Of, kind: Kind = "interests") -> dict[str, Any]:
    """A shortest way down to a term from one that has nothing above it."""
    section = shared.models.catalogue().section(kind)
    way = section.way(_node(of, section.outline))
    return {"items": [branch(node, section.outline) for node in way], "next": None}


@router.get("/picture")
def draw_near(_: Anybody, shared: Shared, of: Of, kind: Kind = "interests", up: Steps = 2, down: Steps = 1) -> Response:
    """A term with what is some steps above and below it, as SVG: the 60 that are nearest, if there are more."""
    whole = shared.models.catalogue().section(kind).outline

    def link(node: Node) -> str:
        return f"/ontology?{urlencode({'concept': node.terms[0].value, 'kind': kind})}"

    picture = draw(neighbourhood(whole, _node(of, whole), up, down, link))
    return Response(picture, media_type="image/svg+xml")


@router.get("/details")
def show_details(caller: Anybody, shared: Shared, of: Of) -> ExactJSONResponse:
    """What is known of a term: the words for it, its definitions, where it stands, and what speaks of it.

    ``hierarchies`` has its place in each hierarchy that it is in. ``statements`` are the meta-statements that it is
    part of, at most 50. ``subscriptions`` counts the caller's own that name it.
    """
    catalogue = shared.models.catalogue()
    model = catalogue.model
    term = _term(of, catalogue)
    definitions = catalogue.definitions.get(term, ())
    statements = list(_statements(term, model))
    return ExactJSONResponse(
        {
            "concept": term.value,
            "label": model.label(term),
            "words": words_for(term, model, shared),
            "definitions": [{"text": one.value, "language": one.language} for one in definitions],
            "hierarchies": dict(_places(term, catalogue)),
            "statements": statements[:MOST_STATEMENTS],
            "all_statements": len(statements),
            "subscriptions": _naming(caller, term, shared, model),
        }
    )


def branch(node: Node, whole: Outline) -> dict[str, Any]:
    return {
        "concept": node.terms[0].value,
        "same": [term.value for term in node.terms[1:]],
        "label": node.label,
        "note": node.note,
        "parents": [{"concept": one.terms[0].value, "label": one.label} for one in whole.parents[node]],
        "children": len(whole.children[node]),
    }


def _node(iri: str, whole: Outline) -> Node:
    try:
        return whole.nodes[NamedNode(iri)]
    except (KeyError, ValueError):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no term <{iri}> among the {whole.kind}") from None


def _term(iri: str, catalogue: Catalogue) -> NamedNode:
    try:
        term = NamedNode(iri)
    except ValueError:
        term = None
    if term is None or not any(term in catalogue.section(kind).outline.nodes for kind in ALL_KINDS):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no term <{iri}> in the ontology")
    return term


def _places(term: NamedNode, catalogue: Catalogue) -> Iterator[tuple[Kind, dict[str, Any]]]:
    for kind in ALL_KINDS:
        whole = catalogue.section(kind).outline
        if term in whole.nodes:
            yield kind, branch(whole.nodes[term], whole)


def _statements(term: NamedNode, model: ConceptModel) -> Iterator[dict[str, Any]]:
    """The meta-statements that a term is part of: what kind of thing has what kind of property."""
    for one in model.meta_statements:
        if term in one:
            subject, property_, object_ = ({"concept": part.value, "label": model.label(part)} for part in one)
            yield {"subject": subject, "property": property_, "object": object_}


def _naming(caller: Caller, term: NamedNode, shared: State, model: ConceptModel) -> dict[str, Any]:
    """How many of the caller's own subscriptions name a term, as far as there is time to look."""
    names, count, end = model.aliases(term), 0, time.monotonic() + MOST_SECONDS
    for revision in standing(shared.store, caller.name):
        if time.monotonic() > end:
            return {"count": count, "complete": False}
        try:
            count += not names.isdisjoint(terms_named(parse_subscription(revision.record, model)))
        except SubscriptionError:
            continue
    return {"count": count, "complete": True}
