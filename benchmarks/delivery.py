"""How long live webhooks wait beside dead ones: ``python -m benchmarks.delivery [--seconds T]``."""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.report import report
from triplewire.broker.delivery.addresses import Addresses, networks
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.store import Outcome, Store, Webhook, store_url

LIVE = OTHERS = 100
BESIDE = {"alone": (), "with 100 dead ones": (1, 2), "with 100 more live ones": (0,)}
"""The ports of the others: one answers, the second refuses, the third is silent."""
PAUSE = 1.5
WARM_UP = 12
"""So many events later, those that never answer have been found out for the first time."""
ROUNDS = 3
PHASES = {"first event": (0, 1), "while the dead are found out": (1, WARM_UP), "later": (WARM_UP, 1 << 30)}
SECRET = "whsec_" + "A" * 32
OFFER = "@prefix ex: <http://example.org/auction#> . _:H a ex:Selling ; ex:target _:pc . _:pc a ex:NotebookPC ."
EVENT = {"specversion": "1.0", "source": "b", "type": "offer", "datacontenttype": "text/turtle", "data": OFFER}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=9, help="after the dead have been found out")
    events = WARM_UP + int(parser.parse_args().seconds / PAUSE)
    found: dict[str, list[tuple[int, float]]] = {beside: [] for beside in BESIDE}
    for _ in range(ROUNDS):
        with ProcessPoolExecutor(len(BESIDE), multiprocessing.get_context("spawn")) as pool:
            running = {beside: pool.submit(run, beside, events) for beside in BESIDE}  # the same noise for all
            for beside, one in running.items():
                found[beside] += one.result()
    rows = []
    for phase, (first, end) in PHASES.items():
        waits = {beside: sorted(wait for n, wait in found[beside] if first <= n < end) for beside in BESIDE}
        rows += [_row(phase, beside, waits) for beside in BESIDE]
    told = (
        f"From the commit of a notification to its receipt by {LIVE} live webhooks on hosts of their own, an event for"
        f" all of them every {PAUSE} s; alone, beside {OTHERS} dead ones, of which half refuse and half never answer,"
        f" and beside {OTHERS} more live ones. All at the same time, in brokers of their own, by turns."
    )
    report("delivery", told, rows)


def _row(phase: str, beside: str, waits: dict[str, list[float]]) -> dict[str, object]:
    at = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    row: dict[str, object] = {"live webhooks": beside, "received": len(waits[beside])}
    for label, part in at.items():
        value, alone = (waits[which][int(len(waits[which]) * part)] for which in (beside, "alone"))
        row[f"{label} ms"] = f"{value * 1000:.0f}" + (f" ({value / alone - 1:+.0%})" if beside != "alone" else "")
    return {"when": phase} | row


def run(beside: str, events: int) -> list[tuple[int, float]]:
    """How long each live webhook waited, with the number of the event."""
    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.get_context("spawn").Process(target=_receive, args=(theirs,))
    receiver.start()
    ports = ours.recv()
    urls = {f"live{n}": f"http://127.0.1.{n + 1}:{ports[0]}/live" for n in range(LIVE)}
    if others := BESIDE[beside]:
        urls |= {f"other{n}": f"http://127.0.2.{n + 1}:{ports[others[n % len(others)]]}/other" for n in range(OTHERS)}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(store_url(Path(folder)))
        for name in random.Random(1).sample(sorted(urls), len(urls)):
            store.subscribe({"id": name}, webhook=Webhook(urls[name], SECRET))
        time.sleep(-time.time() % PAUSE + PAUSE * list(BESIDE).index(beside) / len(BESIDE))
        sent = asyncio.run(_publish(store, list(urls), events))
        store.close()
    ours.send("done")
    received = ours.recv()
    receiver.join()
    assert len(received) >= LIVE * len(sent), f"{len(received)} of {LIVE * len(sent)} received"
    return [(int(event), moment - sent[event]) for event, moment in received]


async def _publish(store: Store, names: list[str], events: int) -> dict[str, float]:
    dispatcher = Dispatcher(store, Addresses(networks(["127.0.0.0/8"])))
    running = asyncio.create_task(dispatcher.run())
    sent: dict[str, float] = {}
    begin = time.time()
    for n in range(events):
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
            if head.startswith(b"POST /live"):
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
