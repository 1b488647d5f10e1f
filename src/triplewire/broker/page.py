"""The web page: what was matched, live; a box to publish and one to subscribe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates

from triplewire.broker import examples
from triplewire.broker.health import progress
from triplewire.broker.notifications import shown, shown_letter
from triplewire.broker.state import Shared
from triplewire.broker.users import Subscriber
from triplewire.broker.words import short
from triplewire.lift.documents import write_json

HERE = Path(__file__).parent
STATIC = StaticFiles(directory=HERE / "static")
SHOWN = 50

FORMAT_NAMES = {
    "text/turtle": "Turtle",
    "application/ld+json": "JSON-LD",
    "application/rdf+xml": "RDF/XML",
    "application/n-triples": "N-Triples",
    "application/trig": "TriG",
    "application/n-quads": "N-Quads",
}

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(directory=HERE / "templates")


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


templates.env.filters |= {"short": short, "content": _content}


@router.get("/", response_class=HTMLResponse)
def home(caller: Subscriber, request: Request, shared: Shared) -> HTMLResponse:
    """The page as it stands; its script keeps it up to date from then on."""
    store = shared.store
    newest = store.last_notification()
    notifications = store.newest_notifications(SHOWN, caller.only)
    so_far = progress(store)
    letters = store.dead_letters(after=max(so_far["log"] - 1000, 0), limit=1000, publisher=caller.only)[-SHOWN:]
    context = {
        "notifications": [shown(found) for found in notifications],
        "newest": max([newest, *(found.number for found in notifications)]),
        "letters": [shown_letter(letter) for letter in reversed(letters)],
        "newest_letter": letters[-1].position if letters else so_far["pipeline"],
        "progress": so_far,
        "formats": [(kind, FORMAT_NAMES.get(kind, kind), text) for kind, text in examples.EVENTS.items()],
        "prefixes": examples.PREFIXES,
        "patterns": examples.PATTERNS,
    }
    return templates.TemplateResponse(request, "home.html", context)
