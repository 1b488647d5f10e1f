"""Compiled kernels on disk: a file for each kernel and signature, named by all that it depends on.

Numba's own cache has an index file for each function, which processes that start at once can leave naming the code of
another signature; it takes whatever it finds for whole; and it reads only where it may write. Here a file appears in
one step, is the same whoever writes it, is checked before it is used, and is looked for in two places: where
NUMBA_CACHE_DIR says, or beside the source; and in the user's own cache, for where that cannot be written.
"""

from __future__ import annotations

import os
import pickle
import platform
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import llvmlite
import numba
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

HERE = Path(__file__).parent
STAMP = sha256(b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py")))).hexdigest()[:16]
"""Of all kernels: the compiled code of one holds that of others, in whatever files these are."""

_VERSIONS = (numba.__version__, llvmlite.__version__, platform.python_version())
_CHECKSUM = sha256().digest_size


def _folders() -> list[Path]:
    told: str = config.CACHE_DIR  # type: ignore[attr-defined]
    places = [Path(told or HERE / "__pycache__").absolute()]
    with suppress(RuntimeError):  # of a user who has no home
        places.append(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "triplewire")
    return [place / STAMP for place in places]


FOLDERS = _folders()
WHOLE = "whole"
"""The file that says that all kernels are there."""


def is_whole() -> bool:
    """Whether every kernel that matching may need is kept, so that none has to be compiled."""
    return any((folder / WHOLE).exists() for folder in FOLDERS)


def say_whole() -> None:
    for folder in FOLDERS:
        with suppress(OSError):
            _write(folder / WHOLE, b"")
            break


class KernelCache(NullCache):
    """What is kept of one kernel. Where nothing can be written, each process compiles for itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._kernel = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        name = self._name(sig, target_context.codegen())
        for folder in FOLDERS:
            if (content := _read(folder / name)) is not None:
                parts = pickle.loads(content)  # noqa: S301 - it holds machine code: who could write it needs no pickle
                return CompileResult._rebuild(target_context, *parts)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        content = dumps(data._reduce())
        name = self._name(sig, data.codegen)
        for folder in FOLDERS:
            with suppress(OSError):
                _write(folder / name, content)
                break

    def _name(self, sig: Any, codegen: Any) -> str:
        """The name of the file: kernel and signature, machine and versions."""
        told = repr((sig, codegen.magic_tuple(), _VERSIONS))
        return f"{self._kernel}-{sha256(told.encode()).hexdigest()[:24]}.kernel"


def _read(path: Path) -> bytes | None:
    """A file's content, None if there is none or it is damaged."""
    try:
        text = path.read_bytes()
    except OSError:
        return None
    content = text[_CHECKSUM:]
    return content if text[:_CHECKSUM] == sha256(content).digest() else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(sha256(content).digest() + content)
            file.flush()
            Path(file.name).chmod(0o644)  # temporary files are their owner's alone, this is for all who run it
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink()
            raise
