"""What many subscriptions cost a pipeline: memory beside the index, and the way of a stream to its first batch.

``python -m benchmarks.many run INDEX`` matches events with the index in a folder, and with one of a thousand
subscriptions, in as many workers as there are cores. ``python -m benchmarks.many stream N`` starts a stream on a store
of N ``ops`` subscriptions, and on one of a few more than a thousand. Memory is the sum of what all processes hold (PSS,
in which shared pages count once), a JVM's too; what many subscriptions cost is the difference. One line of JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.pipeline import _offer, below, cpu_below, on_spark, prepare, pss
from benchmarks.subscriptions import PREFIXES, ops_text
from triplewire.store import LOCAL, Store, store_url
from triplewire.store.revisions import insert_revision

FEW = 1_001
"""More than every worker reads for itself."""
EVENTS, CORES = 20_000, 2
SETTLED = 5
"""Seconds after the first batch when memory is looked at."""


def run(index: Path) -> dict[str, object]:
    """The memory of workers with a large index and with a small one."""
    with TemporaryDirectory() as place:
        few, many = Path(place, "few"), Path(place, "many")
        few.mkdir()
        many.mkdir()
        prepare(few, EVENTS, FEW, 8)
        (many / "index").symlink_to(index.absolute())
        (many / "events").symlink_to(few / "events")
        held = [sum(on_spark(one, CORES, EVENTS)["MB by process (PSS)"]) for one in (few, many)]  # type: ignore[call-overload]
    return _told(_size(index), held[0], held[1])


def stream(count: int) -> dict[str, object]:
    """The memory of streams on many and on few subscriptions, and how long they take to the first batch."""
    few, many = _streamed(FEW), _streamed(count)
    seconds = {"s to the first batch": many[2], "CPU s": many[3], "with few, s": few[2], "with few, CPU s": few[3]}
    return {"subscriptions": count} | seconds | _told(many[0], few[1], many[1])


def _streamed(count: int) -> tuple[int, int, float, float]:
    """MB of the snapshot, MB that the stream's processes hold, and seconds to the first batch, the CPU's too."""
    with TemporaryDirectory() as place:
        home = Path(place)
        store = Store(store_url(home))
        _subscribe(store, count)
        store.append([_offer(1, 1)])
        command = [sys.executable, "-m", "triplewire", "pipeline", "stream", "--home", str(home)]
        began = time.perf_counter()
        process = subprocess.Popen(command)
        try:
            while store.pipeline_position() == 0 and process.poll() is None:
                time.sleep(0.05)
            took, cpu = time.perf_counter() - began, cpu_below(process.pid)
            time.sleep(SETTLED)
            held = sum(pss(pid) >> 20 for pid in (process.pid, *below(process.pid)))
            size = sum(_size(path) for path in home.rglob("*@*") if path.is_dir())
        finally:
            process.terminate()
            process.wait()
    return size, held, round(took, 1), round(cpu, 1)


def _subscribe(store: Store, count: int) -> None:
    shape = random.Random(1)
    with store._writing() as connection:
        for number in range(count):
            record = {"id": f"s{number:08}", "language": "ops", "prefixes": PREFIXES}
            insert_revision(connection, record | {"pattern": ops_text(shape, shape.randrange(1000))}, LOCAL, 0)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) >> 20


def _told(index: int, few: int, many: int) -> dict[str, object]:
    times = round((many - few) / max(index, 1), 2)
    return {"index, MB": index, "with few, MB": few, "with many, MB": many, "cost, times the index": times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "stream"])
    parser.add_argument("given", help="the index, or how many subscriptions")
    asked = parser.parse_args()
    told = run(Path(asked.given)) if asked.what == "run" else stream(int(asked.given))
    print(json.dumps(told))


if __name__ == "__main__":
    main()
