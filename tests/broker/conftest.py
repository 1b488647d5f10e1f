"""A broker over a real store, served over real HTTP, without the pipeline."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from tests.broker.sending import process, receiver
from triplewire.broker import create_app
from triplewire.store import Store, store_url

__all__ = ["broker", "process", "receiver", "store"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(store_url(tmp_path))
    yield store
    store.close()


@pytest.fixture
def broker(store: Store) -> Iterator[httpx.Client]:
    with served(store) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@contextmanager
def served(store: Store, **settings: Any) -> Iterator[str]:
    """The broker on a free port of this machine; gives its address."""
    app = create_app(store, **settings)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
