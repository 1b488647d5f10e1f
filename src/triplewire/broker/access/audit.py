"""Who changed what, for administrators."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from triplewire.broker.access.users import Administrator
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.pages import Paged
from triplewire.broker.state import Shared

router = APIRouter(tags=["audit"])


@router.get("/v1/audit")
def list_changes(
    _: Administrator,
    shared: Shared,
    page: Paged,
    kind: Annotated[str | None, Query(description="Only changes of such, as `subscription` or `token`.")] = None,
    who: Annotated[str | None, Query(description="Only changes by this user.")] = None,
) -> ExactJSONResponse:
    """Changes of subscriptions, deliveries, ontologies, proposals, profiles, users and tokens, the oldest first."""
    rows = shared.store.audit(page.after, page.more, kind, who)
    return page.of(rows, asdict, lambda change: change.number)
