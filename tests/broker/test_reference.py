"""What the page on HTTP shows is true: its commands, run one after the other, print what stands below them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.broker.conftest import served
from tests.commands import ROOT
from tests.test_guide import same, sessions
from triplewire.store import Store


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_every_command_on_http_prints_what_is_shown(store: Store) -> None:
    with served(store) as address:
        for command, shown in sessions(ROOT / "docs/reference/http.md"):
            here = command.replace("http://127.0.0.1:8080", address)
            found = subprocess.run(["bash", "-c", here], capture_output=True, encoding="utf-8", timeout=60)
            lines = [line.rstrip() for line in found.stdout.splitlines() if line.strip()]
            told = list(filter(None, shown))
            assert [same(line, one) for line, one in zip(lines, told, strict=False)] + lines[len(told) :] == told
