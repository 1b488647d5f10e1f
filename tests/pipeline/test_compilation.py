"""An index that Spark compiled is the one that is compiled in process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.world import COMPUTERS, cheaper, document, offer, write_lines
from triplewire.concepts.load import load_model
from triplewire.lift.cloudevents import parse_event
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.shards import ShardedIndex
from triplewire.matching.lines import Entry, read_lines, read_subscriptions
from triplewire.pipeline import compilation
from triplewire.pipeline.compilation import compile_on_spark


@pytest.mark.parametrize("shards", [None, 3])
def test_spark_compiles_what_is_compiled_in_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int | None
) -> None:
    monkeypatch.setattr(compilation, "PIECE", 4000)
    ontology = tmp_path / "kinds.ttl"
    ontology.write_text(document(COMPUTERS)["text"])
    records = [json.dumps(cheaper(f"s{n % 70}", n, ["Computer", "Desktop", "Chair"][n % 3])) for n in range(90)]
    records[20:20] = ["{", "", '{"id": "x", "language": "ops"}']
    path = write_lines(tmp_path / "s.ndjson", records)
    model = load_model([ontology])
    found = list(read_subscriptions(read_lines(path), model))
    expected = Index.build((one.subscription for one in found if isinstance(one, Entry)), model)

    count, refused = compile_on_spark(spark, [ontology], path, tmp_path / "index", shards)

    made = Index.open(tmp_path / "index") if shards is None else ShardedIndex(tmp_path / "index")
    assert refused == [one for one in found if isinstance(one, dict)]
    assert len(refused) == 22
    assert count == len(made) == len(expected) == 70
    for price in range(0, 100, 7):
        event = parse_event(offer(1, price)[2])
        assert made.match(event, bindings=True) == expected.match(event, bindings=True)
    assert not list((tmp_path / "index").glob("compiling-*"))
