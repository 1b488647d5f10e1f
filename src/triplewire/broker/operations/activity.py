"""How much is going on: events and matches a second, and what waits to be matched, over the last two minutes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from fastapi import APIRouter

from triplewire.broker.access.users import Anybody
from triplewire.broker.operations.rates import Look
from triplewire.broker.state import Shared
from triplewire.store import moment_of

router = APIRouter(tags=["health"])


@router.get("/v1/activity")
def activity(_: Anybody, shared: Shared) -> dict[str, Any]:
    """What is going on: how far log, pipeline and notifications have got, and the rates of the last two minutes."""
    looks = shared.rates.looks()
    newest = looks[-1]
    return {
        "log": newest.log,
        "pipeline": newest.pipeline,
        "lag": newest.lag,
        "notifications": newest.notifications,
        "samples": [_sample(before, after) for before, after in pairwise(looks)],
    }


def _sample(before: Look, after: Look) -> dict[str, Any]:
    seconds = (after.at - before.at).total_seconds()
    return {
        "at": moment_of(after.at),
        "events_per_second": round(max(after.log - before.log, 0) / seconds, 2),
        "matches_per_second": round(max(after.notifications - before.notifications, 0) / seconds, 2),
        "lag": after.lag,
    }
