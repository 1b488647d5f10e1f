"""Folders as single files, as which they travel: one appears as a whole or not at all."""

from __future__ import annotations

import fcntl
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path

PACKED = ".packed"
"""What the names of packages end with. It is not ``.tar``, which Spark unpacks into the folder where it finds it."""
BETWEEN = "!"
"""What stands for the slash in the names of packages: there are no folders where they travel."""


def pack(members: Iterable[Path], target: Path) -> None:
    """Write files and folders as one file."""
    with tarfile.open(target, "w") as packed:
        for member in members:
            packed.add(member, member.name)


def unpack(package: Path, folder: Path) -> bool:
    """Make a folder of what was packed, and remove the package; whether it was we who did it.

    Of several processes the first does it, and the others wait. An empty package is of what is not needed any more.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with package.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not package.exists():
            return False
        needed = package.stat().st_size > 0
        if needed and not folder.exists():
            unfinished = folder.with_name(f"{folder.name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            with tarfile.open(package) as packed:
                packed.extractall(unfinished, filter="data")
            unfinished.rename(folder)
        package.unlink()
        return needed
