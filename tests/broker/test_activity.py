"""What is going on, as numbers."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import httpx
import pytest

from tests.broker.clients import notify
from triplewire.broker.operations import rates
from triplewire.store import Store


def test_rates_are_told_of_what_came_between_two_looks(
    broker: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "EVERY", 0.0)
    first = broker.get("/v1/activity").json()
    assert first == {"log": 0, "pipeline": 0, "lag": 0, "notifications": 0, "samples": []}
    notify(store, "a", "b", "c")
    store.append([("urn:test", "waiting", "{}")])
    found = broker.get("/v1/activity").json()
    assert {name: found[name] for name in ("log", "pipeline", "lag", "notifications")} == {
        "log": 2,
        "pipeline": 1,
        "lag": 1,
        "notifications": 3,
    }
    [sample] = found["samples"]
    assert sample["lag"] == 1
    assert sample["matches_per_second"] == pytest.approx(sample["events_per_second"] * 1.5, rel=0.05)


def test_the_store_is_not_looked_at_by_each_who_asks(broker: httpx.Client, store: Store) -> None:
    broker.get("/v1/activity")
    notify(store, "a")
    assert broker.get("/v1/activity").json()["log"] == 0


def test_looks_go_on_by_themselves_and_old_ones_are_forgotten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "EVERY", 0.0)
    looking = rates.Rates(store)

    async def a_while() -> None:
        task = asyncio.create_task(looking.keep_looking())
        while len(looking._looks) <= rates.KEPT:
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(a_while())
    assert len(looking.looks()) == rates.KEPT + 1
