"""What the routes share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from triplewire.broker.access.gate import Caller, Gate
from triplewire.broker.access.quotas import Allowance
from triplewire.broker.delivery.addresses import Addresses
from triplewire.broker.delivery.circuits import Circuits
from triplewire.broker.delivery.mailer import Mailer
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.model import Models
from triplewire.broker.notifying.feed import Feed
from triplewire.broker.operations.meters import Meters
from triplewire.broker.operations.probe import Probe
from triplewire.broker.operations.rates import Rates
from triplewire.broker.publishing.pressure import Pressure
from triplewire.broker.publishing.publisher import Publisher
from triplewire.broker.subscribing.trial import Recent
from triplewire.broker.supervisor import Standing
from triplewire.lift.cloudevents import Envelope
from triplewire.lift.lifting import Lifting
from triplewire.store import Revision, Store


@dataclass(frozen=True)
class State:
    """The store, and what stands between it and the routes; the data folder, in which the pipeline leaves a report."""

    store: Store
    publisher: Publisher
    feed: Feed
    models: Models
    lifting: Lifting
    home: Path | None
    addresses: Addresses
    pressure: Pressure
    pipeline: Standing
    gate: Gate
    allowance: Allowance
    recent: Recent
    mailer: Mailer | None
    meters: Meters
    circuits: Circuits
    rates: Rates
    probe: Probe
    verifying: dict[asyncio.Task[None], str] = field(default_factory=dict)
    """Callbacks that are being asked whether they are meant, by whose notifications are to go there."""
    under_way: set[tuple[str, str]] = field(default_factory=set)
    """Requests with a key that are being carried out, by caller and key."""

    async def publish(self, envelopes: Sequence[Envelope], publisher: str) -> list[int]:
        """The events' log positions, once they are durable; refused if there are too many, or of this publisher."""
        caller = await asyncio.to_thread(self.gate.named, publisher)
        self.allowance.check_events(caller)
        await self.pressure.check(self.publisher, len(envelopes))
        self.allowance.count_events(caller, len(envelopes))
        return await self.publisher.publish(envelopes, publisher)

    def subscription(self, id_: str, caller: Caller) -> Revision:
        """A subscription as it stands, if the caller may see it; else it is as if there were none."""
        revision = self.store.subscription(id_)
        if revision is None or not caller.sees(revision.owner):
            raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no subscription {id_!r}")
        return revision


async def _shared(request: Request) -> State:  # FastAPI has a thread do what is not asynchronous
    state: State = request.app.state.shared
    return state


Shared = Annotated[State, Depends(_shared)]
