"""``GET /metrics``: the log, the pipeline and what it does, as Prometheus reads them.

The pipeline is another process. What it tells is in the store, and in the report that it leaves in the data folder.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from triplewire.broker.operations.health import progress, report
from triplewire.broker.operations.meters import Meters
from triplewire.broker.state import Shared
from triplewire.errors import StoreError
from triplewire.store import Store

router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(shared: Shared, accept: Annotated[str, Header()] = "") -> Response:
    """How far the pipeline has got, how fast it is, and what is counted, in Prometheus's text format."""
    encode, media_type = choose_encoder(accept)
    told = Told(shared.store, report(shared.home), shared.meters)
    return Response(encode(told), headers={"Content-Type": media_type})


@dataclass(frozen=True)
class Told(Collector):
    """All that is told: of the store, of the broker itself and, if it has left a report, of the pipeline."""

    store: Store
    report: dict[str, Any] | None
    meters: Meters

    def collect(self) -> Iterator[Metric]:
        try:
            found = list(_log(self.store))
        except StoreError:  # then more than ever it is of use how it stands with the rest
            found = []
        yield _gauge("store_up", "1 if the store answers, else 0, and nothing is told of it.", int(bool(found)))
        yield from found
        yield from self.meters.registry.collect()
        if self.report is not None:
            yield from _pipeline(self.report)


def _log(store: Store) -> Iterator[Metric]:
    told = progress(store)
    yield _gauge("log_position", "The position of the newest event.", told["log"])
    yield _gauge("pipeline_position", "The position up to which events are matched.", told["pipeline"])
    yield _gauge("pipeline_lag_events", "Positions of the log that are yet to be matched.", told["lag"])
    yield _counter("notifications", "Notifications written.", store.last_notification())
    waiting = "Notifications that are yet to be sent."
    pending = GaugeMetricFamily("triplewire_delivery_pending", waiting, labels=["channel"])
    for channel, count in sorted(store.deliveries.backlog().items()):
        pending.add_metric([channel], count)
    yield pending


def _pipeline(report: dict[str, Any]) -> Iterator[Metric]:
    age = round(max(time.time() - float(report["at"]), 0.0), 3)
    yield _gauge("pipeline_report_age_seconds", "Since the last batch with something to tell.", age)
    yield _gauge("pipeline_events_per_second", "Of the last batch.", report["events_per_second"])
    yield _counter("pipeline_events", "Events since the pipeline started.", report["events"])
    yield _counter("pipeline_batches", "Batches since the pipeline started.", report["batches"])
    spark, ours = "Spent in batches, by Spark's stages.", "Spent by workers and driver, by our stages."
    yield _counters("pipeline_batch_seconds", spark, "stage", report["seconds_total"])
    yield _counters("pipeline_stage_seconds", ours, "stage", report.get("stages", {}))
    yield _counters("pipeline_work", "What matching took.", "kind", report["work"])
    version = "The index version that events are matched with."
    yield InfoMetricFamily("triplewire_pipeline_index", version, value={"version": report["version"]})


def _gauge(name: str, means: str, value: float) -> Metric:
    return GaugeMetricFamily(f"triplewire_{name}", means, value=value)


def _counter(name: str, means: str, value: float) -> Metric:
    return CounterMetricFamily(f"triplewire_{name}", means, value=value)


def _counters(name: str, means: str, label: str, values: dict[str, float]) -> Metric:
    made = CounterMetricFamily(f"triplewire_{name}", means, labels=[label])
    for value in sorted(values):
        made.add_metric([value], values[value])
    return made
