"""What the log and the pipeline tell, as Prometheus reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tests.pipeline.world import offer
from triplewire.broker.operations.health import report
from triplewire.broker.operations.meters import Meters
from triplewire.broker.operations.metrics import Told
from triplewire.store import Outcome, Store, Webhook, store_url

ROOT = Path(__file__).parents[2]
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


@pytest.fixture
def store(tmp_path: Path):
    made = Store(store_url(tmp_path))
    made.append([offer(n) for n in range(3)])
    made.record([Outcome(1, "e0", "s", 1.0, "[]")], [], upto=2)
    yield made
    made.close()


def samples(store: Store, report=None, meters: Meters | None = None) -> dict[str, float]:
    """What Prometheus's own parser reads of what we tell."""
    text = generate_latest(Told(store, report, meters or Meters())).decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = "".join(f"{{{name}={value}}}" for name, value in sorted(sample.labels.items()))
            found[sample.name.removeprefix("triplewire_") + labels] = sample.value
    return found


def test_the_log_is_told_whether_a_pipeline_runs_or_not(store: Store) -> None:
    assert samples(store) == {
        "store_up": 1,
        "log_position": 3,
        "pipeline_position": 2,
        "pipeline_lag_events": 1,
        "notifications_total": 1,
    }


def test_what_the_pipeline_reports_is_told(store: Store, tmp_path: Path) -> None:
    (tmp_path / "pipeline.json").write_text(json.dumps(REPORT))
    told = samples(store, report(tmp_path))
    assert told["pipeline_batch_seconds_total{stage=addBatch}"] == 0.75
    assert told["pipeline_stage_seconds_total{stage=lift}"] == 0.5
    assert told["pipeline_work_total{kind=nodes visited}"] == 99
    assert told['pipeline_index_info{version=2@"7}'] == 1
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
    meters.received.labels("webhook").inc(3)
    meters.failed.labels("email").inc()
    for seconds in (0.01, 0.3, 9999):
        meters.waits.labels("webhook").observe(seconds)
    told = samples(store, None, meters)
    assert told["delivery_received_total{channel=webhook}"] == 3
    assert told["delivery_failed_total{channel=email}"] == 1
    assert told["delivery_pending{channel=webhook}"] == 1
    bounds = ("0.05", "0.5", "+Inf")
    assert [told[f"delivery_seconds_bucket{{channel=webhook}}{{le={bound}}}"] for bound in bounds] == [1, 2, 3]
    assert told["delivery_seconds_count{channel=webhook}"] == 3


def test_requests_are_counted_by_the_template_of_their_route(broker: httpx.Client) -> None:
    for id_ in ("a", "b"):
        assert broker.get(f"/v1/subscriptions/{id_}").status_code == 404
    broker.get("/who/knows/what")
    broker.request("BREW", "/v1/subscriptions")
    told = broker.get("/metrics").text.splitlines()
    plain = broker.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    route = 'method="GET",route="/v1/subscriptions/{subscription_id:path}"'
    assert f'triplewire_requests_total{{{route},status="404"}} 2.0' in told
    assert f"triplewire_request_seconds_count{{{route}}} 2.0" in told
    assert 'triplewire_requests_total{method="GET",route="",status="404"} 1.0' in told
    assert not any("BREW" in line or "knows" in line for line in told)
    assert plain.text.endswith("# EOF\n")


def test_the_manual_has_every_metric_and_no_other(store: Store) -> None:
    manual = (ROOT / "docs/guide/operations.md").read_text().partition("## What to watch")[2].partition("```")[0]
    told = Told(store, REPORT, Meters()).collect()
    suffixes = {"counter": "_total", "info": "_info"}
    assert set(re.findall(r"`(triplewire_\w+)", manual)) == {one.name + suffixes.get(one.type, "") for one in told}
