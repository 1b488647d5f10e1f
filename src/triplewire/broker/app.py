"""The broker as an ASGI application over a store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplewire.broker import (
    concepts,
    deliveries,
    events,
    feeds,
    health,
    metrics,
    notifications,
    ontologies,
    page,
    subscriptions,
    suggestions,
)
from triplewire.broker.addresses import Addresses
from triplewire.broker.problems import answer_with_problems
from triplewire.broker.state import State
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.store import Store

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""What a broker on the loopback address is called. A site that has its own name lead here is not let in."""
ANY_HOST = ("*",)
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def create_app(
    store: Store,
    lifting: Lifting = DEFAULT,
    hosts: Iterable[str] = LOOPBACK,
    home: Path | None = None,
    addresses: Addresses | None = None,
) -> FastAPI:
    """The HTTP API and the web page. The caller opens the store, and closes it when the application is done.

    Requests to other ``hosts`` are refused. ``home`` is the data folder, where the pipeline leaves its report.
    ``addresses`` are those that users may have us call; what is to be delivered is sent by a ``Dispatcher``.
    """
    app = FastAPI(title="Triplewire", docs_url=None, redoc_url=None)  # their pages would load scripts from elsewhere
    app.state.shared = State.over(store, lifting, home, addresses or Addresses())
    answer_with_problems(app)
    told = (events, subscriptions, notifications, deliveries, feeds)
    for room in (*told, ontologies, concepts, suggestions, health, metrics, page):
        app.include_router(room.router)
    app.mount("/static", page.STATIC)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.add_middleware(SecurityHeaders)
    return app


class SecurityHeaders:
    """Adds the security headers to every answer, streams included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)
