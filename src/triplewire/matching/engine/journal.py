"""The journal: what has been added to and removed from an index since its snapshot was written.

A line is a checksum and a change as JSON, ``{"add": [subscription, …]}`` or ``{"remove": id}``. What was added at once
is one line, so that it is there at once. A line that is being written, or was when its process was killed, is not
whole, stands at the end, and counts for nothing: nobody was told that it was done.
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


def added(subscriptions: Iterable[Subscription]) -> bytes:
    """The line that says that subscriptions were added."""
    return _line(b'{"add":[%s]}' % ",".join(map(to_json, subscriptions)).encode())


def removed(id_: str) -> bytes:
    """The line that says that a subscription was removed."""
    return _line(json.dumps({"remove": id_}).encode())


def read_journal(path: Path, start: int = 0) -> tuple[list[bytes], int]:
    """A journal's lines from a place on, and where the last of them ends."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            text = file.read()
    except OSError as error:
        raise IndexFolderError(f"{path} is missing: {error.strerror}") from None
    *lines, rest = text.split(b"\n")
    for line in lines:
        if line[:9] != b"%08x " % crc32(line[9:]):
            place = start + text.index(line)
            raise IndexFolderError(f"{path} is damaged: the line at byte {place} does not fit its checksum")
    return lines, start + len(text) - len(rest)


def changes(lines: Iterable[bytes]) -> dict[str, Subscription | None]:
    """What the lines of a journal come to: for each id the subscription, or None if it was removed."""
    found: dict[str, Subscription | None] = {}
    for line in lines:
        change = json.loads(line[9:])
        if "add" in change:
            found.update((one.id, one) for one in map(from_value, change["add"]))
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

    def write(self, line: bytes) -> None:
        """Write a line, or nothing: half of one in the middle of a journal would spoil all that comes after it."""
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError:
            os.ftruncate(self._file, self.end)
            os.lseek(self._file, self.end, os.SEEK_SET)
            raise
        self.end = os.lseek(self._file, 0, os.SEEK_CUR)

    def sync(self) -> None:
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def _line(text: bytes) -> bytes:
    return b"%08x %s\n" % (crc32(text), text)
