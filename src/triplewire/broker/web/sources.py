"""The page of sources: feeds that are read, and how each of them fares."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from triplewire.broker.access.users import Publisher
from triplewire.broker.web.frame import render

router = APIRouter(include_in_schema=False)


@router.get("/sources", response_class=HTMLResponse)
def sources(caller: Publisher, request: Request) -> HTMLResponse:
    """The page; its script reads the sources, and keeps what it shows of them up to date."""
    return render(request, caller, "sources.html")
