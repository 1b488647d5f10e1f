"""Writing published events to the log, many at a time."""

from __future__ import annotations

from collections.abc import Sequence

from triplewire.broker.together import Together
from triplewire.errors import EventError, UsageError
from triplewire.lift.cloudevents import Envelope
from triplewire.store import Store
from triplewire.store.lengths import LONGEST_ADDRESS, LONGEST_ID, check_length

Row = tuple[str, str, str, str]


class Publisher:
    """Writes events to the log. Those that arrive while a commit is under way share the next one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting = 0
        """How many events are yet to be durable."""
        self._writing: Together[list[Row], list[int]] = Together(self._append)

    async def publish(self, envelopes: Sequence[Envelope], publisher: str) -> list[int]:
        """The events' log positions, once they are durable."""
        check(envelopes)  # here, as one that cannot be written would take others with it
        self.waiting += len(envelopes)
        try:
            return await self._writing.done([(e.source, e.id, e.as_json(), publisher) for e in envelopes])
        finally:
            self.waiting -= len(envelopes)

    def _append(self, group: list[list[Row]]) -> list[list[int]]:
        positions = iter(self._store.append([row for rows in group for row in rows]))
        return [[next(positions) for _ in rows] for rows in group]


def check(envelopes: Sequence[Envelope]) -> None:
    """Refuse events whose id or source is longer than the log has room for."""
    try:
        for envelope in envelopes:
            check_length("the attribute 'id'", envelope.id, LONGEST_ID)
            check_length("the attribute 'source'", envelope.source, LONGEST_ADDRESS)
    except UsageError as error:
        raise EventError(str(error)) from None
