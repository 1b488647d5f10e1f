"""The page of dead letters: what was refused and why, to be mended or dismissed."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from triplewire.broker.access.users import Publisher
from triplewire.broker.web.frame import render

router = APIRouter(include_in_schema=False)


@router.get("/dead-letters", response_class=HTMLResponse)
def dead_letters(caller: Publisher, request: Request) -> HTMLResponse:
    """The page; its script reads the letters, a page at a time."""
    return render(request, caller, "dead_letters.html")
