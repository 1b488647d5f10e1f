"""One running `triplewire serve` for all tests of the web page: real broker, real pipeline, the auction, users.

The first process of a test run that asks for it starts it, and the last one that has asked ends it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.broker.clients import AUCTION
from tests.processes import descendants, still_there
from triplewire.store import Store, store_url

PATIENCE = 240


@dataclass(frozen=True)
class World:
    """Where the broker is, its process, an administrator's token, and the data folder."""

    address: str
    pid: int
    token: str
    home: str


@contextmanager
def shared_world(folder: Path) -> Iterator[World]:
    """The world of a folder that the processes of a test run share."""
    folder.mkdir(exist_ok=True)
    users = folder / "users"
    users.mkdir(exist_ok=True)
    own = users / str(os.getpid())
    with _locked(folder):
        world = _running(folder) or _start(folder)
        own.touch()
    try:
        yield world
    finally:
        with _locked(folder):
            own.unlink()
            if not any(Path(f"/proc/{user.name}").exists() for user in users.iterdir()):
                end(world)
                (folder / "world.json").unlink()


@contextmanager
def opened(world: World) -> Iterator[Store]:
    """The store, for what only its owner can do."""
    with closing(Store(store_url(Path(world.home)))) as store:
        yield store


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _running(folder: Path) -> World | None:
    told = folder / "world.json"
    return World(**json.loads(told.read_text())) if told.exists() else None


def _start(folder: Path) -> World:
    home = folder / f"home-{sum(1 for _ in folder.glob('home-*'))}"
    home.mkdir()
    with closing(Store(store_url(home))) as store:
        store.users.add("root", ["admin"])
        token = store.users.issue("root")[1]
    world = start(home, token)
    (folder / "world.json").write_text(json.dumps(asdict(world)))
    return world


def start(home: Path, token: str = "") -> World:
    """Have a broker run in a folder, with the auction; it may call this machine."""
    options = ["--home", str(home), "--port", "0", "--sample", str(AUCTION), "--allow-network", "127.0.0.0/8"]
    output = home / "output"
    with output.open("w") as file:
        command = [sys.executable, "-m", "triplewire", "serve", *options]
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
    return World(_address(process, output), process.pid, token, str(home))


def _address(process: subprocess.Popen[bytes], output: Path) -> str:
    """Where it says that it is."""
    deadline = time.monotonic() + PATIENCE
    while not (found := re.search(r"Triplewire is at (http://127\.0\.0\.1:\d+)/", output.read_text())):
        assert process.poll() is None, f"it ended:\n{output.read_text()}"
        assert time.monotonic() < deadline, f"it did not start:\n{output.read_text()}"
        time.sleep(0.05)
    return found[1]


def end(world: World) -> None:
    started = {world.pid} | descendants(world.pid)
    os.kill(world.pid, signal.SIGTERM)
    for pid in still_there(started):
        os.kill(pid, signal.SIGKILL)
