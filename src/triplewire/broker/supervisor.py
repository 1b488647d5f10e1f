"""Keeping the pipeline running as a process of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from triplewire.broker.operations.logs import tell

FIRST_DELAY, LONGEST_DELAY = 1.0, 60.0
STEADY = 60.0  # a process that ran this long was well; the next failure is a new one
PATIENCE = 5.0
LAST_LINES = 8

logger = logging.getLogger(__name__)


@dataclass
class Standing:
    """How it stands with the pipeline: running, restarting, or elsewhere, where we have nothing to do with it."""

    state: str = "elsewhere"
    restarts: int = 0


async def keep_running(
    command: Sequence[str],
    log: Path,
    say: Callable[[str], None],
    standing: Standing | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a command until cancelled, and start it again whenever it ends; ever later if it keeps ending.

    It runs in a process group of its own, so that Ctrl-C reaches it through us alone, and it is gone with everything
    that it started by the time this returns. What it prints goes to ``log``, and ``standing`` is kept up to date. It is
    given ``environment`` beside our own.
    """
    standing = standing or Standing()
    delay = FIRST_DELAY
    mode = "wb"
    while True:
        began = time.monotonic()
        standing.state = "running"
        tell(logger, logging.INFO, "the pipeline is started", restarts=standing.restarts)
        try:
            status = await _run(command, log, mode, environment or {})
            mode = "ab"
            ended, rest = f"ended ({_reason(status)})", f" Its log is {log}, and ends:\n{_tail(log)}"
        except OSError as error:
            ended, rest = f"cannot be run ({error})", ""
        if time.monotonic() - began > STEADY:
            delay = FIRST_DELAY
        standing.state, standing.restarts = "restarting", standing.restarts + 1
        tell(logger, logging.INFO, f"the pipeline {ended}", restarts=standing.restarts, again_in=delay)
        say(f"✗ The pipeline {ended}; it starts again in {delay:g} s.{rest}")
        await asyncio.sleep(delay)
        delay = min(2 * delay, LONGEST_DELAY)


async def _run(command: Sequence[str], log: Path, mode: str, environment: Mapping[str, str]) -> int:
    """Run a command to its end; if cancelled, end it."""
    with log.open(mode) as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=output, stderr=STDOUT, process_group=0, env={**os.environ, **environment}
        )
    try:
        return await process.wait()
    finally:
        await _end_group(process)


async def _end_group(process: Process) -> None:
    """End a process and those that it started: by its own means, politely, then not."""
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
            await _gone(process, PATIENCE)
        for request in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(process.pid, request)
            await _gone(process, 1.0)


async def _gone(process: Process, patience: float) -> None:
    """Wait for a process and its group to be gone, but not forever."""
    deadline = time.monotonic() + patience
    while (process.returncode is None or _group_exists(process.pid)) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _reason(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


def _tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
    return "\n".join(f"    {line}" for line in lines) or "    (nothing)"
