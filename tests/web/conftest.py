"""The web page in a real browser, before the real broker and pipeline.

A test takes ``page``, a browser's page signed in as ``user``, who is new for each file of tests; what was published
and subscribed by others is not seen. What belongs to everybody (the ontology, dead letters of others) is shared with
all files: use words of your own there. Call ``check(page)`` once everything is shown.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, expect, sync_playwright

from tests.web.world import World, shared_world
from triplewire.broker.access.users import COOKIE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
AXE = AXE_FILE_PATH.read_text(encoding="utf-8")
SERIOUS = ("serious", "critical")
PATIENCE = 240_000
"""Milliseconds: the pipeline may only be starting, on a busy machine."""

expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True)
class User:
    """Somebody with a token, and a client that sends it."""

    name: str
    token: str
    client: httpx.Client


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the browser is. Nothing else is started where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: install the package chromium to run the browser's tests")
    return CHROMIUM


@pytest.fixture(scope="session")
def world(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The running broker, one for the whole test run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with shared_world(folder / "web") as world:
        yield world


@pytest.fixture(scope="session")
def admin(world: World) -> Iterator[User]:
    """Who may do everything, and sees the sample's subscriptions and notifications."""
    with _client(world, world.token) as client:
        yield User("root", world.token, client)


@pytest.fixture(scope="module")
def user(request: pytest.FixtureRequest, world: World, admin: User) -> Iterator[User]:
    """Somebody new, for one file of tests; they may publish, subscribe and change the ontology."""
    name = request.module.__name__.rpartition(".")[2]
    found = admin.client.post("/v1/users", json={"name": name, "scopes": ["publish", "subscribe", "ontology"]})
    assert found.status_code in (201, 409), found.text
    made = admin.client.post("/v1/tokens", json={"user": name})
    token = made.raise_for_status().json()["token"]
    with _client(world, token) as client:
        yield User(name, token, client)


def _client(world: World, token: str) -> httpx.Client:
    return httpx.Client(base_url=world.address, timeout=60, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser for a file of tests. While it is there, its client's event loop is in the way of any other."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def allowed() -> set[int]:
    """The statuses of 400 and more that a test means to provoke: ``allowed.add(422)``."""
    return set()


@pytest.fixture
def page(browser: Browser, world: World, user: User, allowed: set[int]) -> Iterator[Page]:
    """A page of somebody who is signed in: ``page.goto("/")``. In the end nothing has gone wrong in it."""
    with watched(browser, world, allowed, user) as context:
        yield context.new_page()


@contextmanager
def watched(browser: Browser, world: World, allowed: set[int], user: User | None) -> Iterator[BrowserContext]:
    """A browser of somebody's own, of a user or of nobody known, that no page leaves and complains in."""
    wrong: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        refused = "Failed to load resource" in message.text  # which is looked at below
        if message.type in ("error", "warning") and not refused:
            wrong.append(f"console: {message.text}")

    def on_response(response: Response) -> None:
        if response.status >= 400 and response.status not in allowed:
            wrong.append(f"{response.request.method} {response.url}: {response.status}")

    def on_request(request: Any) -> None:
        if not request.url.startswith((f"{world.address}/", "data:", "blob:")):
            wrong.append(f"it left for {request.url}")

    def on_failure(request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # as when a page with a stream is left
            wrong.append(f"{request.method} {request.url}: {request.failure}")

    context = browser.new_context(base_url=world.address, viewport=DESK, reduced_motion="reduce")  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    if user is not None:
        context.add_cookies([{"name": COOKIE, "value": user.token, "url": world.address, "sameSite": "Strict"}])
    context.on("console", on_console)
    context.on("weberror", lambda error: wrong.append(f"script: {error.error}"))
    context.on("response", on_response)
    context.on("request", on_request)
    context.on("requestfailed", on_failure)
    try:
        yield context
    finally:
        context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def check() -> Callable[[Page], None]:
    """Have a page be read by axe, on a desk in light and on a phone in the dark, where it must not be wider."""

    def checked(page: Page) -> None:
        _check_by_axe(page)
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.emulate_media(color_scheme="dark")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], f"the page is {width} wide on a phone: {page.evaluate(WIDEST)}"
        _check_by_axe(page)
        page.set_viewport_size(DESK)  # type: ignore[arg-type]
        page.emulate_media(color_scheme="light")

    return checked


WIDEST = """
[...document.querySelectorAll("body *")].filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => `${one.tagName}#${one.id}.${one.className}`).slice(0, 10).join(", ")
"""


def _check_by_axe(page: Page) -> None:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    told = [
        f"{one['id']} ({one['impact']}): {one['help']}: {[node['html'][:200] for node in one['nodes'][:5]]}"
        for one in found
        if one["impact"] in SERIOUS
    ]
    assert told == []
