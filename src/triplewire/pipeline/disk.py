"""A full disk, told by name whatever it was that found no room there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triplewire.errors import DiskFullError

SIGNS = ("No space left on device", "Disk quota exceeded", "database or disk is full")
"""What is said of a full disk by the system, in Python or Java, and by SQLite."""
LITTLE = 1 << 20
"""A disk with so many bytes left may be the one."""


@contextmanager
def full_disk_named(*folders: Path) -> Iterator[None]:
    """Say which of some folders have no room left, if that is why something failed."""
    try:
        yield
    except Exception as error:
        if not any(sign in str(error) for sign in SIGNS):
            raise
        places = [str(folder) for folder in folders if folder.exists() and shutil.disk_usage(folder).free < LITTLE]
        raise DiskFullError(
            f"the disk is full: there is no room left in {' or '.join(places) or 'a folder for temporary files'}. "
            "What was done is kept; make room, and start the pipeline again: it goes on where it was"
        ) from error
