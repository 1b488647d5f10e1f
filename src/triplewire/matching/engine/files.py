"""Arrays in files: written once, checksummed, and mapped into memory as they are.

A folder of arrays has a ``header.json``, which tells each file's size and checksum and where in it each array lies, and
ends with a checksum of its own. The header and the sizes are checked when the folder is opened, which is fast whatever
the size. A file's content is checked before its first use: at once if it is small, later if it is large. All files are
mapped when the folder is opened, so that it may be removed while it is in use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from triplewire.errors import IndexFolderError

FORMAT = 5
"""Counted up whenever what is written can no longer be read by what was released before, or the other way round."""
KIND = "triplewire index"
HEADER = "header.json"
SMALL = 4 << 20
"""Files up to this size are checked when the folder is opened."""

_ALIGNMENT = 64
_BLOCK = 1 << 22

Value = TypeVar("Value")
Array = NDArray[Any]


def write_arrays(folder: Path, values: Mapping[str, object], about: Mapping[str, Any]) -> None:
    """Write values that are made of arrays, a file each, into a new folder; on disk when this returns.

    ``about`` is kept in the header.
    """
    folder.mkdir()
    files = {f"{name}.bin": _write_file(folder / f"{name}.bin", value) for name, value in values.items()}
    head = json.dumps({"kind": KIND, "format": FORMAT, **about, "files": files}).encode()
    with (folder / HEADER).open("wb") as file:
        file.write(b"%s\n%08x\n" % (head, crc32(head)))
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True)
class ArrayFolder:
    """A folder of arrays, open."""

    path: Path
    header: Mapping[str, Any]
    files: Mapping[str, Array]

    @classmethod
    def open(cls, path: Path) -> ArrayFolder:
        """Open a folder; one that is not whole, or not ours, is refused."""
        header = _read_header(path / HEADER)
        opened = cls(path, header, {name: _mapped(path / name) for name in header["files"]})
        for name, told in header["files"].items():
            size = len(opened.files[name])
            if size != told["size"]:
                raise IndexFolderError(f"{path / name} is damaged: it has {size} bytes instead of {told['size']}")
            if size <= SMALL:
                opened.check(name)
        return opened

    def check(self, name: str) -> None:
        """Compare a file's content with its checksum."""
        code = 0
        for start in range(0, len(self.files[name]), _BLOCK):
            code = crc32(self.files[name][start : start + _BLOCK].data, code)
        if code != self.header["files"][name]["crc32"]:
            raise IndexFolderError(f"{self.path / name} is damaged: its content does not fit its checksum")

    def value(self, name: str, cls: type[Value], checked: bool = True) -> Value:
        """A value made of a file's arrays. Its content is checked first unless told otherwise."""
        file = f"{name}.bin"
        data, told = self.files[file], self.header["files"][file]
        if checked and told["size"] > SMALL:
            self.check(file)
        arrays = {
            array: data[start : start + _bytes(dtype, shape)].view(dtype).reshape(shape)
            for array, (dtype, shape, start) in told["arrays"].items()
        }
        made: Value = _made(cls, arrays, "")
        return made


def _read_header(path: Path) -> dict[str, Any]:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise IndexFolderError(f"{path.parent} holds no index: {HEADER}: {error.strerror}") from None
    head, newline, code = text.rpartition(b"\n")[0].rpartition(b"\n")
    if not newline or code != b"%08x" % crc32(head) or not text.endswith(b"\n"):
        raise IndexFolderError(f"{path} is damaged, or is no header of an index")
    header: dict[str, Any] = json.loads(head)
    if header.get("kind") != KIND:
        raise IndexFolderError(f"{path.parent} holds no index, but a {header.get('kind')!r}")
    if header["format"] != FORMAT:
        found = header["format"]
        raise IndexFolderError(
            f"{path.parent} has the format {found}; this Triplewire reads {FORMAT}: compile it again"
        )
    return header


def _mapped(path: Path) -> Array:
    """A file's bytes, mapped into memory."""
    try:
        return np.memmap(path, np.uint8, "r").view(np.ndarray) if path.stat().st_size else np.empty(0, np.uint8)
    except OSError as error:
        raise IndexFolderError(f"{path} is missing: {error.strerror}") from None


def _write_file(path: Path, value: object) -> dict[str, Any]:
    """Write a value's arrays one after the other; returns what the header says of them."""
    arrays: dict[str, Any] = {}
    code = place = 0
    with path.open("wb") as file:
        for name, array in arrays_of(value):
            padding = bytes(-place % _ALIGNMENT)
            content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            arrays[name] = [array.dtype.str, list(array.shape), place + len(padding)]
            for part in (padding, content):
                file.write(part)
                code = crc32(part, code)
                place += len(part)
        file.flush()
        os.fsync(file.fileno())
    return {"size": place, "crc32": code, "arrays": arrays}


def arrays_of(value: object, prefix: str = "") -> Iterator[tuple[str, Array]]:
    """The arrays that a value is made of, by name; a number counts as an array of one."""
    for field in fields(value):  # type: ignore[arg-type]
        part = getattr(value, field.name)
        if is_dataclass(part):
            yield from arrays_of(part, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, np.asarray(part)


def _made(cls: Any, arrays: Mapping[str, Array], prefix: str) -> Any:
    parts: dict[str, Any] = {}
    hints = get_type_hints(cls)
    for field in fields(cls):
        kind, name = hints[field.name], prefix + field.name
        if is_dataclass(kind):
            parts[field.name] = _made(kind, arrays, f"{name}.")
        else:
            parts[field.name] = int(arrays[name]) if kind is int else arrays[name]
    return cls(**parts)


def _bytes(dtype: str, shape: list[int]) -> int:
    return int(np.dtype(dtype).itemsize * np.prod(shape, dtype=np.int64))
