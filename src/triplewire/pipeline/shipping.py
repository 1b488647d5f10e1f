"""Index folders on their way to the workers.

A worker opens the folder where the driver wrote it. On a machine that does not have it, Spark's own distribution of
files brings a copy, once, and the workers there share it.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from pyspark import SparkContext, SparkFiles

from triplewire.matching.engine.index import Index

BETWEEN = "!"
"""What stands for the slash in the names under which files are distributed: Spark knows no folders there."""


@dataclass(frozen=True)
class Shipped:
    """An index folder, and what the names of its distributed files begin with."""

    folder: Path
    key: str


def ship(context: SparkContext, folder: Path) -> Shipped:
    """Have a folder's files brought to all workers that begin a task from now on, unless all are on this machine."""
    shipped = Shipped(folder.absolute(), uuid4().hex)
    if not str(context.master).startswith("local"):
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        links = Path(tempfile.mkdtemp(prefix="shipped-", dir=folder))  # inside, to be gone with it
        for path in files:
            link = links / BETWEEN.join((shipped.key, *path.relative_to(folder).parts))
            os.link(path, link)
            context.addFile(str(link))
    return shipped


@lru_cache(maxsize=1)
def open_index(shipped: Shipped) -> Index:
    """The index, mapped into memory once for this process."""
    return Index.open(shipped.folder if shipped.folder.exists() else _fetched(shipped.key))


def _fetched(key: str) -> Path:
    """The folder, put together from the files that Spark has brought."""
    root = Path(SparkFiles.getRootDirectory())
    folder = root / key
    if not folder.exists():
        unfinished = Path(tempfile.mkdtemp(dir=root))
        for path in root.glob(f"{key}{BETWEEN}*"):
            target = unfinished.joinpath(*path.name.split(BETWEEN)[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, target)
        with suppress(OSError):  # another worker was quicker
            unfinished.rename(folder)
    return folder
