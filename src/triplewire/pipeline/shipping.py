"""Index folders on their way to the workers.

A worker opens a folder where the driver wrote it. To a machine that does not have it, Spark's own distribution of files
brings it once, packed into one file. The first worker that needs it unpacks it, and all workers there share it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from pyspark import SparkContext, SparkFiles

from triplewire.matching.engine.folder import SHARDS
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.shards import ROOTS, Router, shard_folder
from triplewire.pipeline.packing import BETWEEN, PACKED, pack, unpack
from triplewire.pipeline.snapshots import Snapshots

RECEIVED = "received"
"""The folder of snapshots on a machine that they were sent to."""


@dataclass(frozen=True)
class Shipped:
    """A folder, and the name under which it is distributed."""

    folder: Path
    name: str


@dataclass(frozen=True)
class Shards:
    """An index in shards: what tells where an event goes to, and the shards by number."""

    router: Shipped
    shards: tuple[Shipped, ...]


def ship(context: SparkContext, folder: Path) -> Shipped:
    """Have a folder brought to all workers that begin a task from now on, unless all are on this machine."""
    return _ship(context, folder.absolute(), uuid4().hex, folder.iterdir())


def ship_shards(context: SparkContext, folder: Path) -> Shards:
    """Have an index in shards brought to the workers. Each unpacks those that it is at."""
    key, folder = uuid4().hex, folder.absolute()
    router = _ship(context, folder, key, (folder / SHARDS, folder / ROOTS))
    parts = [shard_folder(folder, number) for number in range(Router(folder).shards)]
    return Shards(router, tuple(_ship(context, part, f"{key}-{part.name}", part.iterdir()) for part in parts))


class Sender:
    """Sends the newest snapshot of a stream to workers on other machines, if there may be any.

    Spark never forgets a file that it was given, and brings all of them to a machine that joins. So one that is not
    the newest any more is emptied.
    """

    def __init__(self, context: SparkContext, snapshots: Snapshots) -> None:
        self._context = context
        self._snapshots = snapshots
        self._sent: Path | None = None

    def look(self) -> None:
        """Send what has come since."""
        if not is_elsewhere(self._context) or (newest := self._snapshots.newest()) is None:
            return
        folder = self._snapshots.path(newest)
        package = _package(f"{folder.parent.name}{BETWEEN}{folder.name}")
        if package != self._sent:
            _send(self._context, folder.iterdir(), package)
            if self._sent is not None:
                self._sent.unlink()  # and not cut short, as it may just be being read
                self._sent.touch()
            self._sent = package


def delivered(folder: Path) -> tuple[Path, list[Path]]:
    """Where a stream's snapshots are on this machine, and the packages of them that have been sent here."""
    if folder.exists():
        return folder, []
    root = Path(SparkFiles.getRootDirectory())
    return root / RECEIVED, list(root.glob(f"{folder.name}{BETWEEN}*{PACKED}"))


def is_elsewhere(context: SparkContext) -> bool:
    """Whether workers may be on other machines."""
    return not str(context.master).startswith("local")


@lru_cache(maxsize=1)
def open_index(shipped: Shipped) -> Index:
    """The index, mapped into memory once for this process; only one at a time."""
    return Index.open(_located(shipped))


@lru_cache(maxsize=1)
def open_router(shards: Shards) -> Router:
    return Router(_located(shards.router))


def _located(shipped: Shipped) -> Path:
    """Where the folder is on this machine."""
    if shipped.folder.exists():
        return shipped.folder
    package = _package(shipped.name)
    folder = package.with_suffix("")
    if not folder.exists():
        unpack(package, folder)
    return folder


def _ship(context: SparkContext, folder: Path, name: str, members: Iterable[Path]) -> Shipped:
    if is_elsewhere(context):
        _send(context, members, _package(name))
    return Shipped(folder, name)


def _send(context: SparkContext, members: Iterable[Path], package: Path) -> None:
    pack(members, package)
    context.addFile(str(package))


def _package(name: str) -> Path:
    """A package where Spark keeps such files, on the driver, which saves it a copy, and on the workers."""
    return Path(SparkFiles.getRootDirectory()) / f"{name}{PACKED}"
