"""The second stage over an index in shards: an event goes to those that can match it, and its matches come together.

::

    lifted, routed ─► by shard ─► matched ─► by event ─► united
    a row for each     a task has   ids of              a row for each
    shard to visit     one shard    subscriptions       event

A worker has one shard open at a time, so none needs memory for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from triplewire.matching.engine.batch import read_event
from triplewire.matching.engine.shards import Router, Visits
from triplewire.pipeline import canonical, stage
from triplewire.pipeline.canonical import refusal_of, worth_kernels
from triplewire.pipeline.shipping import Shards, open_index

SCHEMA = f"{canonical.SCHEMA}, shard int"
ARROW_SCHEMA = canonical.ARROW_SCHEMA.append(pa.field("shard", pa.int32()))

TASKS = 2
"""So many tasks for each core there are at least, if need be several for one shard."""


def match_routed(routed: DataFrame, source: Shards, bindings: bool) -> DataFrame:
    """What comes of routed events, as ``stage`` has it, one row for each event, in no order."""
    count = len(source.shards)
    each = -(-TASKS * routed.sparkSession.sparkContext.defaultParallelism // count)
    task = sql.expr(f"shard * {each} + pmod(hash(position), {each})")
    work = partial(match_shards, source=source, bindings=bindings)
    matched = routed.repartitionById(count * each, task).mapInArrow(work, stage.SCHEMA)
    event = ["position", "entry"]
    united = matched.repartition(count * each, *event).groupBy(*event)
    lists = ("told", "lapses")
    rest = [sql.max(name).alias(name) for name in matched.columns if name not in (*event, *lists)]
    joined = [sql.sort_array(sql.flatten(sql.collect_list(name))).alias(name) for name in lists]
    return united.agg(*rest, *joined).select(*matched.columns)


def route_events(batches: Iterable[pa.RecordBatch], router: Router) -> Iterator[pa.RecordBatch]:
    """Canonical events, each as often as there are shards that can match it.

    One that none can match, or that cannot be read, goes to the first, without its data.
    """
    for batch in batches:
        there = np.flatnonzero(batch.column("data").is_valid().to_numpy(zero_copy_only=False))
        visits, refused = _visits(batch.take(pa.array(there)), router)
        for shard, rows in visits.by_shard():
            yield _with_shard(batch.take(pa.array(there[rows])), shard)
        idle = np.setdiff1d(np.arange(batch.num_rows), there[visits.rows])
        if len(idle):
            without = _without_data(batch, {int(there[row]): reason for row, reason in refused.items()})
            yield _with_shard(without.take(pa.array(idle)), 0)


def match_shards(batches: Iterable[pa.RecordBatch], source: Shards, bindings: bool) -> Iterator[pa.RecordBatch]:
    """Match routed events, each with its shard. All matches are told by id, as numbers are a shard's own."""
    for batch in batches:
        shards = batch.column("shard").to_numpy()
        for shard in np.unique(shards).tolist():
            own = batch.filter(pa.array(shards == shard))
            yield from stage.match_events([own], open_index(source.shards[shard]), bindings, named=True)


def _visits(batch: pa.RecordBatch, router: Router) -> tuple[Visits, dict[int, str]]:
    """Which events go where, and what is wrong with those that cannot be read."""
    if worth_kernels(batch.num_rows):
        visits = router.of_batch(batch)
        return visits, {row: refusal_of(error) for row, error in visits.refused.items()}
    pairs: list[tuple[int, int]] = []
    refused: dict[int, str] = {}
    columns = (batch.column(name).to_pylist() for name in ("id", "home", "data"))
    for row, event in enumerate(zip(*columns, strict=True)):
        try:
            pairs += [(shard, row) for shard in router.of_event(read_event(*event))]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever is wrong with an event, the others go on
            refused[row] = refusal_of(error)
    shards, rows = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    return Visits(rows, shards, {}), refused


def _without_data(batch: pa.RecordBatch, refused: dict[int, str]) -> pa.RecordBatch:
    nothing = pa.nulls(batch.num_rows, pa.string())
    batch = batch.set_column(batch.schema.get_field_index("data"), "data", nothing)
    return stage.with_refused(batch, refused)


def _with_shard(batch: pa.RecordBatch, shard: int) -> pa.RecordBatch:
    shards: NDArray[np.int32] = np.full(batch.num_rows, shard, np.int32)
    return pa.RecordBatch.from_arrays([*batch.columns, pa.array(shards)], schema=ARROW_SCHEMA)
