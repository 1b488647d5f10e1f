"""The pipeline beside the engine alone: ``python -m benchmarks.pipeline --events N --subscriptions S --cores C``.

Canonical events of 55 triples (29 arcs, 26 types), as N-Quads in Parquet, are matched with ``ops`` subscriptions of
which about 3% match each event, and groups of matches written to Parquet. Beside it, in the same run, the engine's
batch call on the same bytes, in as many processes as there are cores. One JSON line: events a second of both, CPU
seconds by stage, and what the workers hold in memory. Of several rounds the best counts, for either.

``steady`` leaves out what a job costs however few its events are, planning and committing: it is by the time that
a job on all of them takes longer than one on a quarter. To see what a second core brings, run it with ``--cores 1``
and ``--cores 2`` on the same ``--folder``; the engine's two figures tell what the machine itself allows.

``--latency`` instead starts ``triplewire pipeline stream`` and tells how long it takes to the first batch, from
publishing to notification at 100 events a second, and from subscribing to the notification of an event that is
published right after.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import Accumulator
from pyspark.sql import SparkSession

from benchmarks.workloads.ops import Workload
from triplewire.matching.engine.index import Index
from triplewire.pipeline import canonical, stage
from triplewire.pipeline.session import session
from triplewire.pipeline.shipping import Shipped, open_index, ship
from triplewire.rdf.syntax import write
from triplewire.store import Store, store_url

DISTINCT = 2_000
ROUNDS = 3
WARMING = 2
"""So many rounds more are for the compiler of the JVM; where one round is all, it only has to work."""
ROWS = 10_000
FIRSTS = 50
TICK = os.sysconf("SC_CLK_TCK")


def prepare(folder: Path, events: int, subscriptions: int, files: int) -> None:
    """The index, and the events in some files of equal size."""
    workload = Workload()
    index = Index.build((workload.subscription(f"s{n:07}", 7, 8) for n in range(subscriptions)), workload.model)
    index.save(folder / "index")
    index.close()
    texts = [write(workload.event("", 26, 29).graph.arcs) for _ in range(min(DISTINCT, events))]
    (folder / "events").mkdir()
    for number in range(files):
        mine = range(number, events, files)
        rows = [
            canonical.Row(n, source="benchmark", envelope=f"e{n}", id=f"e{n}", home="_:H", data=texts[n % len(texts)])
            for n in mine
        ]
        pq.write_table(pa.Table.from_batches(canonical.record_batches(rows)), folder / "events" / f"{number}.parquet")


def engine_alone(folder: Path, cores: int, rounds: int) -> dict[str, float]:
    """Events a second, and CPU microseconds an event, of processes that do nothing but the batch call."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(cores + 1)
    queue = context.Queue()
    arguments = (folder / "index", sorted((folder / "events").iterdir()), cores, rounds, barrier, queue)
    workers = [context.Process(target=_match_alone, args=(n, *arguments)) for n in range(cores)]
    for worker in workers:
        worker.start()
    best = float("inf")
    for _ in range(rounds):
        barrier.wait()
        began = time.perf_counter()
        barrier.wait()
        best = min(best, time.perf_counter() - began)
    told = [queue.get() for _ in workers]
    for worker in workers:
        worker.join()
    events = sum(count for count, _, _ in told)
    return {
        "events a second": round(events / best),
        "CPU µs an event": round(sum(cpu for _, cpu, _ in told) / events * 1e6, 1),
        "matches an event": round(sum(found for _, _, found in told) / events, 1),
    }


def _match_alone(
    number: int, index: Path, files: list[Path], cores: int, rounds: int, barrier: object, queue: object
) -> None:
    opened = Index.open(index)
    batches = [b for file in files[number::cores] for b in pq.read_table(file).combine_chunks().to_batches(ROWS)]
    opened.match_batch(batches[0])
    least, found = float("inf"), 0
    for _ in range(rounds):
        barrier.wait()  # type: ignore[attr-defined]
        began = time.process_time()
        found = sum(len(opened.match_batch(batch).subscriptions) for batch in batches)
        least = min(least, time.process_time() - began)
        barrier.wait()  # type: ignore[attr-defined]
    queue.put((sum(batch.num_rows for batch in batches), least, found))  # type: ignore[attr-defined]


def on_spark(folder: Path, cores: int, events: int, rounds: int) -> dict[str, object]:
    """The same on Spark, from Parquet to Parquet."""
    spark = session(f"local[{cores}]")
    shipped = ship(spark.sparkContext, folder / "index")
    matching, waiting = spark.sparkContext.accumulator(0.0), spark.sparkContext.accumulator(0.0)
    jvm = int(spark._jvm.ProcessHandle.current().pid())  # type: ignore[union-attr]
    best: dict[str, object] = {}
    files = sorted((folder / "events").iterdir())
    least, least_of_quarter = float("inf"), float("inf")
    warming = WARMING if rounds > 1 else 0
    for number in range(warming + rounds):
        before = _cpu(jvm), cpu_below(jvm), matching.value, waiting.value
        took = _match_on_spark(spark, files, folder / "out", shipped, matching, waiting)
        after = _cpu(jvm), cpu_below(jvm), matching.value, waiting.value
        jvm_cpu, python_cpu, match_cpu, exchange_cpu = (b - a for a, b in zip(before, after, strict=True))
        few = _match_on_spark(spark, files[: len(files) // 4], folder / "out", shipped, matching, waiting)
        rate = round(events / took)
        if number >= warming:
            least, least_of_quarter = min(least, took), min(least_of_quarter, few)
        if number >= warming and rate > int(best.get("events a second", 0)):  # type: ignore[call-overload]
            best = {
                "events a second": rate,
                "CPU seconds": {
                    "JVM: reading and writing Parquet, exchange": round(jvm_cpu, 2),
                    "Python: matching": round(match_cpu, 2),
                    "Python: taking batches in": round(exchange_cpu, 2),
                    "Python: the rest": round(python_cpu - match_cpu - exchange_cpu, 2),
                },
                "CPU µs an event": round((jvm_cpu + python_cpu) / events * 1e6, 1),
            }
    best["steady, events a second"] = round(events * 3 / 4 / max(least - least_of_quarter, 1e-9))
    best["MB by process (PSS)"] = [round(pss(pid) / 2**20) for pid in below(jvm)]
    spark.stop()
    return best


def _match_on_spark(
    spark: SparkSession,
    files: list[Path],
    out: Path,
    shipped: Shipped,
    matching: Accumulator[float],
    waiting: Accumulator[float],
) -> float:
    """Match the events of some files; returns the seconds that it took."""
    shutil.rmtree(out, ignore_errors=True)
    began = time.perf_counter()
    events = spark.read.parquet(*map(str, files))
    work = partial(_timed, shipped=shipped, matching=matching, waiting=waiting)
    events.mapInArrow(work, stage.SCHEMA).select("id", "version", "matches", "told").write.parquet(str(out))
    return time.perf_counter() - began


def _timed(
    batches: Iterable[pa.RecordBatch], shipped: Shipped, matching: Accumulator[float], waiting: Accumulator[float]
) -> Iterator[pa.RecordBatch]:
    """The stage, with the CPU seconds that it and its input take added up."""
    index = open_index(shipped)
    coming = iter(batches)
    while True:
        began = time.thread_time()
        batch = next(coming, None)
        waiting.add(time.thread_time() - began)
        if batch is None:
            return
        began = time.thread_time()
        done = list(stage.match_events([batch], index, version="v1"))
        matching.add(time.thread_time() - began)
        yield from done


def latency(home: Path, rate: int, seconds: int, subscriptions: int) -> dict[str, object]:
    """From publishing to notification, through the store and the standing job."""
    store = Store(store_url(home))
    for n in range(subscriptions):
        _subscribe(store, n)
    store.append([_offer(-1, 0)])
    command = [sys.executable, "-m", "triplewire", "pipeline", "stream", "--home", str(home)]
    began = time.perf_counter()
    process = subprocess.Popen(command)
    try:
        while store.last_notification() == 0:
            time.sleep(0.01)
        start = time.perf_counter() - began
        _publish(store, rate, min(5, seconds) * rate, subscriptions)  # let it warm up
        times = _publish(store, rate, seconds * rate, subscriptions)
        firsts = [_first_match(store, subscriptions + n) for n in range(min(FIRSTS, 5 * seconds))]
    finally:
        process.terminate()
        process.wait()
    return {
        "start to first batch, s": round(start, 1),
        "events": len(times),
        "ms from publishing to notification": _percentiles(times),
        "subscriptions made": len(firsts),
        "ms from subscribing to notification": _percentiles(firsts),
    }


def _percentiles(times: list[float]) -> dict[str, int]:
    ordered = sorted(times)
    return {f"p{p}": round(1000 * ordered[min(len(ordered) * p // 100, len(ordered) - 1)]) for p in (50, 90, 99)}


def _subscribe(store: Store, price: int) -> None:
    pattern = f"(_:H, ?1, (ex:Desktop, ex:price, xsd:integer), ?1 = {price})"
    prefixes = {"ex": "http://example.org/"}
    store.subscribe({"id": f"s{price}", "language": "ops", "pattern": pattern, "prefixes": prefixes})


def _first_match(store: Store, price: int) -> float:
    """Subscribe to a price, publish it, and wait for the notification; returns the seconds that it took."""
    after = store.last_notification()
    began = time.perf_counter()
    _subscribe(store, price)
    store.append([_offer(store.last_position(), price)])
    while not any(found.subscription == f"s{price}" for found in store.notifications(after, 1000)):
        time.sleep(0.005)
    return time.perf_counter() - began


def _publish(store: Store, rate: int, count: int, subscriptions: int) -> list[float]:
    """Publish events at a rate, each of which trips one subscription; returns how long each notification took."""
    first = store.last_notification()
    last_event = store.last_position()
    sent: dict[int, float] = {}
    times: list[float] = []

    def look() -> None:
        after = first
        while len(times) < count:
            for found in store.notifications(after, 1000):
                times.append(time.perf_counter() - sent[found.position])
                after = found.number
            time.sleep(0.005)

    watcher = threading.Thread(target=look)
    watcher.start()
    begun = time.perf_counter()
    for n in range(count):
        time.sleep(max(0.0, begun + n / rate - time.perf_counter()))
        sent[last_event + n + 1] = time.perf_counter()
        store.append([_offer(last_event + n, n % subscriptions)])
    watcher.join(timeout=60)
    return times


def _offer(number: int, price: int) -> tuple[str, str, str]:
    data = (
        f"_:H <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Desktop> .\n"
        f'_:H <http://example.org/price> "{price}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    )
    envelope = {"specversion": "1.0", "id": f"e{number}", "source": "/benchmark", "type": "offer"}
    return "/benchmark", f"e{number}", json.dumps(envelope | {"datacontenttype": "application/n-quads", "data": data})


def _cpu(pid: int, children: bool = False) -> float:
    """CPU seconds of a process; with those of its children that have ended, if asked."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, fields[11 : 15 if children else 13])) / TICK


def cpu_below(pid: int) -> float:
    return sum(_cpu(child, children=True) for child in below(pid))


def below(pid: int) -> list[int]:
    """The processes that a process started, directly or not."""
    found = []
    for task in Path("/proc").glob(f"{pid}/task/*/children"):
        with suppress(OSError):  # a thread that has just ended
            found += [int(child) for child in task.read_text().split()]
    return [one for child in found for one in (child, *below(child))]


def pss(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:  # it has just ended
        return 0
    return 1024 * int(rollup.split("\nPss:")[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, help="where index and events are kept for the next run")
    parser.add_argument("--latency", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = asked.folder or Path(place)
        if asked.latency:
            print(json.dumps(latency(folder, 100, max(asked.events // 100, 1), asked.subscriptions)))
            return
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked.cores])
        if not (folder / "events").exists():
            prepare(folder, asked.events, asked.subscriptions, 8)
        size = sum(path.stat().st_size for path in (folder / "index").rglob("*") if path.is_file())
        told: dict[str, object] = {name: getattr(asked, name) for name in ("events", "subscriptions", "cores")}
        told["index, MB"] = round(size / 2**20, 1)
        told["engine"] = engine = engine_alone(folder, asked.cores, asked.rounds)
        told["pipeline"] = pipeline = on_spark(folder, asked.cores, asked.events, asked.rounds)
        told["share of the engine's"] = round(int(pipeline["events a second"]) / engine["events a second"], 2)  # type: ignore[call-overload]
        cpu = float(pipeline["CPU µs an event"])  # type: ignore[arg-type]
        told["share by CPU"] = round(engine["CPU µs an event"] / cpu, 2)
        print(json.dumps(told, ensure_ascii=False))


if __name__ == "__main__":
    main()
