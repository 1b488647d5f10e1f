"""How much is done for the dead before the living are served: counted, not timed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from math import ceil

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
