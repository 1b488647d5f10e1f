"""Lists, a page at a time: ``after`` is the cursor that the page before gave as ``next``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

After = Annotated[int, Query(ge=0, lt=1 << 63)]
Limit = Annotated[int, Query(ge=1, le=1000)]

Row = TypeVar("Row")


def page(rows: Sequence[Row], limit: int, shown: Callable[[Row], Any], cursor: Callable[[Row], int]) -> dict[str, Any]:
    """A page of ``limit`` rows. A row beyond them tells that another page follows."""
    items = rows[:limit]
    return {"items": [shown(row) for row in items], "next": cursor(items[-1]) if len(rows) > limit else None}
