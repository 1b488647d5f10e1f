"""An index in shards on Spark, beside the whole: ``python -m benchmarks.shards --events N --subscriptions S``.

Events and subscriptions are those of ``benchmarks.pipeline``. For each number of shards a JSON line: how many of them
an event visits, what of it is sent to them, the size of the largest one beside the whole index, and events a second
from Parquet to Parquet. All are measured in one session, one after the other; of several rounds the best counts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.pipeline import ROUNDS, prepare
from benchmarks.workloads.ops import Workload
from triplewire.matching.engine.chunks import compile_chunks, repeated
from triplewire.matching.engine.shards import ROOTS, Router, build_shards, shard_folder
from triplewire.pipeline import stage
from triplewire.pipeline.session import session
from triplewire.pipeline.sharding import SCHEMA, match_routed, route_events
from triplewire.pipeline.shipping import Shards, Shipped, open_index, open_router, ship, ship_shards


def prepare_shards(folder: Path, subscriptions: int, counts: list[int]) -> None:
    """The same subscriptions as in the whole index, as shards."""
    workload = Workload()
    compiled = compile_chunks((workload.subscription(f"s{n:07}", 7, 8) for n in range(subscriptions)), workload.model)
    chunks = list(compiled)
    for count in counts:
        build_shards(chunks, workload.model, repeated(chunks), count, folder / f"shards-{count}")


def visits(folder: Path, shards: Path) -> dict[str, float]:
    """How many shards the events visit, and the bytes that travel there."""
    router = Router(shards)
    (batch,) = pq.read_table(next((folder / "events").iterdir())).combine_chunks().to_batches()
    told = router.of_batch(batch)
    size = sum(len(text) for text in batch.column("data").take(pa.array(told.rows)).to_pylist())
    return {"shards visited": round(len(told.rows) / len(batch), 2), "KB sent": round(size / len(batch) / 1024, 1)}


def whole(events: DataFrame, shipped: Shipped) -> DataFrame:
    return events.mapInArrow(partial(_match, shipped=shipped), stage.SCHEMA)


def sharded(events: DataFrame, shards: Shards) -> DataFrame:
    return match_routed(events.mapInArrow(partial(_route, shards=shards), SCHEMA), shards, bindings=False)


def _match(batches: Iterable[pa.RecordBatch], shipped: Shipped) -> Iterator[pa.RecordBatch]:
    return stage.match_events(batches, open_index(shipped))


def _route(batches: Iterable[pa.RecordBatch], shards: Shards) -> Iterator[pa.RecordBatch]:
    return route_events(batches, open_router(shards))


def rate(spark: SparkSession, folder: Path, job: Callable[[DataFrame], DataFrame], events: int) -> int:
    """Events a second."""
    best = float("inf")
    for _ in range(ROUNDS + 1):  # the first is for the compiler of the JVM
        shutil.rmtree(folder / "out", ignore_errors=True)
        began = time.perf_counter()
        job(spark.read.parquet(str(folder / "events"))).select("id", "matches", "told").write.parquet(
            str(folder / "out")
        )
        best = min(best, time.perf_counter() - began)
    return round(events / best)


def size_of(folder: Path) -> float:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 3, 64])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder, asked.events, asked.subscriptions, 8)
        prepare_shards(folder, asked.subscriptions, asked.shards)
        spark = session("local[2]")
        job = partial(whole, shipped=ship(spark.sparkContext, folder / "index"))
        told = {"index, MB": size_of(folder / "index"), "events a second": rate(spark, folder, job, asked.events)}
        print(json.dumps(told), flush=True)
        for count in asked.shards:
            shards = folder / f"shards-{count}"
            job = partial(sharded, shards=ship_shards(spark.sparkContext, shards))
            largest = max(size_of(shard_folder(shards, number)) for number in range(count))
            told = {"shards": count, **visits(folder, shards), "largest, MB": largest}
            told |= {"roots, MB": size_of(shards / ROOTS), "events a second": rate(spark, folder, job, asked.events)}
            print(json.dumps(told), flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
