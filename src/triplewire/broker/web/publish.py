"""The page to publish on: a form for publications, and a box for documents in any format, looked at before they go."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from triplewire.broker.access.users import Publisher
from triplewire.broker.publishing.events import BATCH, DEFAULTS, STRUCTURED
from triplewire.broker.publishing.letters import letter_at, shown_letter
from triplewire.broker.state import Shared
from triplewire.broker.web.frame import SYNTAXES, render
from triplewire.lift.documents import write_json
from triplewire.store.rights import SUBSCRIBE

FORMATS = SYNTAXES | {
    "application/json": "JSON",
    "application/xml": "XML",
    "text/csv": "CSV, an event a row",
    "application/rss+xml": "RSS, an event an entry",
    "application/atom+xml": "Atom, an event an entry",
    "application/pdf": "PDF, its metadata",
    STRUCTURED: "CloudEvent",
    BATCH: "CloudEvents, a batch",
    "application/x-ndjson": "CloudEvents, one a line",
}
"""What can be dropped, by media type; the last one is sent as a batch."""
OF_DATA = ("data", "data_base64", "datacontenttype", "specversion", "time")

router = APIRouter(include_in_schema=False)


@router.get("/publish", response_class=HTMLResponse)
def publish(
    caller: Publisher, request: Request, shared: Shared, mends: Annotated[int | None, Query(ge=0, lt=1 << 63)] = None
) -> HTMLResponse:
    """The page, empty, or with the dead letter in it that is to be mended."""
    letter = None if mends is None else shown_letter(letter_at(mends, caller, shared))
    event: dict[str, Any] = (letter or {}).get("cloudevent") or {}
    attributes = {name: value for name, value in event.items() if name not in OF_DATA and isinstance(value, str)}
    return render(
        request,
        caller,
        "publish.html",
        formats=FORMATS,
        letter=letter,
        event=event,
        attributes=write_json(attributes),
        defaults=DEFAULTS,
        may_subscribe=caller.may(SUBSCRIBE),
    )
