"""The ontology's hierarchies over HTTP, a branch at a time."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pyoxigraph import NamedNode

from triplewire.broker.access.users import Anybody
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared
from triplewire.concepts.outline import Kind, Node, Outline

router = APIRouter(prefix="/v1/concepts", tags=["concepts"])

Of = Annotated[str, Query(max_length=2000, description="The IRI of a term.")]


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
