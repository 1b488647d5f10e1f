"""How long live webhooks wait beside dead ones: ``python -m benchmarks.delivery [--seconds T] [--rounds N]``."""

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
from statistics import median

from benchmarks.report import report
from triplewire.broker.delivery.addresses import Addresses, networks
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.store import Outcome, Store, Webhook, store_url

LIVE = OTHERS = 100
ALONE, DEAD = "alone", "with 100 dead ones"
BESIDE = {ALONE: (), DEAD: (1, 2)}
"""The ports of the others: the second refuses, the third is silent."""
PAUSE = 1.5
WARM_UP = 12
"""So many events later, those that never answer have been found out for the first time."""
PHASES = {"first event": (0, 1), "while the dead are found out": (1, WARM_UP), "later": (WARM_UP, 1 << 30)}
SECRET = "whsec_" + "A" * 32
OFFER = "@prefix ex: <http://example.org/auction#> . _:H a ex:Selling ; ex:target _:pc . _:pc a ex:NotebookPC ."
EVENT = {"specversion": "1.0", "source": "b", "type": "offer", "datacontenttype": "text/turtle", "data": OFFER}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=9, help="after the dead have been found out")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    events = WARM_UP + int(given.seconds / PAUSE)
    rounds = []
    for _ in range(given.rounds):
        with ProcessPoolExecutor(len(BESIDE), multiprocessing.get_context("spawn")) as pool:
            running = {beside: pool.submit(run, beside, events) for beside in BESIDE}  # the same noise for both
            rounds.append({beside: one.result() for beside, one in running.items()})
    told = (
        f"From the commit of a notification to its receipt by {LIVE} live webhooks on hosts of their own, an event for"
        f" all of them every {PAUSE} s; alone, and beside {OTHERS} dead ones, of which half refuse and half never"
        f" answer. Two brokers at the same time, an event of the one and an event of the other by turns;"
        f" {given.rounds} rounds with new brokers. Of the rounds' quantiles the median, and the median of their ratios."
    )
    report("delivery", told, [_row(phase, rounds) for phase in PHASES])


def _row(phase: str, rounds: list[dict[str, list[tuple[int, float]]]]) -> dict[str, object]:
    first, end = PHASES[phase]
    row: dict[str, object] = {"when": phase}
    for label, part in {"p50": 0.5, "p90": 0.9, "p99": 0.99}.items():
        waits = {
            beside: [_quantile([wait for n, wait in one[beside] if first <= n < end], part) for one in rounds]
            for beside in BESIDE
        }
        ratio = median(dead / alone for dead, alone in zip(waits[DEAD], waits[ALONE], strict=True))
        row |= {f"{label}, ms: {beside}": round(median(waits[beside]) * 1000) for beside in BESIDE}
        row[f"{label}: more"] = f"{ratio - 1:+.0%}"
    return row


def _quantile(waits: list[float], part: float) -> float:
    return sorted(waits)[int(len(waits) * part)]


def run(beside: str, events: int, live: int = LIVE, dead: int = OTHERS) -> list[tuple[int, float]]:
    """How long each live webhook waited, with the number of the event."""
    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.get_context("spawn").Process(target=_receive, args=(theirs,))
    receiver.start()
    ports = ours.recv()
    urls = {f"live{n}": f"http://127.0.1.{n + 1}:{ports[0]}/live" for n in range(live)}
    if others := BESIDE[beside]:
        urls |= {f"other{n}": f"http://127.0.2.{n + 1}:{ports[others[n % len(others)]]}/other" for n in range(dead)}
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
    assert len(received) >= live * len(sent), f"{len(received)} of {live * len(sent)} received"
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
