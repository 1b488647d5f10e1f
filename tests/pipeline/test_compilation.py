"""An index that Spark compiled is the one that is compiled in process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.world import COMPUTERS, cheaper, document, offer, write_lines
from triplewire.concepts.load import load_model
from triplewire.errors import IndexFolderError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.shards import ShardedIndex
from triplewire.matching.lines import Entry, read_lines, read_subscriptions
from triplewire.pipeline import compilation
from triplewire.pipeline.compilation import compile_on_spark, write_chunks


@pytest.mark.parametrize(("shards", "apart"), [(None, False), (3, False), (None, True)])
def test_spark_compiles_what_is_compiled_in_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int | None, apart: bool
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

    told = [one for one in found if isinstance(one, dict)]
    if apart:  # first chunks, and later what is made of them
        assert len(write_chunks(spark, [ontology], path, tmp_path / "chunks")) == 2
        count, refused = compile_on_spark(spark, [ontology], tmp_path / "chunks", tmp_path / "index")
        assert {one["subscription"] for one in refused} == {one["subscription"] for one in told[2:]}
    else:
        count, refused = compile_on_spark(spark, [ontology], path, tmp_path / "index", shards)
        assert refused == told
    made = Index.open(tmp_path / "index") if shards is None else ShardedIndex(tmp_path / "index")
    assert len(told) == 22
    assert count == len(made) == len(expected) == 70
    for price in range(0, 100, 7):
        event = parse_event(offer(1, price)[2])
        assert made.match(event, bindings=True) == expected.match(event, bindings=True)
    assert not list((tmp_path / "index").glob("compiling-*"))


def test_chunks_of_another_ontology_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    ontology = tmp_path / "kinds.ttl"
    ontology.write_text(document(COMPUTERS)["text"])
    path = write_lines(tmp_path / "s.ndjson", [json.dumps(cheaper("s", 1))])
    write_chunks(spark, [], path, tmp_path / "chunks")
    with pytest.raises(IndexFolderError, match="chunks/000000 was made with another ontology"):
        compile_on_spark(spark, [ontology], tmp_path / "chunks", tmp_path / "index")
