"""What the broker holds: ``python -m benchmarks.broker [--store URL] [--rate R] [--seconds T] [--clients N]``.

Events are published in batches of 50 by a second process, at a rate that is held for so many seconds. Each is durable
before it is accepted, and is matched by the real pipeline with 10,000 subscriptions, ten of which it trips. Prints one
JSON line: the rates at which events were accepted and their notifications written, where the time went, how long an
event took to a client of the stream, and what idle clients of it cost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx

from triplewire.store import Store, store_url
from triplewire.store.revisions import insert_revision

BATCH = 50
SUBSCRIPTIONS, EACH = 10_000, 10
SENDERS = 4
SLOW = 100
"""The events a second at which it is measured how long one takes."""
KIND = {"Content-Type": "application/cloudevents-batch+json"}
PREFIXES = {"ex": "http://example.org/"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", help="a store's address; SQLite in a temporary folder if left out")
    parser.add_argument("--rate", type=int, default=2000, help="events a second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=5000, help="idle clients of the stream")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.store or store_url(Path(folder))
        with closing(Store(url)) as store:
            subscribe(store)
            with serving(Path(folder), url) as (address, process):
                told = {"store": url.split(":")[0], "rate": given.rate, "seconds": given.seconds}
                warm_up(store, address)
                told |= held(store, address, process, given.rate, given.seconds)
                told |= latency(store, address, min(given.seconds, 20))
                told |= idle(address, process, given.clients)
    print(json.dumps(told))


def subscribe(store: Store) -> None:
    """Write the subscriptions, all in one transaction: how long each takes is not measured here."""
    with store._writing() as connection:
        for number in range(SUBSCRIPTIONS):
            pattern = f"ex:topic = {number // EACH}"
            record = {"id": f"s{number}", "language": "filter", "pattern": pattern, "prefixes": PREFIXES}
            insert_revision(connection, record, "local", 0)


@contextmanager
def serving(home: Path, url: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "triplewire", "serve", "--home", str(home), "--port", "0", "--store", url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address is not None
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield address[0].rstrip("/"), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def body(numbers: range, marked: str) -> str:
    """A batch of events, each with a topic that ten subscriptions ask for."""
    data = "@prefix ex: <http://example.org/> . _:H a ex:Report ; ex:topic {} ; ex:by ex:somebody ; ex:sent {} ."
    event = {"specversion": "1.0", "source": marked, "type": "report", "datacontenttype": "text/turtle"}
    topics = SUBSCRIPTIONS // EACH
    return json.dumps([event | {"id": str(n), "data": data.format(n * 7919 % topics, n)} for n in numbers])


def warm_up(store: Store, address: str) -> None:
    """Until the pipeline has compiled what it runs."""
    for number in range(20):
        httpx.post(f"{address}/v1/events", content=body(range(number * 50, number * 50 + 50), "w"), headers=KIND)
    while store.pipeline_position() < store.last_position():
        time.sleep(0.2)


def held(store: Store, address: str, process: subprocess.Popen[str], rate: int, seconds: float) -> dict[str, Any]:
    """The rates that are reached, and where the time goes."""
    first, before = store.last_position(), store.last_notification()
    began, used = time.monotonic(), _processor(process.pid)
    ours, theirs = multiprocessing.Pipe()
    sender = multiprocessing.get_context("spawn").Process(target=_send, args=(theirs, address, rate, seconds))
    sender.start()
    accepted, refused, waits = ours.recv()
    sender.join()
    sent = time.monotonic() - began
    lag = store.last_position() - store.pipeline_position()
    while store.pipeline_position() < store.last_position():
        time.sleep(0.05)
    done = time.monotonic() - began
    report = json.loads((_home(store, process) / "pipeline.json").read_text())
    events, told = store.last_position() - first, store.last_notification() - before
    assert (events, told) == (accepted, EACH * accepted), f"{events} events, {told} notifications, {accepted} accepted"
    return {
        "accepted_per_second": round(accepted / sent),
        "matched_per_second": round(accepted / done),
        "refused": refused,
        "lag_at_the_end": lag,
        "publish_ms": _quantiles(waits),
        "broker_processor_share": round((_processor(process.pid) - used) / done, 2),
        "pipeline_seconds": {name: round(spent, 1) for name, spent in report["seconds_total"].items()},
    }


def _home(store: Store, process: subprocess.Popen[str]) -> Path:
    arguments = process.args
    assert isinstance(arguments, list)
    return Path(str(arguments[arguments.index("--home") + 1]))


def _send(answers: Connection, address: str, rate: int, seconds: float) -> None:
    """Publish batches at a rate, from as many connections as keep it up."""
    batches = int(rate * seconds / BATCH)
    texts = [body(range(n * BATCH, (n + 1) * BATCH), "b").encode() for n in range(batches)]
    waits: list[float] = []
    counts = {202: 0, 429: 0}
    begin = time.monotonic()

    def run(mine: range) -> None:
        with httpx.Client(base_url=address, timeout=60) as client:
            for n in mine:
                time.sleep(max(begin + n * BATCH / rate - time.monotonic(), 0))
                asked = time.monotonic()
                status = client.post("/v1/events", content=texts[n], headers=KIND).status_code
                waits.append(time.monotonic() - asked)
                counts[status] += BATCH

    threads = [threading.Thread(target=run, args=(range(k, batches, SENDERS),)) for k in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers.send((counts[202], counts[429], waits))


def latency(store: Store, address: str, seconds: float) -> dict[str, Any]:
    """From publishing to a client of the stream, and the broker's own part: accepting it, and telling of it."""
    sent: dict[str, float] = {}
    heard: dict[str, float] = {}
    written: dict[str, float] = {}
    posts: list[float] = []
    count = int(SLOW * seconds)

    def listen() -> None:
        with httpx.stream("GET", f"{address}/v1/notifications/stream", timeout=None) as response:
            for line in response.iter_lines():
                if line.startswith("data:"):
                    event = json.loads(line[5:])
                    heard.setdefault(event["event"], time.time())
                    written.setdefault(event["event"], _seconds(event["created"]))
                    if len(heard) == count:
                        return

    listener = threading.Thread(target=listen)
    listener.start()
    time.sleep(0.5)
    with httpx.Client(base_url=address) as client:
        begin = time.time()
        for n in range(count):
            time.sleep(max(begin + n / SLOW - time.time(), 0))
            sent[str(n)] = time.time()
            client.post("/v1/events", content=body(range(n, n + 1), "l"), headers=KIND)
            posts.append(time.time() - sent[str(n)])
    listener.join(120)
    telling = [heard[id_] - written[id_] for id_ in heard]
    return {
        "publish_to_stream_ms": _quantiles([heard[id_] - sent[id_] for id_ in heard]),
        "of_this_accepting_ms": _quantiles(posts),
        "of_this_telling_ms": _quantiles(telling),
    }


def _seconds(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment).timestamp()


def idle(address: str, process: subprocess.Popen[str], clients: int) -> dict[str, Any]:
    """What clients of the stream cost that are told nothing."""
    before = _memory(process.pid)
    if clients == 0:
        return {}
    memory = asyncio.run(_connect(address, process.pid, clients))
    return {
        "idle_clients": clients,
        "idle_clients_mb": round((memory - before) / 1e6),
        "broker_mb": round(memory / 1e6),
    }


async def _connect(address: str, pid: int, clients: int) -> int:
    host, port = address.removeprefix("http://").split(":")
    request = f"GET /v1/notifications/stream HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    writers = []
    for _ in range(clients):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request)
        assert b"200" in await reader.readline()
        writers.append(writer)
    memory = _memory(pid)
    for writer in writers:
        writer.close()
    return memory


def _memory(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def _processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _quantiles(waits: list[float]) -> dict[str, float]:
    ordered = sorted(waits)
    return {f"p{q}": round(ordered[min(int(len(ordered) * q / 100), len(ordered) - 1)] * 1000, 1) for q in (50, 99)}


if __name__ == "__main__":
    main()
