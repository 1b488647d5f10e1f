"""An index's folder: immutable versions, the journal of each, and ``CURRENT``, which names the version that counts.

::

    CURRENT                 v000002 and its checksum
    v000002/                header.json, tables.bin, patterns.bin, records.bin, model.bin
    v000002.journal         what has changed since
    LOCK                    held by the one process that writes

A new version is written beside the others under another name, put on the disk, given its own name and journal, and
then named by ``CURRENT``, which is replaced in one step. Whoever is killed in between leaves the version before.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.serial import from_json, to_json
from triplewire.errors import IndexFolderError, UsageError
from triplewire.matching.engine.encoded import EncodedPatterns
from triplewire.matching.engine.files import ArrayFolder, sync_folder, write_arrays
from triplewire.matching.engine.journal import Journal, read_journal
from triplewire.matching.engine.records import Written
from triplewire.matching.engine.segment import Segment
from triplewire.matching.engine.tables import Tables
from triplewire.matching.engine.texts import Bytes, Texts

Result = TypeVar("Result")

CURRENT = "CURRENT"
SHARDS = "SHARDS"
"""In a folder of several indexes, the file that tells which."""
_NAME = re.compile(r"v[0-9]{6,}")
_UNFINISHED = "unfinished-"
_KEPT = 2
"""How many versions are kept: one may be open elsewhere, named by a ``CURRENT`` that has just been replaced."""


@dataclass(frozen=True)
class _Text:
    text: Bytes


class Version:
    """One version of an index, open for reading; its parts are read when they are asked for."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.arrays = ArrayFolder.open(folder / name)
        self.lines, self.journal_end = read_journal(self._journal)

    @property
    def _journal(self) -> Path:
        return self.folder / f"{self.name}.journal"

    def more(self) -> list[bytes]:
        """The lines that have come to the journal since it was read, or since this was last asked."""
        lines, self.journal_end = read_journal(self._journal, self.journal_end)
        return lines

    @property
    def model_hash(self) -> str:
        return str(self.arrays.header["model"])

    def model(self) -> ConceptModel:
        return from_json(self.arrays.value("model", _Text).text.tobytes())

    def segment(self, model: ConceptModel) -> Segment:
        """The version's subscriptions, without what its journal says."""
        texts: list[Texts] = []

        def records() -> Texts:
            if not texts:
                texts.append(self.arrays.value("records", Texts, checked=False))
            return texts[0]

        return Segment(
            self.arrays.value("tables", Tables),
            lambda: self.arrays.value("patterns", EncodedPatterns),
            Written(records, str(self.arrays.path / "records.bin")),
            model,
        )


def is_sharded(folder: Path) -> bool:
    return (folder / SHARDS).exists()


def open_current(folder: Path) -> Version:
    """The version that counts. If it is replaced while it is being opened, the one that replaced it."""
    return while_current(folder, partial(Version, folder))


def while_current(folder: Path, use: Callable[[str], Result]) -> Result:
    """Use the version that counts, by name; again if that fails because another has replaced it meanwhile."""
    name = current_name(folder)
    while True:
        try:
            return use(name)
        except IndexFolderError:
            now = current_name(folder)
            if now == name:
                raise
            name = now


def current_name(folder: Path) -> str:
    try:
        text = (folder / CURRENT).read_bytes()
    except OSError as error:
        raise IndexFolderError(f"{folder} holds no index: {CURRENT}: {error.strerror}") from None
    name = text[:-10].decode("ascii", "replace")
    if not _NAME.fullmatch(name) or text != _current_text(name):
        raise IndexFolderError(f"{folder / CURRENT} is damaged: it names no version")
    return name


def _current_text(name: str) -> bytes:
    return b"%s %08x\n" % (name.encode(), crc32(name.encode()))


class Writer:
    """The one process that may change a folder. ``close`` lets others."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.journal: Journal | None = None
        self._lock = os.open(folder / "LOCK", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise UsageError(f"{folder} is being written by another process, or another index of this one") from None
        self.clean()

    def go_on(self, version: Version) -> None:
        """Write changes of a version from where its journal was read to."""
        path, end = self.folder / f"{version.name}.journal", version.journal_end
        if current_name(self.folder) != version.name or read_journal(path, end)[0]:
            raise UsageError(f"{self.folder} has changed since it was opened: sync first, or open it again")
        self.journal = Journal(path, end)

    def write_version(self, segment: Segment, model: ConceptModel) -> Path:
        """Write a version under a name that does not count yet."""
        unfinished = self.folder / f"{_UNFINISHED}{os.getpid()}"
        shutil.rmtree(unfinished, ignore_errors=True)
        text = np.frombuffer(to_json(model).encode(), np.uint8)
        values = {
            "tables": segment.tables,
            "patterns": segment.patterns(),
            "records": segment.records.texts(),
            "model": _Text(text),
        }
        about: dict[str, Any] = {"model": model.content_hash, "subscriptions": len(segment)}
        write_arrays(unfinished, values, about)
        return unfinished

    def publish(self, unfinished: Path, changes: bytes) -> Version:
        """Make a version that was written the one that counts, with the changes that have come since."""
        name = self._next_name()
        (self.folder / f"{name}.journal").write_bytes(b"")
        journal = Journal(self.folder / f"{name}.journal", 0)
        journal.write(changes)
        journal.sync()
        unfinished.rename(self.folder / name)
        sync_folder(self.folder)
        replacement = self.folder / f"{_UNFINISHED}{CURRENT}"
        with replacement.open("wb") as file:
            file.write(_current_text(name))
            file.flush()
            os.fsync(file.fileno())
        replacement.replace(self.folder / CURRENT)
        if self.journal:
            self.journal.close()
        self.journal = journal  # from here on the version counts, whatever goes wrong below
        sync_folder(self.folder)
        self.clean()
        return Version(self.folder, name)

    def clean(self) -> None:
        """Remove what nobody finished, and all but the latest versions."""
        names = sorted((p.name for p in self.folder.iterdir() if _NAME.fullmatch(p.name)), key=lambda n: int(n[1:]))
        current = current_name(self.folder) if (self.folder / CURRENT).exists() else None
        kept = [name for name in names if current and int(name[1:]) <= int(current[1:])][-_KEPT:]
        for path in self.folder.iterdir():
            name = path.name.removesuffix(".journal")
            if path.name.startswith(_UNFINISHED) or (_NAME.fullmatch(name) and name not in kept):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self) -> None:
        if self.journal:
            self.journal.sync()
            self.journal.close()
        os.close(self._lock)

    def _next_name(self) -> str:
        numbers = [int(path.name[1:]) for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        return f"v{max(numbers, default=0) + 1:06}"
