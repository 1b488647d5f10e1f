"""Whether the broker lives, whether it can do its work, and how far the pipeline has got."""

from __future__ import annotations

import asyncio
import json
import logging
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from triplewire.broker.operations.probe import PATIENCE
from triplewire.broker.state import Shared, State
from triplewire.errors import StoreError
from triplewire.store import Store

REPORT = "pipeline.json"

router = APIRouter(tags=["health"])
log = logging.getLogger(__name__)


@router.get("/healthz")
async def health(shared: Shared) -> dict[str, Any]:
    """The broker lives. ``lag`` is the number of log positions that the pipeline has yet to match.

    How far everything has got is left out while the store does not tell: a broker that is ended for it would not be of
    more use.
    """
    try:
        told = await asyncio.wait_for(asyncio.to_thread(progress, shared.store), PATIENCE)
    except (StoreError, TimeoutError):
        told = {}
    return {"status": "ok", **told}


@router.get("/readyz")
async def ready(shared: Shared) -> JSONResponse:
    """Whether events can be taken in and are matched: 200 if so, else 503, with the reasons.

    ``pipeline.state`` is starting, running or restarting; or elsewhere, if another machine runs it.
    """
    told: dict[str, Any] = {"store": {"writable": await shared.probe.is_writable()}}
    reasons = ["the store cannot be written; the log says why"]  # not here, where everybody reads it
    if told["store"]["writable"]:
        try:
            reasons = await asyncio.to_thread(_pipeline, shared, told)
        except StoreError as error:
            log.error("the store cannot be read: %s", error)
    status = HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK
    return JSONResponse({"status": "not ready" if reasons else "ready", "reasons": reasons} | told, status)


def _pipeline(shared: State, told: dict[str, Any]) -> list[str]:
    """Tell of the pipeline and the disk; and why nothing can be done, if so."""
    measured = shared.pressure.measured()
    if measured.free is not None:
        told["disk"] = {"free": measured.free}
    found = report(shared.home) or {}
    told["pipeline"] = {
        "state": shared.pipeline.state,
        "restarts": shared.pipeline.restarts,
        "position": measured.pipeline,
        "lag": measured.lag,
        "index": found.get("version"),
    }
    reasons = [reason for reason, _ in shared.pressure.reasons(measured)]
    if shared.pipeline.state == "restarting":
        reasons.append("the pipeline ended, and is yet to be started again")
    return reasons


def progress(store: Store) -> dict[str, int]:
    done, newest = store.pipeline_position(), store.last_position()
    return {"log": newest, "pipeline": done, "lag": max(newest - done, 0)}


def report(home: Path | None) -> dict[str, Any] | None:
    """What the pipeline last told of itself, in the data folder."""
    try:
        if home is not None:
            found: dict[str, Any] = json.loads((home / REPORT).read_text(encoding="utf-8"))
            return found
    except (OSError, ValueError):
        pass
    return None
