"""The same on a real cluster: what is killed on the way does not show in the result."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run
from tests.pipeline.cluster import ROOT, SPARK, Cluster, Worker, cluster
from tests.pipeline.world import COMPUTERS, cheaper, document, eventually, expected, notified, offer, write_lines
from triplewire.concepts.load import load_model
from triplewire.matching import make_matcher
from triplewire.matching.lines import add_subscriptions, match_lines, read_lines
from triplewire.pipeline.packing import PACKED
from triplewire.pipeline.shipping import RECEIVED
from triplewire.pipeline.snapshots import Snapshots
from triplewire.store import Store

HIDDEN = Path("/proc/self/cwd")
"""The folder that a process works in: another one for a worker than for the driver, whose files are not there."""

STREAM = f"""
import sys, pathlib
from triplewire.pipeline import session, snapshots, stream
snapshots.FEW = 0
made = session.begin(sys.argv[2], session.STREAM)
stream.run_stream(made, sys.argv[1], pathlib.Path("{HIDDEN}/checkpoint"))
"""


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def world(folder: Path, files: int, events: int) -> list[str]:
    """Files of a small world, and its index in shards; the events as the command takes them."""
    (folder / "kinds.ttl").write_text(document(COMPUTERS)["text"])
    write_lines(folder / "s.ndjson", [json.dumps(cheaper(f"s{price}", price)) for price in range(20, 200, 20)])
    for file in range(files):
        lines = [offer(file * events + n, (file * 31 + n * 7) % 200)[2] for n in range(events)]
        write_lines(folder / f"e{file:02}.ndjson", lines)
    asked = ["--ontology", folder / "kinds.ttl", "--subscriptions", folder / "s.ndjson"]
    assert run("compile", *asked, "--out", folder / "index", "--shards", 3).returncode == 0
    return ["--events", *map(str, sorted(folder.glob("e*.ndjson")))]


def plainly(folder: Path) -> list[str]:
    """What the command prints that needs no cluster."""
    model = load_model([folder / "kinds.ttl"])
    matcher = make_matcher("engine", model)
    assert list(add_subscriptions(read_lines(folder / "s.ndjson"), matcher, model)) == []
    lines = (line for path in sorted(folder.glob("e*.ndjson")) for line in read_lines(path))
    return [str(line) for line in match_lines(lines, matcher)]


def found(folder: Path) -> list[str]:
    return [line for part in sorted(folder.glob("matches/part-*")) for line in part.read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_snapshots_reach_workers_that_do_not_see_the_folder_and_the_notifications_are_the_same(
    standalone: Cluster, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.pipeline.snapshots.DUE", (0, 1000))
    for price in range(20, 200, 20):
        store.subscribe(cheaper(f"s{price}", price))
    store.append([offer(0)])
    job = standalone.run(sys.executable, "-c", STREAM, store.url, standalone.master, folder=tmp_path)
    eventually(lambda: store.pipeline_position() == 1)
    (first,) = (path.name for path in (tmp_path / "index").glob("*@*"))
    assert where(standalone, first) > 0
    store.subscribe(cheaper("later", 150))
    store.unsubscribe("s40")
    second = Snapshots(tmp_path / "index", store).make(0)
    assert second is not None

    def has_come() -> bool:
        if store.pipeline_position() == (last := store.last_position()):
            store.append([offer(number, number * 7 % 200) for number in range(last, last + 3)])
        return where(standalone, second.name) > 0

    eventually(has_come)
    eventually(lambda: store.pipeline_position() == store.last_position())
    job.terminate()
    assert job.wait(timeout=60) == 0, standalone.log.read_text()[-5000:]
    assert notified(store) == expected(store)


def done(worker: Worker) -> int:
    """How many tasks its executors have done, of all jobs."""
    return worker.says("Finished task")


def where(standalone: Cluster, name: str) -> int:
    """On how many machines a snapshot is that was sent there; each has fetched it once."""
    having = [worker for worker in standalone.workers if worker.has(f"{RECEIVED}/{name}")]
    assert {worker.says(f"/files/index!{name}{PACKED} with timestamp") for worker in having} <= {1}
    return len(having)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_job_is_submitted_a_worker_and_then_an_executor_are_killed_and_the_matches_are_the_same(
    standalone: Cluster, tmp_path: Path
) -> None:
    events = world(tmp_path, files=5, events=60)
    submit = [str(SPARK / "bin" / "spark-submit"), "--master", standalone.master]
    main = str(ROOT / "src" / "triplewire" / "__main__.py")
    matched = ["--index", str(HIDDEN / "index"), *events, "--out", str(tmp_path / "out")]
    job = standalone.run(*submit, main, "pipeline", "run", *matched, folder=tmp_path)
    first, second = standalone.workers
    before = done(first), done(second)
    eventually(lambda: done(first) > before[0] and done(second) > before[1])
    first.process.send_signal(signal.SIGKILL)
    meanwhile = done(second)
    eventually(lambda: done(second) > meanwhile)
    (executor,) = second.executors()
    assert job.poll() is None, "it was done too soon to be disturbed"
    os.kill(executor, signal.SIGKILL)
    assert job.wait(timeout=300) == 0, standalone.log.read_text()[-5000:]
    assert found(tmp_path / "out") == plainly(tmp_path)
    assert second.has("*-shard-0000/CURRENT")
    assert standalone.says("Removing executor") + standalone.says("has been removed") > 0
