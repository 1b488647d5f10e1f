"""What the log and the pipeline tell, as Prometheus reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.pipeline.world import offer
from triplewire.broker.delivery.meters import Meters
from triplewire.broker.operations.health import report
from triplewire.broker.operations.metrics import exposition
from triplewire.store import Outcome, Store, Webhook, store_url

REPORT = {
    "at": 0,
    "batch": 7,
    "batches": 3,
    "events": 12,
    "events_per_second": 4.5,
    "position": 2,
    "lag": 1,
    "seconds": {"addBatch": 0.25},
    "seconds_total": {"addBatch": 0.75, "walCommit": 0.1},
    "stages": {"lift": 0.5},
    "version": '2@"7',
    "work": {"nodes visited": 99},
}
SAMPLE = re.compile(r'([a-z_]+)((?:\{[a-z]+="(?:[^"\\\n]|\\.)*"\})?) (\d+(?:\.\d+)?(?:e[+-]?\d+)?)')


@pytest.fixture
def store(tmp_path: Path):
    made = Store(store_url(tmp_path))
    made.append([offer(n) for n in range(3)])
    made.record([Outcome(1, "e0", "s", 1.0, "[]")], [], upto=2)
    yield made
    made.close()


def samples(store: Store, report) -> dict[str, float]:
    found = {}
    for line in exposition(store, report):
        if not line.startswith("#"):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            found[name.removeprefix("triplewire_") + labels] = float(value)
    return found


def test_the_log_is_told_whether_a_pipeline_runs_or_not(store: Store) -> None:
    assert samples(store, None) == {
        "log_position": 3,
        "pipeline_position": 2,
        "pipeline_lag_events": 1,
        "notifications_total": 1,
    }


def test_what_the_pipeline_reports_is_told(store: Store, tmp_path: Path) -> None:
    (tmp_path / "pipeline.json").write_text(json.dumps(REPORT))
    told = samples(store, report(tmp_path))
    assert told['pipeline_batch_seconds_total{stage="addBatch"}'] == 0.75
    assert told['pipeline_stage_seconds_total{stage="lift"}'] == 0.5
    assert told['pipeline_work_total{kind="nodes visited"}'] == 99
    assert told['pipeline_index_info{version="2@\\"7"}'] == 1
    assert (told["pipeline_events_total"], told["pipeline_batches_total"]) == (12, 3)
    assert told["pipeline_report_age_seconds"] > 1e9


def test_a_report_cut_short_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "pipeline.json").write_text('{"at": 1')
    assert report(tmp_path) is None


def test_what_is_sent_is_told_by_channel(store: Store) -> None:
    meters = Meters()
    store.subscribe({"id": "s"}, webhook=Webhook("https://x.example/", "whsec_"))
    [position] = store.append([offer(9)])
    store.record([Outcome(position, "e9", "s", 1.0, "[]")], [], position)
    meters.received["webhook"] += 3
    meters.failed["email"] += 1
    for seconds in (0.01, 0.3, 9999):
        meters.waits["webhook"].observe(seconds)
    lines = list(exposition(store, None, meters))
    for line in (
        'triplewire_delivery_received_total{channel="webhook"} 3.0',
        'triplewire_delivery_failed_total{channel="email"} 1.0',
        'triplewire_delivery_pending{channel="webhook"} 1.0',
        'triplewire_delivery_seconds_bucket{channel="webhook",le="0.05"} 1',
        'triplewire_delivery_seconds_bucket{channel="webhook",le="0.5"} 2',
        'triplewire_delivery_seconds_bucket{channel="webhook",le="+Inf"} 3',
        'triplewire_delivery_seconds_count{channel="webhook"} 3',
    ):
        assert line in lines
