"""The whole way: from an event on disk to its notification, through the real Spark query, at a steady rate."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from benchmarks.report import report
from triplewire.store import Store, store_url
from triplewire.testing import cloud_event

SUBSCRIPTION = {"id": "s", "language": "filter", "pattern": "ex:n >= 0", "prefixes": {"ex": "http://example.org/"}}


def main(rate: int = 100, seconds: int = 20) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(store_url(Path(folder)))
        store.subscribe(SUBSCRIPTION)
        _publish(store, -1)
        start = time.perf_counter()
        stream = subprocess.Popen(
            [sys.executable, "-m", "triplewire", "pipeline", "stream", "--home", folder], stderr=subprocess.DEVNULL
        )
        try:
            _until(lambda: store.last_notification() > 0)
            first = time.perf_counter() - start
            _measure(store, rate, 5)  # warms what compiles as it runs
            delays = _measure(store, rate, seconds)
        finally:
            stream.terminate()
            stream.wait()
            store.close()
    rows = [
        {
            "start to first notification, s": f"{first:.1f}",
            **{f"p{p}, ms": f"{_percentile(delays, p):.0f}" for p in (50, 95, 99)},
        }
    ]
    report("way", f"{rate} events a second for {seconds} s, each on disk before the next; store to store.", rows)


def _measure(store: Store, rate: int, seconds: int) -> list[float]:
    """The delays, in milliseconds, of events published at a steady rate."""
    published: dict[int, float] = {}
    delays: list[float] = []
    seen = store.last_notification()
    begin = time.perf_counter()
    total = rate * seconds
    while len(delays) < total:
        now = time.perf_counter()
        while len(published) < total and len(published) < (now - begin) * rate:
            position = _publish(store, seen + len(published))
            published[position] = time.perf_counter()
        arrived = store.notifications(seen, 1000)
        now = time.perf_counter()
        delays += [(now - published[n.position]) * 1000 for n in arrived]
        seen = arrived[-1].number if arrived else seen
        time.sleep(0.002)
    return delays


def _publish(store: Store, number: int) -> int:
    event = cloud_event(f"_:H <http://example.org/n> {abs(number)} .", id=uuid4().hex)
    return store.append([(event["source"], event["id"], json.dumps(event))])[0]


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def _until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.01)


if __name__ == "__main__":
    main()
