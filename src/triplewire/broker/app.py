"""The broker as an ASGI application over a store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import Depends, FastAPI

from triplewire.broker import web
from triplewire.broker.access import accounts, audit, sessions
from triplewire.broker.access.gate import Gate
from triplewire.broker.access.quotas import Allowance, Quotas
from triplewire.broker.access.users import at_work
from triplewire.broker.delivery import deliveries, hub, mailboxes
from triplewire.broker.delivery.addresses import Addresses
from triplewire.broker.delivery.circuits import Circuits
from triplewire.broker.delivery.mailer import Mailer
from triplewire.broker.http.openapi import check_parameters, describe
from triplewire.broker.http.problems import answer_with_problems
from triplewire.broker.http.requests import Heads, Hosts, Requests
from triplewire.broker.model import Models
from triplewire.broker.notifying import feeds, inbox, less, notifications
from triplewire.broker.notifying.feed import Feed
from triplewire.broker.operations import activity, health, metrics
from triplewire.broker.operations.meters import Meters
from triplewire.broker.operations.probe import Probe
from triplewire.broker.operations.rates import Rates
from triplewire.broker.publishing import events, letters, sources
from triplewire.broker.publishing.pressure import Limits, Pressure
from triplewire.broker.publishing.publisher import Publisher
from triplewire.broker.state import State
from triplewire.broker.subscribing import (
    concepts,
    hierarchies,
    ontologies,
    standings,
    subscriptions,
    suggestions,
    synonyms,
)
from triplewire.broker.subscribing.trial import Recent
from triplewire.broker.supervisor import Standing
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
    limits: Limits = Limits(),  # noqa: B008 - it is immutable
    pipeline: Standing | None = None,
    mailer: Mailer | None = None,
    meters: Meters | None = None,
    quotas: Quotas = Quotas(),  # noqa: B008 - it is immutable
    watched_elsewhere: bool = False,
    circuits: Circuits | None = None,
) -> FastAPI:
    """The HTTP API and the web page. The caller opens the store, and closes it when the application is done.

    Requests to other ``hosts`` are refused. ``home`` is the data folder, where the pipeline leaves its report.
    ``addresses`` are those that users may have us call; what is to be delivered is sent by a ``Dispatcher``.
    Questions to mailboxes are sent by the ``mailer``; ``meters`` and ``circuits`` are shared with the dispatcher.
    Nothing is taken in beyond the ``limits``, and of no user more than ``quotas`` says. ``pipeline`` tells how it
    stands with it, if we have it run.
    Health and metrics are open to all, unless they are ``watched_elsewhere``, by an application of their own.
    If any host is fine, others than this machine may reach us, and a token is needed even while there are no users.
    """
    app = FastAPI(title="Triplewire", docs_url=None, redoc_url=None, openapi_url=None)  # those would be open to all
    app.state.shared = State(
        store,
        Publisher(store),
        Feed(store),
        Models(store),
        lifting,
        home,
        addresses or Addresses(),
        Pressure(store, home, limits),
        pipeline or Standing(),
        Gate(store, loopback=tuple(hosts) != ANY_HOST),
        Allowance(store, quotas),
        Recent(store, lifting),
        mailer,
        meters or Meters(),
        circuits or Circuits(),
        Rates(store),
        Probe(store),
    )
    answer_with_problems(app)
    web.signing.answer_with_pages(app)
    told = (events, letters, sources, subscriptions, standings, notifications, inbox, less, deliveries)
    about = (ontologies, concepts, hierarchies, synonyms, suggestions)
    for room in (*told, *about, accounts, audit, activity, *web.PAGES):
        app.include_router(room.router, dependencies=[Depends(at_work), Depends(check_parameters)])
    for room in (sessions, feeds, hub, mailboxes, web.signing):  # whose bodies or addresses tell who may use them
        app.include_router(room.router, dependencies=[Depends(check_parameters)] if room in (sessions, feeds) else [])
    for room in (health, metrics):
        app.include_router(room.router, dependencies=[Depends(at_work)] if watched_elsewhere else [])
    app.get("/openapi.json", include_in_schema=False, dependencies=[Depends(at_work)])(lambda: describe(app))
    app.mount("/static", web.STATIC)
    app.add_middleware(Heads)
    app.add_middleware(Hosts, hosts=hosts)
    app.add_middleware(Requests, headers=SECURITY_HEADERS, meters=app.state.shared.meters)
    return app


def create_watch(app: FastAPI, hosts: Iterable[str]) -> FastAPI:
    """Health and metrics of an application alone, for an address of their own."""
    watch = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    watch.state.shared = app.state.shared
    answer_with_problems(watch)
    for room in (health, metrics):
        watch.include_router(room.router)
    watch.add_middleware(Heads)
    watch.add_middleware(Hosts, hosts=hosts)
    watch.add_middleware(Requests, headers=SECURITY_HEADERS, meters=app.state.shared.meters)
    return watch
