"""Broker and pipeline under load for minutes, killed and changed on the way: is anything lost, told twice, or leaking?

``python -m benchmarks.soak --minutes 10`` publishes offers at a rate, and adds, revises and removes subscriptions to
what is cheap. In the first half the pipeline, or the broker that starts it, is killed now and then; some of Spark's
Python workers always are. What the subscriptions should have been told is plain arithmetic. Prints memory by kind of
process as it goes, on stderr, and one line of JSON; the exit status tells whether all is well.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from triplewire.errors import UsageError
from triplewire.store import Store, store_url

PREFIXES = {"ex": "http://example.org/"}
TICK = 0.1
FLAT = 1.25
"""By so much memory may differ between the third quarter and the last one."""


def offer(number: int, price: int) -> tuple[str, str, str]:
    data = f"<http://example.org/o{number}> <http://example.org/price> {price} ; a <http://example.org/Offer> ."
    envelope = {"specversion": "1.0", "id": f"e{number}", "source": "/soak", "type": "offer"}
    home = {"home": f"http://example.org/o{number}", "datacontenttype": "text/turtle", "data": data}
    return "/soak", f"e{number}", json.dumps(envelope | home)


def cheaper(id_: str, limit: int) -> dict[str, Any]:
    pattern = f"(_:H, ?1, (ex:Offer, ex:price, xsd:integer), ?1 < {limit})"
    return {"id": id_, "language": "ops", "pattern": pattern, "prefixes": PREFIXES, "limit": limit}


class Service:
    """The broker, which starts the pipeline, and all processes of its session; started again whenever it is gone."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.kills: Counter[str] = Counter()
        self.sessions: list[int] = []
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "triplewire", "serve", "--port", "0", "--home", str(self.home)]
        with (self.home / "broker.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self.sessions.append(self.process.pid)

    def keep(self) -> None:
        if self.process.poll() is not None:
            self.kills["ended by itself"] += 1
            self.start()

    def kill(self, rng: random.Random) -> None:
        """Kill the broker alone, or the pipeline and its JVM. The rest has to notice."""
        drivers = [pid for pid, kind in self.members() if kind == "driver" and os.getpgid(pid) == pid]
        if drivers and rng.random() < 0.5:
            with suppress(ProcessLookupError):
                os.killpg(drivers[0], signal.SIGKILL)
                self.kills["pipeline"] += 1
        else:
            self.process.kill()
            self.process.wait()
            self.kills["broker"] += 1
            self.start()

    def kill_worker(self, rng: random.Random) -> None:
        if workers := [pid for pid, kind in self.members() if kind == "workers"]:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
                self.kills["worker"] += 1

    def members(self) -> list[tuple[int, str]]:
        return members({self.process.pid})

    def memory(self) -> Counter[str]:
        """What the processes of each kind have in memory, in MB, of what is shared each its part."""
        total: Counter[str] = Counter()
        for pid, kind in self.members():
            with suppress(OSError, StopIteration):
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                total[kind] += next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) // 1024
        return total

    def end(self) -> int:
        """End it; how many processes, of all that it ever started, were left."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=60)
        time.sleep(2)
        left = members(set(self.sessions))
        for pid, _ in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        return len(left)


KINDS = {"broker": b"\0serve\0", "driver": b"\0stream\0", "JVM": b"java", "workers": b"triplewire.pipeline.daemon"}


def members(sessions: set[int]) -> list[tuple[int, str]]:
    """The processes of some sessions, and what each is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ProcessLookupError):
            if os.getsid(int(process.name)) in sessions and (command := (process / "cmdline").read_bytes()):
                kind = next((kind for kind, sign in KINDS.items() if sign in command), "others")
                found.append((int(process.name), kind))
    return found


class Load:
    """Publishes and changes."""

    def __init__(self, store: Store, rng: random.Random, subscriptions: int) -> None:
        self.store = store
        self.rng = rng
        self.published = self.changes = 0
        self.ids = [f"s{number:04}" for number in range(subscriptions)]
        for id_ in self.ids:
            store.subscribe(cheaper(id_, rng.randrange(30)))

    def publish(self, count: int) -> None:
        numbers = range(self.published, self.published + count)
        self.store.append([offer(number, self.rng.randrange(1000)) for number in numbers])
        self.published += count

    def change(self) -> None:
        id_ = self.rng.choice(self.ids)
        with suppress(UsageError):  # it may be gone, or there already
            match self.rng.randrange(3):
                case 0:
                    self.store.unsubscribe(id_)
                case 1:
                    self.store.subscribe(cheaper(id_, self.rng.randrange(30)))
                case _:
                    self.store.revise(cheaper(id_, self.rng.randrange(30)))
            self.changes += 1


def expected(store: Store) -> set[tuple[int, str]]:
    """What should have been told, by arithmetic."""
    last = store.last_position()
    revisions = store.revisions(0, last)
    found = set()
    for event in store.events(0, last):
        price = int(json.loads(event.body)["data"].split()[2])
        found |= {(event.position, r.id) for r in revisions if r.covers(event.position) and price < r.record["limit"]}
    return found


def soak(minutes: float, rate: int, subscriptions: int, seed: int, home: Path) -> dict[str, Any]:
    rng = random.Random(seed)
    store = Store(store_url(home))
    load, service = Load(store, rng, subscriptions), Service(home)
    began, end = time.monotonic(), time.monotonic() + 60 * minutes
    memory: list[tuple[float, Counter[str]]] = []
    worst = 0
    due = dict.fromkeys(("kill", "worker", "memory", "change"), began)
    due["kill"] = began + max(30, 4 * minutes)
    try:
        while (now := time.monotonic()) < end:
            load.publish(max(1, round(rate * TICK)))
            service.keep()
            if now >= due["change"]:
                load.change()
                due["change"] = now + 1
            if now >= due["kill"] and now < began + 30 * minutes:
                service.kill(rng)
                due["kill"] = now + rng.uniform(30, 60)
            if now >= due["worker"]:
                service.kill_worker(rng)
                due["worker"] = now + rng.uniform(15, 30)
            if now >= due["memory"]:
                memory.append((now - began, service.memory()))
                print(f"{now - began:6.0f} s  {_mb(memory[-1][1])}", file=sys.stderr)
                worst = max(worst, store.last_position() - store.pipeline_position())
                due["memory"] = now + 5
            time.sleep(max(0.0, now + TICK - time.monotonic()))
        last = store.last_position()
        patience = time.monotonic() + 300
        while store.pipeline_position() < last and time.monotonic() < patience:
            service.keep()
            time.sleep(0.2)
    finally:
        left = service.end()
    return _told(store, load, memory, minutes) | {"kills": dict(service.kills), "left": left, "worst_lag": worst}


def _told(store: Store, load: Load, memory: list[tuple[float, Counter[str]]], minutes: float) -> dict[str, Any]:
    told = store.notifications(limit=100_000_000)
    pairs = Counter((one.position, one.subscription) for one in told)
    wanted = expected(store)
    received = {event.position: event.received for event in store.events(0, store.last_position())}
    delays = sorted(_seconds(received[one.position], one.created) for one in told) or [0.0]
    quarters = [[mb for at, mb in memory if 15 * q * minutes <= at < 15 * (q + 1) * minutes] for q in (2, 3)]
    third, fourth = (
        {kind: round(statistics.median([mb[kind] for mb in quarter] or [0])) for kind in KINDS} for quarter in quarters
    )
    return {
        "minutes": minutes,
        "events": load.published,
        "changes": load.changes,
        "notifications": len(told),
        "lost": len(wanted - pairs.keys()),
        "wrong": len(pairs.keys() - wanted),
        "twice": sum(count - 1 for count in pairs.values()),
        "undone": store.last_position() - store.pipeline_position(),
        "delay_p50_s": round(delays[len(delays) // 2], 3),
        "delay_p99_s": round(delays[len(delays) * 99 // 100], 3),
        "memory_mb": {kind: [third[kind], fourth[kind]] for kind in KINDS},
        "flat": sum(fourth.values()) <= FLAT * sum(third.values()),
    }


def _mb(memory: Counter[str]) -> str:
    return ", ".join(f"{kind} {memory[kind]} MB" for kind in KINDS)


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=int, default=50, help="events a second")
    parser.add_argument("--subscriptions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    home = Path(mkdtemp(prefix="triplewire-soak-"))
    told = soak(chosen.minutes, chosen.rate, chosen.subscriptions, chosen.seed, home)
    print(json.dumps(told))
    well = told["flat"] and not any(told[name] for name in ("lost", "wrong", "twice", "undone", "left"))
    if well:
        shutil.rmtree(home)
    else:
        print(f"kept {home}", file=sys.stderr)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
