"""Spark's checkpoint of the stream, held against the store, which knows what has been done, whatever Spark noted."""

from __future__ import annotations

import json
import logging
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from triplewire.store import Store

log = logging.getLogger(__name__)

LOCK, FORMAT_FILE, STORE_FILE = ".lock", ".format", ".store"
"""The files in the checkpoint's folder that are ours, not Spark's."""
FORMAT = "2"
"""Counted up whenever a stream could not go on from what one before it left."""


def set_aside_if_unfit(checkpoint: Path, store: Store) -> None:
    """Move away what Spark could not go on from, or would go on from past events that were never matched.

    Nothing is lost: without a checkpoint the stream begins where the store says that the pipeline ended.
    """
    if (reason := _misfit(checkpoint, store)) is not None:
        set_aside(checkpoint, reason)


def set_aside(checkpoint: Path, reason: str) -> None:
    """Move a checkpoint away, and say why."""
    aside = checkpoint.with_name(f"{checkpoint.name}.unfit-{time.strftime('%Y%m%dT%H%M%S')}")
    aside.mkdir()
    for path in checkpoint.iterdir():
        if path.name not in (LOCK, STORE_FILE):
            path.rename(aside / path.name)
    log.warning("the checkpoint %s: moved to %s, matching begins where the store says", reason, aside)


def _misfit(checkpoint: Path, store: Store) -> str | None:
    """What is wrong with a checkpoint, if anything is.

    One that is behind the store is well: the batches between are matched again, and writing them again changes nothing.
    """
    try:
        start, end = _first_batch(checkpoint)
    except (ValueError, TypeError, LookupError, FileNotFoundError):
        return "cannot be read"
    if end and (found := _format(checkpoint)) != FORMAT:
        return f"is of another version of the software (format {found or 'unknown'}, not {FORMAT})"
    if end > (last := store.last_position()):
        return f"goes to position {end}, the log only to {last}"
    if end and start < (cut := store.cut_position()):
        return f"goes back to position {start}, and events are kept from {cut + 1} on"
    if start > (done := store.pipeline_position()):
        return f"has the log done up to position {start}, the store only up to {done}"
    return None


def mark_format(checkpoint: Path) -> None:
    """Note that what is in a checkpoint from now on is ours."""
    checkpoint.mkdir(parents=True, exist_ok=True)
    if _format(checkpoint) != FORMAT:
        (checkpoint / FORMAT_FILE).write_text(FORMAT)


def mark_store(checkpoint: Path, store: str) -> None:
    """Note that a stream was at work here with the store at an address, which may have a password in it."""
    (checkpoint / STORE_FILE).write_text(_digest(store))


def is_marked(checkpoint: Path, store: str) -> bool:
    """Whether a stream was at work here with the store at an address."""
    path = checkpoint / STORE_FILE
    return path.exists() and path.read_text() == _digest(store)


def _digest(store: str) -> str:
    return sha256(store.encode()).hexdigest()


def _format(checkpoint: Path) -> str | None:
    path = checkpoint / FORMAT_FILE
    return path.read_text() if path.exists() else None


def _first_batch(checkpoint: Path) -> tuple[int, int]:
    """The positions between which a stream on this checkpoint does its first batch; equal if there is none to repeat.

    It reads what Spark would, and fails where Spark would.
    """
    if (metadata := checkpoint / "metadata").exists():
        json.loads(metadata.read_text(encoding="utf-8"))
    offsets, commits = checkpoint / "offsets", checkpoint / "commits"
    batch, committed = _newest(offsets), _newest(commits)
    if committed > batch:
        raise ValueError("a batch was committed that was never begun")
    if committed >= 0:
        _read(commits / str(committed))
    end = _position(offsets, batch)
    return (end if committed == batch else _position(offsets, batch - 1)), end


def _newest(folder: Path) -> int:
    """The number of the newest batch; -1 if there is none."""
    return max((int(path.name) for path in folder.glob("[0-9]*") if path.name.isdecimal()), default=-1)


def _position(offsets: Path, batch: int) -> int:
    """Where a batch ended; 0 before the first."""
    return int(_read(offsets / str(batch))[1]["position"]) if batch >= 0 else 0


def _read(path: Path) -> list[Any]:
    """The JSON values in a file of Spark's: a line with the version, then one value a line."""
    version, *lines = path.read_text(encoding="utf-8").splitlines()
    if version != "v1" or not lines:
        raise ValueError(f"{path} is not whole")
    return [json.loads(line) for line in lines]
