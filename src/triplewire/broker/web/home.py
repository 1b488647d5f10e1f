"""The first page: what is going on, live, and a tour for those who are new."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from pyoxigraph import NamedNode

from triplewire.broker.access.users import Anybody
from triplewire.broker.notifying.notifications import shown
from triplewire.broker.publishing.letters import shown_letter
from triplewire.broker.state import Shared
from triplewire.broker.web import examples
from triplewire.broker.web.frame import PAGES, render
from triplewire.store.inbox import END, Wanted
from triplewire.store.rights import PUBLISH, SUBSCRIBE

SHOWN = 20
REFUSED = 5

WAYS = (
    ("/subscribe", "Subscribe", "Say what you want to be told of, in a few words or as a pattern."),
    ("/publish", "Publish", "Fill in a form, or drop an event in any format."),
    ("/subscriptions", "Subscriptions", "See how yours fare; pause, edit, deliver again."),
    ("/ontology", "Ontology", "Browse what is a kind of what, and decide on new words."),
    ("/sources", "Sources", "Have feeds of other sites read and published."),
)
"""Pages to go on to, each with its title and what is done there."""

router = APIRouter(include_in_schema=False)


@router.get("/", response_class=HTMLResponse)
def home(caller: Anybody, request: Request, shared: Shared) -> HTMLResponse:
    """The page as it stands; its script keeps it up to date from then on."""
    store = shared.store
    now = shared.rates.looks()[-1]
    hears, speaks = caller.may(SUBSCRIBE), caller.may(PUBLISH)
    notifications = store.inbox.newest(Wanted(caller.only), END, SHOWN)[0] if hears else []
    letters = store.dead_letters(limit=REFUSED, publisher=caller.only, newest=True) if speaks else []
    knows_notebooks = NamedNode(f"{examples.AUCTION}NotebookPC") in shared.models.current().classes
    return render(
        request,
        caller,
        "home.html",
        now=now,
        ways=[way for way in WAYS if way[0] in dict(PAGES)],
        hears=hears,
        speaks=speaks,
        notifications=[shown(found) for found in notifications],
        newest=max([now.notifications, *(found.number for found in notifications)]),
        letters=[shown_letter(letter) for letter in letters],
        newest_letter=letters[0].position if letters else now.pipeline,
        pattern=examples.PATTERNS["ops"],
        prefixes=examples.PREFIXES,
        offer=examples.EVENTS["text/turtle"] if knows_notebooks else examples.PLAIN,
        is_notebook=knows_notebooks,
    )
