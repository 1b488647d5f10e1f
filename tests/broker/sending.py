"""A dispatcher that is driven by hand, and somebody else's program that receives what it sends."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import pytest

from triplewire.broker.delivery.addresses import Addresses, networks
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.store import Store, Webhook

OLD, NEW = (f"whsec_{b64encode(bytes([n]) * 24).decode()}" for n in (1, 2))
ALLOWED = Addresses(networks(["127.0.0.1"]))


@contextmanager
def running(server: HTTPServer) -> Iterator[None]:
    """Somebody else's server, in a thread, for a while."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Receiver:
    """The foreign process, and what it was told to answer and has received."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.address = f"http://127.0.0.1:{port}"

    def hook(self, path: str = "a", secret: str = OLD) -> Webhook:
        return Webhook(f"{self.address}/{path}", secret)

    def answers(self, *lines: object, path: str = "a") -> None:
        (self.folder / path).write_text("\n".join(map(str, lines)))

    def received(self, path: str = "a") -> list[dict[str, Any]]:
        log = self.folder / "received"
        found = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [one for one in found if one["path"] == f"/{path}"]

    def accepted(self, path: str = "a") -> list[int]:
        return [one["body"]["data"]["sequence"] for one in self.received(path) if one["status"] < 300]


@pytest.fixture(scope="session")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    folder = tmp_path_factory.mktemp("receiver")
    script = Path(__file__).with_name("receiver.py")
    with subprocess.Popen([sys.executable, script, folder, OLD, NEW], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield Receiver(folder, int(running.stdout.readline()))
        running.kill()


@pytest.fixture
def receiver(process: Receiver) -> Receiver:
    for file in process.folder.iterdir():
        file.unlink()
    return process


class Clock:
    """A clock that stands until it is put forward."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, by: timedelta) -> None:
        self.now += by


@asynccontextmanager
async def dispatching(store: Store, clock: Clock) -> AsyncIterator[Dispatcher]:
    dispatcher = Dispatcher(store, ALLOWED, clock=clock, jitter=lambda: 0.5, links="https://triplewire.example")
    try:
        yield dispatcher
    finally:
        await dispatcher.close(patience=0.1)


async def turn(dispatcher: Dispatcher) -> None:
    """Send everything that is due."""
    await dispatcher.look()
    await dispatcher.settled()


def of(store: Store, subscription: str = "s") -> Any:
    return store.deliveries.of([subscription])[subscription]
