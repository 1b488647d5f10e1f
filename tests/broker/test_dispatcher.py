"""How much is done for the dead before the living are served: counted, not timed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta
from math import ceil
from threading import Event, current_thread, main_thread
from types import SimpleNamespace

import pytest
from sqlalchemy import Connection, Engine, event

from tests.broker.clients import notify
from tests.broker.sending import OLD, Clock, turn
from triplewire.broker.delivery import dispatcher
from triplewire.broker.delivery.addresses import Addresses, networks
from triplewire.broker.delivery.dispatcher import AT_ONCE, FEW, GROUP, Dispatcher
from triplewire.store import Standing, Store, Webhook

LIVE, DEAD = 2 * GROUP, AT_ONCE[Standing.FAILING] * 3 // 4  # as many as one owner may have under way


class Hosts:
    """Hosts that note in which order they are called. The living accept what they get, the dead are out of order."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.answering = asyncio.Event()
        self.connected = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        with suppress(asyncio.IncompleteReadError):
            await self._answer(reader, writer)
        writer.close()
        self.connected -= 1

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := (await reader.readuntil(b"\r\n\r\n")).decode().lower():
            await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
            name = head.split("post /")[1].split(" ")[0]
            self.called.append(name)
            await self.answering.wait()
            status = "204 No Content" if name == "live" else "503 Service Unavailable\r\nContent-Length: 0"
            writer.write(f"HTTP/1.1 {status}\r\n\r\n".encode())


def test_the_living_are_called_before_the_dead_of_any_priority_and_all_are_read_in_few_transactions(
    store: Store,
) -> None:
    transactions: list[Connection] = []
    note = transactions.append

    async def scenario() -> list[str]:
        hosts, clock = Hosts(), Clock()
        server = await asyncio.start_server(hosts, "0.0.0.0", 0, backlog=LIVE + DEAD)
        port = server.sockets[0].getsockname()[1]
        urls = [f"http://127.0.2.{n}:{port}/dead" for n in range(DEAD)]
        urls += [f"http://127.0.1.{n}:{port}/live" for n in range(LIVE)]
        for url in urls:
            store.subscribe({"id": url, "priority": 9 if "dead" in url else 0}, webhook=Webhook(url, OLD))
        sending = Dispatcher(store, Addresses(networks(["127.0.0.0/8"])), clock=clock, jitter=lambda: 0.5)
        notify(store, *urls)
        hosts.answering.set()
        await turn(sending)  # now it is known who is dead
        clock.forward(timedelta(minutes=1))
        notify(store, *urls)
        hosts.answering.clear()
        hosts.called.clear()
        event.listen(Engine, "begin", note)
        await sending.look()
        while len(hosts.called) < len(urls):
            await asyncio.sleep(0.01)
        event.remove(Engine, "begin", note)
        hosts.answering.set()
        await sending.settled()
        await sending.close()
        server.close()
        while hosts.connected:
            await asyncio.sleep(0.01)
        return hosts.called

    called = asyncio.run(scenario())
    last = len(called) - called[::-1].index("live")
    assert called[:last].count("dead") <= FEW, "only those that were begun while the last live ones were called"
    assert len(transactions) <= 1 + 2 * (ceil(LIVE / GROUP) + ceil(DEAD / FEW))


def test_somebody_with_many_slow_receivers_does_not_delay_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dispatcher.AT_ONCE, Standing.NEW, 8)
    monkeypatch.setattr(dispatcher, "MOST_OF_ONE", 16)

    async def scenario() -> list[str]:
        hosts = Hosts()
        server = await asyncio.start_server(hosts, "0.0.0.0", 0)
        port = server.sockets[0].getsockname()[1]
        slow = [f"http://127.0.2.{n}:{port}/slow" for n in range(30)]
        quick = f"http://127.0.1.1:{port}/live"
        for url in slow:
            store.subscribe({"id": url, "priority": 9}, "flood", Webhook(url, OLD))
        store.subscribe({"id": quick}, "other", Webhook(quick, OLD))
        sending = Dispatcher(store, Addresses(networks(["127.0.0.0/8"])), clock=Clock())
        notify(store, *slow)
        assert not await sending.look(), "some of so many are left for later"
        while len(hosts.called) < 6:
            await asyncio.sleep(0.01)
        notify(store, quick)
        await sending.look()
        while "live" not in hosts.called:  # which none of the slow ones has answered by now
            await asyncio.sleep(0.01)
        called = list(hosts.called)
        hosts.answering.set()
        await sending.settled()
        await sending.close()
        server.close()
        while hosts.connected:
            await asyncio.sleep(0.01)
        return called

    assert sorted(asyncio.run(scenario())) == ["live"] + ["slow"] * 6


class Slow(Clock):
    """A clock that tells no other thread the time for now, so that whatever is to be read is never read."""

    def __init__(self) -> None:
        super().__init__()
        self.telling = Event()

    def __call__(self) -> datetime:
        assert current_thread() is main_thread() or self.telling.wait(60)
        return self.now


class Looking(Dispatcher):
    """A dispatcher that notes whom it looked for."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store, Addresses(), clock=clock)
        self.looks: list[Standing] = []

    async def look(self, worst: Standing = Standing.FAILING) -> bool:
        self.looks.append(worst)
        return await super().look(worst)

    async def looked(self, *looks: Standing) -> None:
        async with asyncio.timeout(20):
            while tuple(self.looks) != looks:
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
def test_those_that_fail_are_looked_for_in_the_end_however_much_there_is_to_do(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is new at once, which takes no time to see."""
    new, failing = Standing.NEW, Standing.FAILING
    now = 100.0
    monkeypatch.setattr(dispatcher, "time", SimpleNamespace(monotonic=lambda: now))
    store.subscribe({"id": "s"}, webhook=Webhook("http://127.0.0.1:1/dead", OLD))

    async def scenario() -> None:
        nonlocal now
        sending = Looking(store, clock := Slow())
        notify(store, "s")
        running = asyncio.create_task(sending.run())
        await sending.looked(new, failing)
        now += dispatcher.LATEST - 0.1
        for count in range(2, 4):  # whatever else was due would have been looked for between them
            notify(store, "s")
            await sending.looked(new, failing, *[new] * (count - 1))
        now += 0.2
        await sending.looked(new, failing, new, new, failing)
        async with asyncio.timeout(20):
            while store.glance() != 3:
                await asyncio.sleep(0.01)
        clock.telling.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scenario())
