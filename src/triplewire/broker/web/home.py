"""The first page: what was matched, live; a box to publish and one to subscribe."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from triplewire.broker.access.users import Subscriber
from triplewire.broker.notifying.notifications import shown
from triplewire.broker.operations.health import progress
from triplewire.broker.publishing.letters import shown_letter
from triplewire.broker.state import Shared
from triplewire.broker.web import examples
from triplewire.broker.web.frame import render

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


@router.get("/", response_class=HTMLResponse)
def home(caller: Subscriber, request: Request, shared: Shared) -> HTMLResponse:
    """The page as it stands; its script keeps it up to date from then on."""
    store = shared.store
    newest = store.last_notification()
    notifications = store.newest_notifications(SHOWN, caller.only)
    so_far = progress(store)
    letters = store.dead_letters(after=max(so_far["log"] - 1000, 0), limit=1000, publisher=caller.only)[-SHOWN:]
    return render(
        request,
        caller,
        "home.html",
        notifications=[shown(found) for found in notifications],
        newest=max([newest, *(found.number for found in notifications)]),
        letters=[shown_letter(letter) for letter in reversed(letters)],
        newest_letter=letters[-1].position if letters else so_far["pipeline"],
        progress=so_far,
        formats=[(kind, FORMAT_NAMES.get(kind, kind), text) for kind, text in examples.EVENTS.items()],
        prefixes=examples.PREFIXES,
        patterns=examples.PATTERNS,
    )
