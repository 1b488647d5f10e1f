"""A broker over a real store, served over real HTTP, without the pipeline."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
import uvicorn
import uvicorn.server

from tests.broker.sending import process, receiver
from tests.conftest import new_database, new_store
from triplewire.broker import create_app
from triplewire.broker.http.connections import Connection
from triplewire.store import Store

__all__ = ["broker", "process", "receiver", "store"]

ON_BOTH = {"test_deliveries", "test_events", "test_letters", "test_notifications", "test_subscriptions"}
"""The modules whose tests run on either kind of store, but for long lists of cases."""


# Uvicorn looks ten times a second whether it is to end, whether its connections have, and so on. That it ends in a
# fifth of a second is good enough for anybody but for us, who end it a thousand times.
_impatient = ModuleType("asyncio")
vars(_impatient).update(vars(asyncio), sleep=lambda seconds: asyncio.sleep(seconds / 20))
uvicorn.server.asyncio = _impatient  # type: ignore[attr-defined]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name, cases = metafunc.module.__name__.rpartition(".")[2], metafunc.definition.get_closest_marker("parametrize")
    if "store" in metafunc.fixturenames and name in ON_BOTH and cases is None:
        metafunc.parametrize("store", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with ExitStack() as stack:
        url = new_store(tmp_path)
        if getattr(request, "param", "sqlite") == "postgresql":
            url = stack.enter_context(new_database(request))
        yield stack.enter_context(closing(Store(url)))


@pytest.fixture
def broker(store: Store) -> Iterator[httpx.Client]:
    with served(store) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@contextmanager
def served(store: Store, **settings: Any) -> Iterator[str]:
    """The broker on a free port of this machine; gives its address."""
    app = create_app(store, **settings)
    server = uvicorn.Server(
        uvicorn.Config(app, http=Connection, port=0, log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.002)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
