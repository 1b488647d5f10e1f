"""What the broker holds: ``python -m benchmarks.broker [--store URL] [--rate R] [--seconds T] [--idle N]``.

Events are published in batches of 50 by a second process, at a rate that is held for so many seconds. Each is durable
before it is accepted, and is matched by the real pipeline with 10,000 subscriptions, ten of which it trips. Prints one
JSON line: the rates at which events were accepted and matched, where the time went, how long an event took to a client
of the stream and the broker's own part of it, and what idle clients of the stream cost.

How long events take is measured at 100 a second, each published by itself when its time has come, whatever became of
those before it, by one process and heard by another. The broker's own part is *accepting*, from sending the request to
having the answer, and *telling*, from the moment that notifications bear, which the pipeline takes right before it
inserts and commits them, to having read the message. So both hold a little that is not the broker's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import psutil

from benchmarks.report import report
from tests.postgres import PostgreSQL
from triplewire.store import Store, store_url
from triplewire.store.revisions import insert_revision

BATCH = 50
SUBSCRIPTIONS, EACH = 10_000, 10
SENDERS = 4
SLOW = 100
"""The events a second at which it is measured how long one takes."""
LONGEST = 15.0
"""Seconds for which that is measured at most."""
PATIENCE = 180.0
"""Seconds without any progress after which it is given up."""
KIND = {"Content-Type": "application/cloudevents-batch+json"}
PREFIXES = {"ex": "http://example.org/"}
DATA = "@prefix ex: <http://example.org/> . _:H a ex:Report ; ex:topic {} ; ex:by ex:somebody ; ex:sent {} ."


@dataclass(frozen=True)
class Running:
    """A broker with its pipeline, its store, and the server of that, if it is ours."""

    store: Store
    home: Path
    address: str
    process: subprocess.Popen[str]
    database: int | None

    def used(self) -> Counter[str]:
        """Seconds of processor time by now, by what they were used for."""
        seconds: Counter[str] = Counter()
        for root, name in ((self.process.pid, None), (self.database, "database")):
            for process in _family(root):
                with suppress(psutil.Error):
                    spent = process.cpu_times()
                    seconds[name or _part(process, root)] += spent.user + spent.system
        return seconds

    def stages(self) -> Counter[str]:
        """Seconds that the pipeline's stages have taken by now."""
        with suppress(OSError):
            return Counter(json.loads((self.home / "pipeline.json").read_text())["stages"])
        return Counter()

    def behind(self) -> int:
        """How many events are yet to be matched."""
        return self.store.last_position() - self.store.pipeline_position()

    def catch_up(self) -> None:
        """Wait until all is matched."""
        best, since = self.behind(), time.monotonic()
        while now := self.behind():
            if now < best:
                best, since = now, time.monotonic()
            assert self.process.poll() is None, "the broker has ended"
            assert time.monotonic() - since < PATIENCE, f"the pipeline stands still, {now} events behind"
            time.sleep(0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", default="sqlite", help="a store's address; of a new one: sqlite or postgresql")
    parser.add_argument("--rate", type=int, default=500, help="events a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--idle", type=int, default=500, help="idle clients of the stream")
    given = parser.parse_args()
    with running(given.store) as broker:
        told = {"store": broker.store.url.split(":")[0], "rate": given.rate, "seconds": given.seconds}
        for step in (
            lambda: warm_up(broker),
            lambda: held(broker, given.rate, given.seconds),
            lambda: latency(broker, min(given.seconds, LONGEST)),
            lambda: idle(broker, given.idle),
        ):
            told |= step()
    print(json.dumps(told))
    name = f"broker-{told['store'].split('+')[0]}-{given.rate}"
    report(name, (__doc__ or "").partition("\n\n")[2], [{"what": what, "found": told[what]} for what in told])


@contextmanager
def running(store: str) -> Iterator[Running]:
    subprocess.run([sys.executable, "-m", "triplewire.matching.engine.warmup"], check=True)  # as `make run` does
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # for the clients, which are in this process
    with ExitStack() as ending:
        home = Path(ending.enter_context(tempfile.TemporaryDirectory()))
        database = None
        if store == "sqlite":
            store = store_url(home)
        elif store == "postgresql":
            server = ending.enter_context(closing(PostgreSQL(fsync="on", shared_buffers="256MB")))
            database, store = server.pid, ending.enter_context(server.database())
        opened = ending.enter_context(closing(Store(store)))
        subscribe(opened)
        address, process = ending.enter_context(serving(home, store))
        yield Running(opened, home, address, process, database)


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
    started = _family(process.pid)
    assert process.stdout is not None
    reading = threading.Thread(target=process.stdout.read, daemon=True)
    try:
        address = re.search(r"http://[^\s/]+", process.stdout.readline())
        assert address is not None, "the broker did not start"
        reading.start()
        yield address[0], process
    finally:
        started += _family(process.pid)
        process.terminate()
        _, left = psutil.wait_procs(started, 60)
        for one in left:
            one.kill()
        process.wait()
        if reading.ident is not None:
            reading.join()
        process.stdout.close()


def _family(pid: int | None) -> list[psutil.Process]:
    """A process, if there is one, and all that it has started."""
    with suppress(psutil.Error):
        return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)] if pid is not None else []
    return []


def _part(process: psutil.Process, broker: int | None) -> str:
    if process.pid == broker:
        return "broker"
    command = " ".join(process.cmdline())
    return "jvm" if "java" in process.name() else "driver" if "pipeline stream" in command else "workers"


def until(condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"waited {patience:.0f} s in vain for {what}"
        time.sleep(0.02)


def body(numbers: range, marked: str) -> bytes:
    """A batch of events, each with a topic that ten subscriptions ask for."""
    event = {"specversion": "1.0", "source": marked, "type": "report", "datacontenttype": "text/turtle"}
    topics = SUBSCRIPTIONS // EACH
    return json.dumps([event | {"id": str(n), "data": DATA.format(n * 7919 % topics, n)} for n in numbers]).encode()


def warm_up(broker: Running) -> dict[str, Any]:
    """Until the pipeline has compiled what it runs."""
    began = time.monotonic()
    with httpx.Client(base_url=broker.address, timeout=60) as client:
        for number in range(40):
            numbers = range(number * BATCH, (number + 1) * BATCH)
            client.post("/v1/events", content=body(numbers, "w"), headers=KIND).raise_for_status()
            if number % 10 == 0:
                broker.catch_up()
    broker.catch_up()
    return {"warm_up_seconds": round(time.monotonic() - began, 1)}


def held(broker: Running, rate: int, seconds: float) -> dict[str, Any]:
    """The rates that are reached, and where the time goes."""
    first, before = broker.store.last_position(), broker.store.last_notification()
    used, stages = broker.used(), broker.stages()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        sending = pool.apply_async(_send, (broker.address, rate, seconds))
        sent = sending.get(10 * seconds + PATIENCE)
        matched, lag = broker.store.pipeline_position() - first, broker.behind()
    broker.catch_up()
    until(lambda: broker.store.last_notification() - before >= EACH * sent["accepted"], "the last notifications", 10)
    done = time.time() - sent["began"]
    told = broker.store.last_notification() - before
    assert told == EACH * sent["accepted"], f"{told} notifications of {sent['accepted']} events"
    time.sleep(1)  # the report of the last batch is written after it
    took = {part: round(spent, 1) for part, spent in (broker.used() - used).items()} | {"sender": sent["used"]}
    return {
        "accepted_per_second": round(sent["accepted"] / sent["took"]),
        "matched_per_second": round(matched / sent["took"]),
        "matched_per_second_to_the_last": round(sent["accepted"] / done),
        "refused": sent["refused"],
        "lag_at_the_end": lag,
        "publish_ms": _quantiles(sent["waits"]),
        "stage_seconds": {stage: round(spent, 1) for stage, spent in (broker.stages() - stages).items()},
        "processor_seconds": took,
        "processor_us_per_notification": {part: round(spent / max(told, 1) * 1e6, 1) for part, spent in took.items()},
    }


def _send(address: str, rate: int, seconds: float) -> dict[str, Any]:
    """Publish batches at a rate, from as many connections as keep it up."""
    batches = int(rate * seconds / BATCH)
    texts = [body(range(n * BATCH, (n + 1) * BATCH), "b") for n in range(batches)]
    waits: list[float] = []
    counts: Counter[int] = Counter()
    used, began = time.process_time(), time.time()

    def run(mine: range) -> None:
        with httpx.Client(base_url=address, timeout=60) as client:
            for n in mine:
                time.sleep(max(began + n * BATCH / rate - time.time(), 0))
                if time.time() - began > 2 * seconds:
                    return
                asked = time.time()
                status = client.post("/v1/events", content=texts[n], headers=KIND).status_code
                waits.append(time.time() - asked)
                counts[status] += BATCH

    threads = [threading.Thread(target=run, args=(range(k, batches, SENDERS),)) for k in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, accepted = time.time() - began, counts.pop(202, 0)
    return {
        "began": began,
        "took": max(took, seconds),
        "used": round(time.process_time() - used, 1),
        "accepted": accepted,
        "refused": sum(counts.values()),
        "waits": waits,
    }


def latency(broker: Running, seconds: float) -> dict[str, Any]:
    """From publishing to a client of the stream, and the broker's own part: accepting it, and telling of it."""
    count = int(SLOW * seconds)
    used = broker.used()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        after = broker.store.last_notification()
        listening = pool.apply_async(_listen, (broker.address, after, count, seconds + PATIENCE))
        sent = pool.apply_async(_send_slowly, (broker.address, count)).get(seconds + PATIENCE)
        heard = listening.get(PATIENCE)
    assert len(heard) == count, f"heard of {len(heard)} of {count} events"
    accepting = {id_: answered - asked for id_, (asked, answered) in sent.items()}
    telling = {id_: now - written for id_, (now, written) in heard.items()}
    return {
        "publish_to_stream_ms": _quantiles([heard[id_][0] - sent[id_][0] for id_ in heard]),
        "accepting_ms": _quantiles(list(accepting.values())),
        "telling_ms": _quantiles(list(telling.values())),
        "brokers_share_ms": _quantiles([accepting[id_] + telling[id_] for id_ in heard]),
        "latency_processor_seconds": {part: round(spent, 1) for part, spent in (broker.used() - used).items()},
    }


def _send_slowly(address: str, count: int) -> dict[str, tuple[float, float]]:
    """Publish events one by one, each when its time has come; when it was sent, and when the answer was there."""
    sent: dict[str, tuple[float, float]] = {}
    texts = [body(range(n, n + 1), "l") for n in range(count)]
    begin = time.time() + 0.2

    def run(mine: range) -> None:
        connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
        for n in mine:
            time.sleep(max(begin + n / SLOW - time.time(), 0))
            asked = time.time()
            connection.request("POST", "/v1/events", texts[n], KIND)
            answer = connection.getresponse()
            answer.read()
            sent[str(n)] = asked, time.time()
            assert answer.status == HTTPStatus.ACCEPTED, answer.status

    threads = [threading.Thread(target=run, args=(range(k, count, 2 * SENDERS),)) for k in range(2 * SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sent


def _listen(address: str, after: int, count: int, patience: float) -> dict[str, tuple[float, float]]:
    """When the first notification of each event came, and the moment that it bears; read afterwards, not meanwhile."""
    lines: list[tuple[float, bytes]] = []
    deadline = time.monotonic() + patience
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.request("GET", f"/v1/notifications/stream?after={after}")
    for line in connection.getresponse():
        if line.startswith(b"data:"):
            lines.append((time.time(), line))
        if len(lines) == EACH * count or time.monotonic() > deadline:
            break
    heard: dict[str, tuple[float, float]] = {}
    for now, line in lines:
        event = json.loads(line[5:])
        heard.setdefault(event["event"], (now, datetime.fromisoformat(event["created"]).timestamp()))
    return heard


def idle(broker: Running, clients: int) -> dict[str, Any]:
    """What clients of the stream cost that are told nothing."""
    process = psutil.Process(broker.process.pid)
    before = process.memory_info().rss
    memory, used = asyncio.run(_connect(broker.address, process, clients))
    return {
        "idle_clients": clients,
        "idle_clients_mb": round((memory - before) / 1e6),
        "idle_processor_share": round(used, 3),
        "broker_mb": round(memory / 1e6),
    }


async def _connect(address: str, process: psutil.Process, clients: int) -> tuple[int, float]:
    """The broker's memory with so many clients, and the share of a processor that they take."""
    host, port = address.removeprefix("http://").split(":")
    request = f"GET /v1/notifications/stream HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    at_once = asyncio.Semaphore(20)

    async def connect() -> asyncio.StreamWriter:
        async with at_once, asyncio.timeout(60):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(request)
            answer = await reader.readline()
            assert b" 200 " in answer, answer
            return writer

    writers = await asyncio.gather(*(connect() for _ in range(clients)))
    used, began = process.cpu_times(), time.monotonic()
    await asyncio.sleep(5)
    after = process.cpu_times()
    share = (after.user + after.system - used.user - used.system) / (time.monotonic() - began)
    memory: int = process.memory_info().rss
    for writer in writers:
        writer.close()
    return memory, share


def _quantiles(waits: list[float]) -> dict[str, float]:
    ordered = sorted(waits)
    return {f"p{q}": round(ordered[len(ordered) * q // 100] * 1000, 1) for q in (50, 99)} if ordered else {}


if __name__ == "__main__":
    main()
