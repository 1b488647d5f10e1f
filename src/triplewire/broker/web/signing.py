"""The page to sign in on, and how pages lead there and tell what went wrong."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import caller_of
from triplewire.broker.http.problems import ProblemError, as_problem
from triplewire.broker.web.frame import PAGES, render

ADDRESS = "/sign-in"

router = APIRouter(include_in_schema=False)


@router.get(ADDRESS, response_class=HTMLResponse)
async def sign_in(request: Request, to: str = "/") -> Response:
    """The page to sign in on; whoever is signed in already, or need not be, is led on."""
    onwards = _own(to)
    if await _signed_in(request) is not None:
        return RedirectResponse(onwards, HTTPStatus.SEE_OTHER)
    return render(request, None, "sign-in.html", onwards=onwards)


async def _signed_in(request: Request) -> Caller | None:
    try:
        return await caller_of(request)
    except ProblemError:
        return None


def _own(address: str) -> str:
    """An address if it is one of our pages', else the first page's: nobody is led elsewhere from here."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    page = "/" + parts.path.lstrip("/").partition("/")[0]
    is_ours = page in dict(PAGES) and not parts.netloc and not parts.path.startswith("//")
    return (
        quote(parts.path, safe="/%") + (f"?{quote(parts.query, safe='=&%')}" if parts.query else "") if is_ours else "/"
    )


def answer_with_pages(app: FastAPI) -> None:
    """Have a browser that asks for a page, and cannot have it, be shown where to sign in or what is wrong."""

    @app.exception_handler(ProblemError)
    def _problem(request: Request, error: ProblemError) -> Response:
        if not _asks_for_page(request):
            return error.response()
        if error.status == HTTPStatus.UNAUTHORIZED:
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{ADDRESS}?to={quote(request.url.path + query, safe='')}", HTTPStatus.SEE_OTHER)
        return _told(request, error.status, error.detail)

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> Response:
        if _asks_for_page(request):
            return _told(request, HTTPStatus(error.status_code), "There is no such page.")
        return as_problem(request, error)


def _asks_for_page(request: Request) -> bool:
    is_page = not request.url.path.startswith(("/v1/", "/static/"))
    return is_page and request.method == "GET" and "text/html" in request.headers.get("accept", "")


def _told(request: Request, status: HTTPStatus, detail: str) -> HTMLResponse:
    answer = render(request, None, "problem.html", title=status.phrase, detail=detail)
    answer.status_code = status
    return answer
