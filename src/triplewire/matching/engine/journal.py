"""The journal: what has been added to and removed from an index since its snapshot was written.

A line is a checksum and a change as JSON, ``{"add": …}`` or ``{"remove": id}``. A line that was being written when its
process was killed is not whole, stands at the end, and counts for nothing: nobody was told that it was done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from triplewire.errors import IndexFolderError
from triplewire.subscriptions.pattern import Subscription
from triplewire.subscriptions.serial import from_value, to_json


def added(subscription: Subscription) -> bytes:
    """The line that says that a subscription was added."""
    return _line(b'{"add":%s}' % to_json(subscription).encode())


def removed(id_: str) -> bytes:
    """The line that says that a subscription was removed."""
    return _line(json.dumps({"remove": id_}).encode())


def read_journal(path: Path) -> tuple[list[bytes], int]:
    """A journal's lines, and where the last of them ends."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise IndexFolderError(f"{path} is missing: {error.strerror}") from None
    *lines, rest = text.split(b"\n")
    for number, line in enumerate(lines, 1):
        if line[:9] != b"%08x " % crc32(line[9:]):
            raise IndexFolderError(f"{path} is damaged: line {number} does not fit its checksum")
    return lines, len(text) - len(rest)


def changes(lines: Iterable[bytes]) -> dict[str, Subscription | None]:
    """What the lines of a journal come to: for each id the subscription, or None if it was removed."""
    found: dict[str, Subscription | None] = {}
    for line in lines:
        change = json.loads(line[9:])
        if "add" in change:
            subscription = from_value(change["add"])
            found[subscription.id] = subscription
        else:
            found[change["remove"]] = None
    return found


class Journal:
    """A journal, open for writing. What ``write`` was given survives the process; ``sync`` puts it on the disk."""

    def __init__(self, path: Path, end: int) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.ftruncate(self._file, end)
        self.end = os.lseek(self._file, 0, os.SEEK_END)

    def write(self, lines: Iterable[bytes]) -> None:
        text = b"".join(lines)
        while text:
            done = os.write(self._file, text)
            self.end += done
            text = text[done:]

    def since(self, place: int) -> bytes:
        """What was written from a place on."""
        return self.path.read_bytes()[place : self.end]

    def sync(self) -> None:
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def _line(text: bytes) -> bytes:
    return b"%08x %s\n" % (crc32(text), text)
