"""Times as parameters."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus

from triplewire.broker.http.problems import ProblemError


def time_of(given: str) -> datetime:
    """A time as a client writes it; UTC's, unless it has a zone."""
    try:
        time = datetime.fromisoformat(given)
    except ValueError:
        detail = f"a time looks like 2026-01-31T12:00:00Z, not {given!r}"
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
