"""Whether the broker lives, and how far the pipeline has got."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from triplewire.broker.state import Shared
from triplewire.store import Store

router = APIRouter(tags=["health"])


@router.get("/healthz")
def health(shared: Shared) -> dict[str, Any]:
    """``lag`` is the number of log positions that the pipeline has yet to match."""
    return {"status": "ok", **progress(shared.store)}


def progress(store: Store) -> dict[str, int]:
    done, newest = store.pipeline_position(), store.last_position()
    return {"log": newest, "pipeline": done, "lag": max(newest - done, 0)}
