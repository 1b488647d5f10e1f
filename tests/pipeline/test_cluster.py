"""The same on a real cluster: what is killed on the way does not show in the result."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.cluster import ROOT, SPARK, Cluster, cluster
from tests.pipeline.world import COMPUTERS, cheaper, document, eventually, offer, write_lines
from triplewire.concepts.load import load_model
from triplewire.matching import make_matcher
from triplewire.matching.lines import add_subscriptions, match_lines, read_lines


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def world(folder: Path, files: int, events: int) -> list[str]:
    """Files of a small world, as the command takes them."""
    (folder / "kinds.ttl").write_text(document(COMPUTERS)["text"])
    write_lines(folder / "s.ndjson", [json.dumps(cheaper(f"s{price}", price)) for price in range(20, 200, 20)])
    for file in range(files):
        lines = [offer(file * events + n, (file * 31 + n * 7) % 200)[2] for n in range(events)]
        write_lines(folder / f"e{file:02}.ndjson", lines)
    inputs = ["--ontology", str(folder / "kinds.ttl"), "--subscriptions", str(folder / "s.ndjson"), "--events"]
    return inputs + [str(path) for path in sorted(folder.glob("e*.ndjson"))]


def expected(folder: Path) -> list[str]:
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
def test_a_job_is_submitted_a_worker_and_then_an_executor_are_killed_and_the_matches_are_the_same(
    standalone: Cluster, tmp_path: Path
) -> None:
    inputs = world(tmp_path, files=10, events=150)
    submit = [str(SPARK / "bin" / "spark-submit"), "--master", standalone.master]
    main = str(ROOT / "src" / "triplewire" / "__main__.py")
    job = standalone.run(*submit, main, "pipeline", "run", *inputs, "--out", str(tmp_path / "out"))
    first, second = standalone.workers
    eventually(lambda: first.says("Finished task") > 0 and second.says("Finished task") > 0, seconds=240)
    first.process.send_signal(signal.SIGKILL)
    done = second.says("Finished task")
    eventually(lambda: second.says("Finished task") > done, seconds=240)
    (executor,) = second.executors()
    assert job.poll() is None, "it was done too soon to be disturbed"
    os.kill(executor, signal.SIGKILL)
    assert job.wait(timeout=300) == 0, standalone.log.read_text()[-5000:]
    assert found(tmp_path / "out") == expected(tmp_path)
    assert standalone.says("Removing executor") + standalone.says("has been removed") > 0
