"""The command line as tests run it: in this process, as starting another takes a second, or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from triplewire.cli import main

ROOT = Path(__file__).parents[1]


def run(*arguments: object, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What ``triplewire`` with these arguments prints, and how it ends. It has to see to UTF-8 by itself."""
    given = list(map(str, arguments))
    written = BytesIO(), BytesIO()
    out, err = (TextIOWrapper(stream, "ascii", write_through=True) for stream in written)
    with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["triplewire", *given])
        with pytest.raises(SystemExit) as ended:
            main()
    printed = (stream.getvalue().decode() for stream in written)
    return subprocess.CompletedProcess(given, int(ended.value.code or 0), *printed)


def run_alone(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, for what is the process's: its start, its streams, its exit status."""
    command = [sys.executable, "-m", "triplewire", *map(str, arguments)]
    env = os.environ | environment
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, env=env)
