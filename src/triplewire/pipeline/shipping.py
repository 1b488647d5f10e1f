"""Index folders on their way to the workers.

A worker opens a folder where the driver wrote it. To a machine that does not have it, Spark's own distribution of files
brings it once, packed into one file. The first worker that needs it unpacks it, and all workers there share it.
"""

from __future__ import annotations

import fcntl
import shutil
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from pyspark import SparkContext, SparkFiles

from triplewire.matching.engine.folder import SHARDS
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.shards import ROOTS, Router, shard_folder

PACKED = ".tar"


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


def is_elsewhere(context: SparkContext) -> bool:
    """Whether workers may be on other machines."""
    return not str(context.master).startswith("local")


def _ship(context: SparkContext, folder: Path, name: str, members: Iterable[Path]) -> Shipped:
    if is_elsewhere(context):
        send(context, pack(members, Path(SparkFiles.getRootDirectory()) / f"{name}{PACKED}"))
    return Shipped(folder, name)


def pack(members: Iterable[Path], target: Path) -> Path:
    """Files and folders as one file."""
    with tarfile.open(target, "w") as packed:
        for member in members:
            packed.add(member, member.name)
    return target


def send(context: SparkContext, file: Path) -> None:
    """Have a file brought to all workers that begin a task from now on.

    It is best made where Spark keeps such files on the driver, since Spark copies it there otherwise.
    """
    context.addFile(str(file))


@lru_cache(maxsize=1)
def open_index(shipped: Shipped) -> Index:
    """The index, mapped into memory once for this process; only one at a time."""
    return Index.open(located(shipped))


@lru_cache(maxsize=1)
def open_router(shards: Shards) -> Router:
    return Router(located(shards.router))


def located(shipped: Shipped) -> Path:
    """Where the folder is on this machine."""
    if shipped.folder.exists():
        return shipped.folder
    root = Path(SparkFiles.getRootDirectory())
    return unpacked(root / f"{shipped.name}{PACKED}", root / shipped.name)


def unpacked(package: Path, folder: Path) -> Path:
    """A folder that was packed, unpacked by whoever comes first; the others wait."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with package.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                unfinished = folder.with_name(f"{folder.name}.unfinished")
                shutil.rmtree(unfinished, ignore_errors=True)
                with tarfile.open(package) as packed:
                    packed.extractall(unfinished, filter="data")
                unfinished.rename(folder)
                package.unlink()  # Spark does not ask for it again
    return folder
