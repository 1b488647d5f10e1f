"""Circuits: hosts that do not answer are left alone for a while, and none is asked too much at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from triplewire.broker.delivery.addresses import Host, place_of
from triplewire.store import moment_of

AT_ONCE = 8
TRIPS = 3
"""So many failures in a row, and the circuit is open: nothing is sent for a while, then one as a trial."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=5)
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass
class Circuit:
    """The way to one host. Only being without an answer opens it: what one address answers is no other's matter."""

    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    under_way: int = 0
    failures: int = 0
    open_until: datetime = LONG_AGO

    def admits(self, time: datetime) -> bool:
        """Whether something more may be sent. After a while in the dark, one thing at a time is tried."""
        return self.failures < TRIPS or (time >= self.open_until and self.under_way == 0)

    def is_open(self, time: datetime) -> bool:
        return self.failures >= TRIPS and time < self.open_until

    def succeeded(self) -> None:
        self.failures = 0

    def failed(self, time: datetime) -> None:
        self.failures += 1
        if self.failures >= TRIPS:
            doublings = min(self.failures - TRIPS, 16)
            self.open_until = time + min(FIRST_WAIT * 2**doublings, LONGEST_WAIT)


class Circuits:
    """The circuits of all hosts that something is sent to, or that failed."""

    def __init__(self) -> None:
        self._of: dict[Host, Circuit] = {}

    def of(self, url: str) -> Circuit:
        return self._of.setdefault(place_of(url).host, Circuit())

    def shown(self, url: str) -> dict[str, Any] | None:
        """Until when an address's host is left alone, if it is. How often who called it is nobody else's matter."""
        circuit = self._of.get(place_of(url).host)
        if circuit is None or circuit.failures < TRIPS:
            return None
        return {"openUntil": moment_of(circuit.open_until)}

    def forget(self, url: str) -> None:
        """Let go of a circuit of which there is nothing to remember."""
        circuit = self.of(url)
        if not (circuit.under_way or circuit.failures):
            del self._of[place_of(url).host]
