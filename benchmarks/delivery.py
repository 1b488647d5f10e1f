"""How long live webhooks wait beside dead ones: ``python -m benchmarks.delivery [--seconds T]``."""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.report import report
from triplewire.broker.addresses import Addresses, networks
from triplewire.broker.dispatcher import Dispatcher
from triplewire.store import Outcome, Store, Webhook, store_url

LIVE = DEAD = 100
PAUSE = 1.0
WARM_UP = 20
"""Until those that never answer have been found out for the first time."""
ROUNDS = 2
PHASES = {"first event": (0, 1), "while the dead are found out": (1, WARM_UP), "later": (WARM_UP, 1 << 30)}
SECRET = "whsec_" + "A" * 32
OFFER = "@prefix ex: <http://example.org/auction#> . _:H a ex:Selling ; ex:target _:pc . _:pc a ex:NotebookPC ."
EVENT = {"specversion": "1.0", "source": "b", "type": "offer", "datacontenttype": "text/turtle", "data": OFFER}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15)
    seconds = parser.parse_args().seconds
    found: dict[bool, list[tuple[int, float]]] = {False: [], True: []}
    for _ in range(ROUNDS):
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            both = {dead: pool.submit(run, dead, seconds) for dead in found}  # side by side: the same noise for both
            for dead, running in both.items():
                found[dead] += running.result()
    rows = []
    for phase, (first, end) in PHASES.items():
        waits = {dead: sorted(w for n, w in found[dead] if first <= n < end) for dead in found}
        rows += [_row(phase, dead, waits) for dead in found]
    told = (
        f"From the commit of a notification to its receipt by {LIVE} live webhooks on hosts of their own, an event for"
        f" all of them every {PAUSE} s; alone, and beside {DEAD} dead ones, of which half refuse and half never answer."
        " Both at the same time, in two brokers, by turns."
    )
    report("delivery", told, rows)


def _row(phase: str, dead: bool, waits: dict[bool, list[float]]) -> dict[str, object]:
    at = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    row: dict[str, object] = {"live webhooks": "with 100 dead ones" if dead else "alone", "received": len(waits[dead])}
    for label, part in at.items():
        value, alone = (waits[which][int(len(waits[which]) * part)] for which in (dead, False))
        row[f"{label} ms"] = f"{value * 1000:.0f}" + (f" ({value / alone - 1:+.0%})" if dead else "")
    return {"when": phase} | row


def run(dead: bool, seconds: float) -> list[tuple[int, float]]:
    """How long each live webhook waited, with the number of the event."""
    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.get_context("spawn").Process(target=_receive, args=(theirs,))
    receiver.start()
    ports = ours.recv()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(store_url(Path(folder)))
        names = [f"live{n}" for n in range(LIVE)]
        for n, name in enumerate(names):
            store.subscribe({"id": name}, webhook=Webhook(f"http://127.0.1.{n + 1}:{ports[0]}/", SECRET))
        for n in range(DEAD if dead else 0):
            store.subscribe({"id": f"dead{n}"}, webhook=Webhook(f"http://127.0.2.{n + 1}:{ports[1 + n % 2]}/", SECRET))
            names.append(f"dead{n}")
        time.sleep(-time.time() % PAUSE + (PAUSE / 2 if dead else 0))
        sent = asyncio.run(_publish(store, names, seconds))
        store.close()
    ours.send("done")
    received = ours.recv()
    receiver.join()
    assert len(received) >= LIVE * len(sent), f"{len(received)} of {LIVE * len(sent)} received"
    return [(int(event), moment - sent[event]) for event, moment in received]


async def _publish(store: Store, names: list[str], seconds: float) -> dict[str, float]:
    dispatcher = Dispatcher(store, Addresses(networks(["127.0.0.0/8"])))
    running = asyncio.create_task(dispatcher.run())
    sent: dict[str, float] = {}
    begin = time.time()
    for n in range(int((WARM_UP + seconds) / PAUSE)):
        [position] = await asyncio.to_thread(store.append, [("b", str(n), json.dumps(EVENT | {"id": str(n)}))])
        outcomes = [Outcome(position, str(n), name, 1.0, "[]") for name in names]
        await asyncio.to_thread(store.record, outcomes, [], position)
        sent[str(n)] = time.time()
        await asyncio.sleep(PAUSE - (time.time() - begin) % PAUSE)
    live = [name for name in names if name.startswith("live")]
    while await asyncio.to_thread(store.deliveries.pending, live):
        await asyncio.sleep(0.1)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return sent


def _receive(pipe: Connection) -> None:
    """A process that notes when what arrived: it answers on one port, refuses on the second, is silent on the third."""
    received: list[tuple[str, float]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            body = await reader.readexactly(int(length.split(b":")[1]))
            received.append((json.loads(body)["data"]["event"], time.time()))
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async def quietly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def serve() -> None:
        held: list[asyncio.StreamWriter] = []
        live = await asyncio.start_server(quietly, "0.0.0.0", 0, backlog=1000)
        silent = await asyncio.start_server(lambda _, writer: held.append(writer), "0.0.0.0", 0, backlog=1000)
        gone = await asyncio.start_server(lambda *_: None, "0.0.0.0", 0)
        ports = [server.sockets[0].getsockname()[1] for server in (live, gone, silent)]
        gone.close()
        pipe.send(ports)
        await asyncio.to_thread(pipe.recv)
        pipe.send(received)

    asyncio.run(serve())


if __name__ == "__main__":
    main()
