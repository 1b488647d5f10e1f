"""The page on which subscriptions are made and changed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from triplewire.broker.access.users import Subscriber
from triplewire.broker.state import Shared
from triplewire.broker.web.frame import SYNTAXES, render
from triplewire.broker.web.starts import NAMESPACES, STARTS
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES

LANGUAGES = {
    "ops": (
        "statements on a graph",
        "One statement a line: (_:H, ?x, (class, property, class)). _:H is the event itself, ?x anything.",
    ),
    "filter": ("attributes", 'Such as price < 400 and brand = "IBM".'),
    "sparql": ("SPARQL 1.1", "ASK, SELECT or CONSTRUCT on the event; tw:home is the event itself."),
    "gtopss": (
        "a graph as JSON",
        "A list of [subject, property, object, [conditions on the subject], [conditions on the object]].",
    ),
    "interest": ("concepts as a text", "Concepts with commas between them, or JSON."),
}
"""The languages in the order in which they are offered: what they are, and how one writes in them."""
router = APIRouter(include_in_schema=False)

Name = Annotated[str, Query(max_length=2000)]


@router.get("/subscribe", response_class=HTMLResponse)
def subscribe(
    caller: Subscriber, request: Request, shared: Shared, edit: Name = "", concept: Name = ""
) -> HTMLResponse:
    """The form, for a new subscription, or to edit one; with a concept chosen, if one is named."""
    prefixes = shared.models.catalogue().prefixes | NAMESPACES
    return render(
        request,
        caller,
        "subscribe.html",
        edit=edit,
        concept=concept,
        languages=[
            {"name": name, "title": title, "hint": hint, "examples": STARTS[name]}
            for name, (title, hint) in LANGUAGES.items()
        ],
        prefixes="\n".join(f"{name}: {iri}" for name, iri in prefixes.items() if name not in WELL_KNOWN_PREFIXES),
        formats=SYNTAXES.items(),
        mail=shared.mailer is not None,
    )
