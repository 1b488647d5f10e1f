"""Which processes there are."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path


def descendants(pid: int) -> set[int]:
    """The processes that a process started, and those that they started."""
    parents = {int(entry.name): parent for entry in Path("/proc").glob("[0-9]*") if (parent := _status(entry)[1])}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def still_there(pids: set[int], patience: float = 30) -> set[int]:
    """Those that have not ended after a while. One that has ended and whose parent has not noticed yet has ended."""
    deadline = time.monotonic() + patience
    while True:
        alive = {pid for pid in pids if _status(Path(f"/proc/{pid}"))[0] not in ("", "Z", "X")}
        if not alive or time.monotonic() > deadline:
            return alive
        time.sleep(0.1)


def name(pid: int) -> str:
    """A process's name; nothing if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def command_line(pid: int) -> bytes:
    """What a process was started as; nothing if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _status(entry: Path) -> tuple[str, int]:
    """A process's state and its parent."""
    with contextlib.suppress(OSError):
        state, parent, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
        return state, int(parent)
    return "", 0
