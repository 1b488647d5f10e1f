"""The batch job says what the matcher says, to the line."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.pipeline.world import COMPUTERS, broken, cheaper, document, offer, table, write_lifting, write_lines
from triplewire.concepts.load import load_model
from triplewire.errors import UsageError
from triplewire.lift.lifting import load_lifting
from triplewire.matching import make_matcher
from triplewire.matching.lines import Refusal, add_subscriptions, match_lines, read_lines
from triplewire.pipeline import batch


def plainly(
    ontology: list[Path], subscriptions: Path, events: list[Path], bindings: bool, lifting: Path
) -> tuple[str, list[Refusal]]:
    """Matches and refusals without Spark, as ``triplewire match`` has them."""
    model = load_model(ontology)
    matcher = make_matcher("brute", model)
    refused = list(add_subscriptions(read_lines(subscriptions), matcher, model))
    results = list(match_lines(chain.from_iterable(map(read_lines, events)), matcher, bindings, load_lifting(lifting)))
    refused += [result for result in results if not isinstance(result, str)]
    return "".join(f"{line}\n" for line in results if isinstance(line, str)), refused


def parts(folder: Path) -> str:
    return "".join(part.read_text(encoding="utf-8") for part in sorted(folder.glob("part-*")))


def some_lines(random: Random) -> list[str]:
    """Events, some of them published again with another price, some broken, some tables of several; lines that are no
    event, blank lines.
    """
    lines = []
    for _ in range(200):
        number = random.randrange(300)
        event = broken(number) if number % 10 == 0 else offer(number, random.randrange(200))
        if number % 10 == 1:
            event = table(number, *(random.randrange(200) for _ in range(number % 7)))
        lines.append(
            random.choice([event[2]] * 8 + ["", "  \t", "no JSON", '{"id": "é"}', '"ü\\ud800"', event[2] + "\r"])
        )
    return lines


@pytest.mark.parametrize("bindings", [False, True])
def test_batch_agrees_with_the_matcher_to_the_line(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bindings: bool
) -> None:
    random = Random(7)
    monkeypatch.setattr(batch, "CHUNK", 20_000)
    ontology = tmp_path / "kinds.ttl"
    ontology.write_text(document(COMPUTERS)["text"])
    records = [json.dumps(cheaper(id_, price)) for id_, price in [("z", 150), ("B", 90), ("é", 60), ("a", 120)]]
    subscriptions = write_lines(
        tmp_path / "s.ndjson", [*records, "{", "", records[0], '{"id": "x", "language": "ops"}']
    )
    events = [write_lines(tmp_path / f"{name}.ndjson", some_lines(random)) for name in ("second", "first", "third")]
    events.append(write_lines(tmp_path / "empty.ndjson", []))

    lifting = write_lifting(tmp_path / "lifting")
    refused = batch.run_batch([ontology], subscriptions, events, tmp_path / "out", bindings=bindings, lifting=lifting)

    lines, refused_plainly = plainly([ontology], subscriptions, events, bindings, lifting)
    assert parts(tmp_path / "out" / "matches") == lines
    assert refused == refused_plainly
    assert [json.loads(line) for line in parts(tmp_path / "out" / "refused").splitlines()] == refused
    assert lines.count("\n") > 300
    assert '"event": "e11#4"' in lines
    assert {refusal.get("line") for refusal in refused if "subscription" in refusal} == {5, 7, 8}


def test_what_is_in_a_folder_already_is_not_mixed_with_results(tmp_path: Path) -> None:
    write_lines(tmp_path / "out", ["something"])
    with pytest.raises(UsageError, match="out is there already"):
        batch.run_batch([], tmp_path / "s.ndjson", [], tmp_path / "out")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    subscriptions = write_lines(tmp_path / "s.ndjson", [])
    with pytest.raises(UsageError, match=r"missing\.ndjson"):
        batch.run_batch([], subscriptions, [tmp_path / "missing.ndjson"], tmp_path / "out")


@given(st.lists(st.sampled_from([b"a", b"bc", b" ", b"\n", b"\r\n", "ü".encode()])), st.integers(1, 9))
def test_the_chunks_of_a_file_hold_each_of_its_lines_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines"
    path.write_bytes(b"".join(pieces))
    found = [line for chunk in batch.cut([path], size) for line in batch.read_chunk(chunk)]
    assert [text for _, text in found] == [line.text for line in read_lines(path)]
    assert list(batch._line_numbers(path, [at for at, _ in found])) == [line.number for line in read_lines(path)]
