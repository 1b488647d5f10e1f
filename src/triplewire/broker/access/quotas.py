"""How much each user may have and do. Administrators may do without measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from time import monotonic
from typing import Any

from triplewire.broker.access.gate import Caller
from triplewire.broker.http.problems import ProblemError
from triplewire.lift.documents import write_json
from triplewire.store import Store

BURST = 10
"""So many seconds' worth of events may come at once."""


@dataclass(frozen=True)
class Quotas:
    """What a user may have: subscriptions, webhooks, streams that are open, and events a second.

    A subscription's ``record`` and an ``event`` may have so many bytes, whoever sends them.
    """

    subscriptions: int = 10_000
    webhooks: int = 1_000
    streams: int = 20
    events: int = 1_000
    record: int = 1 << 16
    event: int = 1 << 20


class Allowance:
    """Measures what users have and do, and refuses what is too much."""

    def __init__(self, store: Store, quotas: Quotas) -> None:
        self._store = store
        self.quotas = quotas
        self._buckets: dict[str, tuple[float, float]] = {}  # how many events are left, and when that was so
        self._streams: Counter[str] = Counter()

    def check_record(self, record: Mapping[str, Any]) -> None:
        """Refuse a subscription that is too large to be meant well."""
        if len(write_json(record).encode("utf-8", "replace")) > self.quotas.record:
            detail = f"a subscription may have {self.quotas.record:,} bytes"
            raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)

    def check_subscriptions(self, caller: Caller, more: int, webhooks: int) -> None:
        """Refuse so many more subscriptions, or webhooks, if they are too many with those that there are."""
        if caller.is_admin:
            return
        if more and self._store.count_subscriptions(caller.name) + more > self.quotas.subscriptions:
            raise _too_many(f"subscriptions, and the most is {self.quotas.subscriptions:,}")
        if webhooks and self._store.deliveries.count(caller.name) + webhooks > self.quotas.webhooks:
            raise _too_many(f"webhooks, and the most is {self.quotas.webhooks:,}")

    def check_events(self, caller: Caller) -> None:
        """Refuse events of somebody who has sent more than they may."""
        left, rate = self._left(caller.name), self.quotas.events
        if left <= 0 and not caller.is_admin:
            wait = {"Retry-After": str(max(ceil(-left / rate), 1))}
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, f"you may publish {rate:,} events a second", wait)

    def count_events(self, caller: Caller, count: int) -> None:
        """Count events that are taken in. Who has something left may send a batch that is more, and waits after it."""
        self._buckets[caller.name] = self._left(caller.name) - count, monotonic()

    def check_streams(self, caller: Caller) -> None:
        """Refuse another stream of somebody who has too many."""
        if self._streams[caller.name] >= self.quotas.streams and not caller.is_admin:
            detail = f"you have {self.quotas.streams:,} streams open, which is the most"
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Retry-After": "60"})

    @contextmanager
    def streaming(self, caller: Caller) -> Iterator[None]:
        """Count a stream while it is open; refuse it if others were opened since it was let in."""
        self.check_streams(caller)
        self._streams[caller.name] += 1
        try:
            yield
        finally:
            self._streams[caller.name] -= 1

    def _left(self, name: str) -> float:
        most = float(BURST * self.quotas.events)
        left, since = self._buckets.get(name, (most, 0.0))
        return min(left + (monotonic() - since) * self.quotas.events, most)


def _too_many(what: str) -> ProblemError:
    return ProblemError(HTTPStatus.FORBIDDEN, f"you would have too many {what}")
