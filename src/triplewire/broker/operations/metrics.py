"""``GET /metrics``: the log, the pipeline and what it does, as Prometheus reads them.

The pipeline is another process. What it tells is in the store, and in the report that it leaves in the data folder.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from triplewire.broker.delivery.meters import BOUNDS, Meters
from triplewire.broker.operations.health import progress, report
from triplewire.broker.state import Shared
from triplewire.store import Store

router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(shared: Shared) -> PlainTextResponse:
    """How far the pipeline has got, how fast it is, and what it counts, in Prometheus's text format."""
    text = "".join(f"{line}\n" for line in exposition(shared.store, report(shared.home), shared.meters))
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def exposition(store: Store, report: dict[str, Any] | None, meters: Meters | None = None) -> Iterator[str]:
    """The lines that Prometheus reads."""
    told = progress(store)
    yield from _gauge("log_position", "The position of the newest event.", told["log"])
    yield from _gauge("pipeline_position", "The position up to which events are matched.", told["pipeline"])
    yield from _gauge("pipeline_lag_events", "Positions of the log that are yet to be matched.", told["lag"])
    yield from _counter("notifications_total", "Notifications written.", {"": store.last_notification()})
    if meters is not None:
        yield from _sending(store, meters)
    if report is None:
        return
    yield from _gauge("pipeline_report_age_seconds", "Since the last batch with something to tell.", _age(report))
    yield from _gauge("pipeline_events_per_second", "Of the last batch.", report["events_per_second"])
    yield from _counter("pipeline_events_total", "Events since the pipeline started.", {"": report["events"]})
    yield from _counter("pipeline_batches_total", "Batches since the pipeline started.", {"": report["batches"]})
    seconds = {f'stage="{_escaped(name)}"': value for name, value in report["seconds_total"].items()}
    yield from _counter("pipeline_batch_seconds_total", "Spent in batches, by Spark's stages.", seconds)
    stages = {f'stage="{_escaped(name)}"': value for name, value in report.get("stages", {}).items()}
    yield from _counter("pipeline_stage_seconds_total", "Spent by workers and driver, by our stages.", stages)
    work = {f'kind="{_escaped(name)}"': value for name, value in report["work"].items()}
    yield from _counter("pipeline_work_total", "What matching took.", work)
    version = {f'version="{_escaped(report["version"])}"': 1}
    yield from _family("pipeline_index_info", "The index version that events are matched with.", "gauge", version)


def _sending(store: Store, meters: Meters) -> Iterator[str]:
    """What is sent, by channel."""
    received = {f'channel="{name}"': float(count) for name, count in meters.received.items()}
    failed = {f'channel="{name}"': float(count) for name, count in meters.failed.items()}
    waiting = {f'channel="{name}"': float(count) for name, count in store.deliveries.backlog().items()}
    yield from _counter("delivery_received_total", "Notifications received, since the broker started.", received)
    yield from _counter("delivery_failed_total", "Attempts that failed, since the broker started.", failed)
    yield from _family("delivery_pending", "Notifications that are yet to be sent.", "gauge", waiting)
    name = "triplewire_delivery_seconds"
    yield f"# HELP {name} From a notification's being written to its being received, of those sent singly."
    yield f"# TYPE {name} histogram"
    for channel, waits in sorted(meters.waits.items()):
        count = 0
        for bound, more in zip((*map(str, BOUNDS), "+Inf"), waits.counts, strict=True):
            count += more
            yield f'{name}_bucket{{channel="{channel}",le="{bound}"}} {count}'
        yield f'{name}_sum{{channel="{channel}"}} {waits.total:.6f}'
        yield f'{name}_count{{channel="{channel}"}} {count}'


def _age(report: dict[str, Any]) -> float:
    return round(max(time.time() - float(report["at"]), 0.0), 3)


def _gauge(name: str, means: str, value: float) -> Iterator[str]:
    return _family(name, means, "gauge", {"": value})


def _counter(name: str, means: str, values: dict[str, float]) -> Iterator[str]:
    return _family(name, means, "counter", values)


def _family(name: str, means: str, kind: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP triplewire_{name} {means}"
    yield f"# TYPE triplewire_{name} {kind}"
    for labels, value in sorted(values.items()):
        yield f"triplewire_{name}{{{labels}}} {value}" if labels else f"triplewire_{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
