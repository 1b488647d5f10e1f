"""The web page: what was matched, live; a box to publish and one to subscribe."""

from __future__ import annotations

import json
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
from triplewire.broker.words import short

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
    return data if isinstance(data, str) else json.dumps(data, indent=2, ensure_ascii=False)


templates.env.filters |= {"short": short, "content": _content}


@router.get("/", response_class=HTMLResponse)
def home(request: Request, shared: Shared) -> HTMLResponse:
    """The page as it stands; its script keeps it up to date from then on."""
    store = shared.store
    newest = store.last_notification()
    notifications = store.notifications(after=max(newest - SHOWN, 0))
    so_far = progress(store)
    letters = store.dead_letters(after=max(so_far["log"] - 1000, 0), limit=1000)[-SHOWN:]
    context = {
        "notifications": [shown(found) for found in reversed(notifications)],
        "newest": notifications[-1].number if notifications else newest,
        "letters": [shown_letter(letter) for letter in reversed(letters)],
        "newest_letter": letters[-1].position if letters else so_far["pipeline"],
        "progress": so_far,
        "formats": [(kind, FORMAT_NAMES.get(kind, kind), text) for kind, text in examples.EVENTS.items()],
        "prefixes": examples.PREFIXES,
        "patterns": examples.PATTERNS,
    }
    return templates.TemplateResponse(request, "home.html", context)
