"""What all pages share: the frame around them, their files, and how they write an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates

from triplewire.broker.access.gate import Caller
from triplewire.broker.notifying.words import short
from triplewire.broker.state import State
from triplewire.lift.documents import write_json
from triplewire.rdf.svg import shortened
from triplewire.store.rights import SUBSCRIBE

HERE = Path(__file__).parent
STATIC = StaticFiles(directory=HERE / "static")

PAGES = (
    ("/", "Home"),
    ("/subscribe", "Subscribe"),
    ("/publish", "Publish"),
    ("/notifications", "Notifications"),
    ("/subscriptions", "Subscriptions"),
    ("/ontology", "Ontology"),
    ("/dead-letters", "Dead letters"),
    ("/sources", "Sources"),
)
"""The pages that the frame leads to, in order, each with its title."""

SYNTAXES = {
    "text/turtle": "Turtle",
    "application/ld+json": "JSON-LD",
    "application/rdf+xml": "RDF/XML",
    "application/n-triples": "N-Triples",
    "application/trig": "TriG",
    "application/n-quads": "N-Quads",
}
"""The syntaxes of RDF as people call them."""

SNIPPET = 160
MOST_UNREAD = 100
_PREFIXES = re.compile(r"^\s*@?(prefix|base)\b.*$", re.IGNORECASE | re.MULTILINE)

_templates = Jinja2Templates(directory=HERE / "templates")


def render(request: Request, caller: Caller | None, template: str, **values: Any) -> HTMLResponse:
    """A page for somebody, or for nobody known, in the frame."""
    frame = {"caller": caller, "pages": PAGES, "unread": _unread(request, caller)}
    kept_nowhere = {"Cache-Control": "no-store"}  # else a page could be come back to after signing out
    return _templates.TemplateResponse(request, template, values | frame, headers=kept_nowhere)


def _unread(request: Request, caller: Caller | None) -> str:
    """How many notifications wait to be read, as far as it is worth counting; nothing, if none do."""
    if caller is None or not caller.may(SUBSCRIBE):
        return ""
    shared: State = request.app.state.shared
    count = shared.store.inbox.unread(caller.name, caller.only, MOST_UNREAD)
    return "" if not count else f"{MOST_UNREAD - 1}+" if count == MOST_UNREAD else str(count)


def _content(cloudevent: Mapping[str, Any]) -> str:
    """An event's data as a text."""
    data = cloudevent.get("data", cloudevent.get("data_base64", ""))
    if isinstance(data, str):
        return data
    try:
        return _laid_out(data)
    except RecursionError:  # nested beyond all reading
        return write_json(data)


def _laid_out(value: Any, margin: str = "\n") -> str:
    """A JSON value over several lines, its numbers as they were read."""
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        rows = (f"{write_json(name)}: {_laid_out(member, inner)}" for name, member in value.items())
        return f"{{{inner}{f',{inner}'.join(rows)}{margin}}}"
    if isinstance(value, list) and value:
        rows = (_laid_out(member, inner) for member in value)
        return f"[{inner}{f',{inner}'.join(rows)}{margin}]"
    return write_json(value)


def _snippet(cloudevent: Mapping[str, Any] | None) -> str:
    """What an event begins with, but for the prefixes."""
    return shortened(_PREFIXES.sub("", _content(cloudevent or {})[:5000]), SNIPPET)


_templates.env.filters |= {"short": short, "content": _content, "snippet": _snippet}
