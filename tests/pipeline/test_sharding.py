"""One shard or sixty-four, in process or on Spark: the same matches, to the line, and no worker has all shards open."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.commands import run
from tests.pipeline.test_agreement import LANGUAGES, event, ontology, record
from tests.pipeline.test_batch import parts
from tests.pipeline.world import document, write_lines
from triplewire.pipeline import sharding
from triplewire.pipeline.shipping import Shards


def written(rng: Random, folder: Path) -> tuple[list[object], list[object]]:
    """A world of all languages in files, some events in it twice, as commands take what is asked and what comes."""
    (folder / "o.ttl").write_text(document(ontology(rng))["text"])
    records = [record(rng, number) for number in range(40)]
    events = [event(rng, rng.randrange(25)) for _ in range(30)]
    asked = ["--ontology", folder / "o.ttl", "--subscriptions"]
    asked.append(write_lines(folder / "s.ndjson", list(map(json.dumps, records))))
    halves = [write_lines(folder / f"e{half}.ndjson", events[half::2]) for half in range(2)]
    return asked, ["--events", *halves]


@pytest.mark.parametrize(
    ("seed", "bindings", "counts"), [(0, [], (1, 64)), (3, ["--bindings"], (None, 3))], ids=["plain", "bindings"]
)
def test_shards_say_what_the_whole_says_for_every_language(
    spark: SparkSession, tmp_path: Path, seed: int, bindings: list[str], counts: tuple[int | None, ...]
) -> None:
    asked, events = written(Random(seed), tmp_path)
    expected = run("match", *asked, *events, *bindings)
    assert {json.loads(line)["subscription"].split()[0] for line in expected.stdout.splitlines()} == LANGUAGES
    for count in counts:
        index = tmp_path / f"index-{count}"
        assert run("compile", *asked, "--out", index, *(["--shards", count] if count else [])).returncode == 0
        told = run("match", "--index", index, *events, *bindings)
        assert (told.returncode, told.stdout, told.stderr) == (3, expected.stdout, expected.stderr)
        out = tmp_path / f"out-{count}"
        told = run("pipeline", "run", "--index", index, *events, *bindings, "--out", out)
        assert (told.returncode, told.stdout, told.stderr) == (3, "", expected.stderr)
        assert parts(out / "matches") == expected.stdout
        assert index.exists()


def watched(batches: Iterable[pa.RecordBatch], source: Shards, bindings: bool) -> Iterator[pa.RecordBatch]:
    """Match as a worker does, and note which shards its process has mapped meanwhile."""
    folder = source.router.folder
    for out in sharding.match_shards(batches, source, bindings):
        mapped = set(re.findall(r"shard-\d{4}", Path("/proc/self/maps").read_text()))
        with (folder / f"mapped-{os.getpid()}").open("a") as file:
            file.write(f"{json.dumps(sorted(mapped))}\n")
        yield out


def test_a_worker_has_one_shard_open_and_another_while_it_changes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, events = written(Random(0), tmp_path)
    assert run("compile", *asked, "--out", tmp_path / "index", "--shards", 12).returncode == 0
    monkeypatch.setattr(sharding, "match_shards", watched)
    run("pipeline", "run", "--index", tmp_path / "index", *events, "--out", tmp_path / "out")
    told = [path.read_text().splitlines() for path in (tmp_path / "index").glob("mapped-*")]
    assert max(len(json.loads(line)) for lines in told for line in lines) <= 2
    assert len({shard for lines in told for line in lines for shard in json.loads(line)}) == 12
