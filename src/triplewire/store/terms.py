"""Terms: until when a subscription matches, and how what it matches is sent. They are members of its record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from triplewire.errors import UsageError
from triplewire.store.moments import moment_of

MEMBERS = ("state", "expiresAt", "priority", "throttling", "digest", "duplicates")
ACTIVE, PAUSED, EXPIRED = "active", "paused", "expired"
PRIORITIES = range(10)
PERIODS = {"hourly": "PT1H", "daily": "P1D"}
LONGEST = 366 * 86_400
_DURATION = re.compile(r"P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", re.ASCII)
_SECONDS = (7 * 86_400, 86_400, 3_600, 60, 1)


@dataclass(frozen=True)
class Terms:
    """How a subscription's notifications are sent; times in seconds, 0 for none.

    ``throttling`` is the least time between two sendings, ``digest`` the period of which everything is sent together,
    ``duplicates`` how long the same content is not told again. The higher ``priority`` goes first.
    """

    paused: bool = False
    priority: int = 0
    throttling: int = 0
    digest: int = 0
    duplicates: int = 0


def terms_of(record: Mapping[str, Any]) -> Terms:
    """The terms that a record has; refused if one of them makes no sense."""
    state, priority = record.get("state", ACTIVE), record.get("priority", 0)
    if state not in (ACTIVE, PAUSED):
        hint = "; to let it expire, set 'expiresAt'" if state == EXPIRED else ""
        raise UsageError(f"'state' should be {ACTIVE} or {PAUSED}, not {state!r}{hint}")
    if isinstance(priority, bool) or not isinstance(priority, int) or priority not in PRIORITIES:
        raise UsageError(f"'priority' should be a whole number from 0 to {PRIORITIES[-1]}, not {priority!r}")
    return Terms(
        state == PAUSED, priority, *(_seconds(record, name) for name in ("throttling", "digest", "duplicates"))
    )


def expiry_of(record: Mapping[str, Any]) -> str | None:
    """The moment after which events no longer match, if there is one."""
    if (found := record.get("expiresAt")) is None:
        return None
    try:
        time = datetime.fromisoformat(found) if isinstance(found, str) and "T" in found.upper() else None
        if time is not None and time.tzinfo is not None:
            return moment_of(time)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"'expiresAt' should be a time with its zone such as 2026-01-31T12:00:00Z, not {found!r}")


def state_of(record: Mapping[str, Any], moment: str) -> str:
    """Whether a subscription is active, paused or expired at a moment."""
    expires = expiry_of(record)
    found: str = record.get("state", ACTIVE)
    return EXPIRED if expires is not None and expires <= moment else found


def boundary(moment: datetime, period: int) -> str:
    """When the present period began; periods are counted from 1970 on, so that days begin at midnight, UTC."""
    seconds = int(moment.timestamp())
    return moment_of(datetime.fromtimestamp(seconds - seconds % period, moment.tzinfo))


def _seconds(record: Mapping[str, Any], name: str) -> int:
    found = record.get(name, 0)
    if isinstance(found, int) and not isinstance(found, bool):
        length = found
    elif isinstance(found, str) and (parts := _DURATION.fullmatch(PERIODS.get(found, found)[:40])):
        length = sum(int(part or 0) * unit for part, unit in zip(parts.groups(), _SECONDS, strict=True))
    else:
        length = -1
    if not 0 <= length <= LONGEST:
        words = f"{', '.join(PERIODS)}, "
        raise UsageError(
            f"{name!r} should be {words}seconds, or a duration such as PT10M or P1D, of at most a year, not {found!r}"
        )
    return length
