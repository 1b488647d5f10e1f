"""When to send again what was not received, and when to give it up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpcore
import httpx

from triplewire.broker.delivery.parcels import Parcel
from triplewire.store import Attempt, Delivery, Omission, moment_of

FIRST_DELAY, LONGEST_DELAY, GROWTH = timedelta(seconds=5), timedelta(hours=6), 3
PATIENCE = timedelta(days=3)
"""A receiver that has received nothing for so long is left alone. What waits for it goes on waiting."""
REFUSAL = timedelta(hours=12)
"""A notification that is refused for so long is put aside, and the next one has its turn."""
NOT_NOW = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


@dataclass(frozen=True)
class Answer:
    """What a receiver said: that it has received something or, with a ``reason``, that it has not.

    It may ask to be left alone for a while (``after``), or for ever (``gone``). ``refused`` means that it is this
    notification that it does not take, as far as one can tell. What is answered over HTTP has a ``status``.
    """

    reason: str = ""
    after: timedelta = timedelta()
    gone: bool = False
    refused: bool = False
    status: int | None = None


def delay(attempts: int, jitter: float) -> timedelta:
    """How long to wait after so many failed attempts: ever longer, and by a jitter in [0, 1) not the same for all."""
    longer: int = GROWTH ** min(attempts - 1, 16)
    return min(FIRST_DELAY * longer, LONGEST_DELAY) * (0.5 + jitter / 2)


def failed(known: Delivery, parcel: Parcel, answer: Answer, now: datetime, jitter: float) -> Attempt:
    """What becomes of a parcel that was not received."""
    moment, count = moment_of(now), len(parcel.notifications)
    failing = datetime.fromisoformat(known.failing_since) if known.failing_since else now
    state = "ended" if answer.gone else "stopped" if now - failing >= PATIENCE else "active"
    tried = datetime.fromisoformat(known.tried_since) if known.tried_since else now
    if answer.refused and state == "active" and now - tried >= REFUSAL:
        given_up = [Omission(found.number, "undelivered", answer.reason) for found in parcel.notifications]
        omitted = (*parcel.suppressed, *given_up)
        return Attempt(known, parcel.number, moment, moment, answer.reason, count=count, omitted=omitted)
    due = now + max(delay(known.attempts + 1, jitter), min(answer.after, LONGEST_DELAY))
    return Attempt(known, parcel.number, moment, moment_of(due), answer.reason, state, count)


def answer_of(status: int, retry_after: str, now: datetime) -> Answer:
    """What an HTTP status means."""
    if 200 <= status < 300:
        return Answer(status=status)
    later = _retry_after(retry_after, now)
    return Answer(_said(status), later, status == HTTPStatus.GONE, refused=status not in NOT_NOW, status=status)


def no_answer(error: Exception) -> Answer:
    """What it means that there was none."""
    if isinstance(error, TimeoutError | httpx.TimeoutException | httpcore.TimeoutException):
        return Answer("no answer in time")
    what = "connection" if isinstance(error, httpx.ConnectError | httpcore.ConnectError | ConnectionError) else "answer"
    return Answer(f"no {what}: {str(error) or type(error).__name__}")


def _said(status: int) -> str:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    moved = ", and redirects are not followed" if 300 <= status < 400 else ""
    return f"the answer was {status} {phrase}".strip() + moved


def _retry_after(header: str, now: datetime) -> timedelta:
    """For how long a receiver asks to be left alone, in seconds or until a date; not at all, if it says neither."""
    if header.isascii() and header.isdigit():
        return timedelta(seconds=int(header[:9]))
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, TypeError):
        return timedelta()
    return max((until if until.tzinfo else until.replace(tzinfo=UTC)) - now, timedelta())
