"""Keeping a process running."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import descendants, still_there
from triplewire.broker import supervisor
from triplewire.broker.supervisor import keep_running

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""


def test_a_process_that_ends_is_started_again_and_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_DELAY", 0.05)
    said: list[str] = []

    async def scenario() -> None:
        command = [sys.executable, "-c", "print('too bad'); raise SystemExit(7)"]
        running = asyncio.create_task(keep_running(command, tmp_path / "log", said.append))
        while len(said) < 3:
            await asyncio.sleep(0.05)
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(asyncio.wait_for(scenario(), 120))
    assert [words.split("; ")[0] for words in said] == ["✗ The pipeline ended (status 7)"] * 3
    assert [words.split(" in ")[1].split(" s.")[0] for words in said] == ["0.05", "0.1", "0.2"]
    assert str(tmp_path / "log") in said[0]
    assert said[1].splitlines()[1:] == ["    too bad"] * 2


def test_a_log_that_cannot_be_written_and_a_failed_start_are_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_DELAY", 0.05)
    said: list[str] = []
    log = tmp_path / "log"
    log.mkdir()

    async def no_process(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "too many processes")

    async def scenario() -> None:
        running = asyncio.create_task(keep_running([sys.executable, "-c", "print('well')"], log, said.append))
        await until(lambda: len(said) == 1)
        log.rmdir()
        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "create_subprocess_exec", no_process)
            await until(lambda: len(said) == 2)
        await until(lambda: len(said) == 3)
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(asyncio.wait_for(scenario(), 120))
    assert ["Is a directory" in said[0], "too many processes" in said[1]] == [True, True]
    assert [len(words.splitlines()) for words in said] == [1, 1, 2]
    assert said[2].endswith("    well")


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def test_nothing_is_left_of_a_process_that_will_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "PATIENCE", 0.3)
    log = tmp_path / "log"

    async def scenario() -> set[int]:
        running = asyncio.create_task(keep_running([sys.executable, "-c", STUBBORN], log, print))
        while not log.exists() or not log.read_text():
            await asyncio.sleep(0.05)
        pids = {int(word) for word in log.read_text().split()}
        assert len(still_there(pids, 0)) == 2
        running.cancel()
        await asyncio.wait([running])
        return pids

    assert still_there(asyncio.run(asyncio.wait_for(scenario(), 120))) == set()


def test_descendants_are_found() -> None:
    async def scenario() -> None:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
        assert process.pid in descendants(os.getpid())
        process.kill()
        await process.wait()

    asyncio.run(scenario())
