"""Where this installation keeps what is made once: small programs that Spark starts, and the archive of classes."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


def folder_for_caches() -> Path:
    """The first place that is ours to write: the virtual environment, the user's caches, a temporary folder."""
    for folder in _cache_folders():
        if _is_ours(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="triplewire-"))


def keep_script(name: str, script: str) -> Path:
    """A program of this name, in a folder ``bin``.

    Its content decides where, and it appears there in one step, so any number of processes may make it.
    """
    command = folder_for_caches() / f"{name}-{digest(script)}" / "bin" / name
    if not command.exists():
        command.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=command.parent, delete=False) as unfinished:
            unfinished.write(script)
        Path(unfinished.name).chmod(0o755)
        Path(unfinished.name).replace(command)
    return command


def digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:12]


def _cache_folders() -> Iterator[Path]:
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix, "cache", "triplewire")
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (Path's may raise)
    yield Path(caches, "triplewire")
    yield Path(tempfile.gettempdir(), f"triplewire-{os.getuid()}")


def _is_ours(folder: Path) -> bool:
    """Make a folder if need be; is it this user's own, and writable? We run what lies in it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK)
    except OSError:
        return False
