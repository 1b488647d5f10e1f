"""The stream leaves a report that says how far it is and what its workers have done."""

from __future__ import annotations

import json
from pathlib import Path

from prometheus_client import generate_latest
from pyspark.sql import SparkSession

from tests.pipeline.test_stream import catch_up, settings, streaming  # noqa: F401 (a fixture)
from tests.pipeline.world import cheaper, eventually, offer
from triplewire.broker.operations.health import report as shown
from triplewire.broker.operations.meters import Meters
from triplewire.broker.operations.metrics import Told
from triplewire.pipeline.report import REPORT, Reporter
from triplewire.pipeline.stream import NAME
from triplewire.store import Store


def test_a_batch_is_reported_with_its_rate_its_stages_and_the_work(
    spark: SparkSession, store: Store, tmp_path: Path
) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    store.append([offer(n) for n in range(30)])
    reporter = Reporter(tmp_path, store, NAME)
    spark.streams.addListener(reporter)
    try:
        with streaming(spark, store, tmp_path, batch=20) as query:
            catch_up(query, store)
            eventually(lambda: (tmp_path / REPORT).exists() and read(tmp_path)["events"] == 30)
    finally:
        spark.streams.removeListener(reporter)
    report = read(tmp_path)
    assert (report["position"], report["lag"], report["batches"] >= 2) == (30, 0, True)
    assert report["version"] == "0@1"
    assert report["work"]["candidates verified"] == 30
    assert report["seconds_total"]["addBatch"] >= report["seconds"]["addBatch"] > 0
    assert report["events_per_second"] > 0
    text = generate_latest(Told(store, shown(tmp_path), Meters())).decode()
    lines = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    told = {name.removeprefix("triplewire_pipeline_"): float(value) for name, value in lines}
    assert (told["events_total"], told["lag_events"], told['index_info{version="0@1"}']) == (30, 0, 1)
    stages = {name: told[f'stage_seconds_total{{stage="{name}"}}'] for name in ("read", "lift", "match", "write")}
    assert min(stages.values()) > 0
    assert sum(stages.values()) < report["seconds_total"]["addBatch"], "there is one task at a time"


def read(folder: Path):
    return json.loads((folder / REPORT).read_text())
