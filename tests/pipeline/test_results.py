"""What workers found reaches the driver as it was, however it is packed."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from triplewire.pipeline import results, stage
from triplewire.pipeline.stream import _lapses, _letters, _outcomes
from triplewire.store import DeadLetter, Outcome, StoredLapse


def rows_of(rng: Random, count: int, start: int) -> list[dict[str, object]]:
    """Rows as the second stage has them: some refused, some without a match, some of many subscriptions."""
    return [
        {
            "position": start + number,
            "id": f"é{number}",
            "version": "1@7",
            "refusal": '{"error": "EventError", "message": "no"}' if rng.random() < 0.2 else None,
            "lapses": rng.choice([None, [], [{"subscription": "s", "reason": "too long"}] * 2]),
            "told": rng.choice([None, [], [match_of(rng) for _ in range(rng.randrange(30))]]),
        }
        for number in range(count)
    ]


def match_of(rng: Random) -> dict[str, object]:
    bindings = rng.choice(["[]", "[{}]", '[{"?1": "_:ü"}]'])
    return {"subscription": f"s{rng.randrange(99)}", "score": rng.random(), "bindings": bindings, "rest": None}


@pytest.mark.parametrize("most", [1, 700, results.MOST_BYTES])
def test_results_arrive_as_they_were_found(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(most)
    monkeypatch.setattr(results, "MOST_BYTES", most)
    for _ in range(30):
        rows = rows_of(rng, rng.randrange(1, 40), rng.randrange(1000))
        batch = pa.RecordBatch.from_pylist(rows, schema=stage.ARROW_SCHEMA)
        cut = rng.randrange(len(rows))
        packed = list(results.pack(part for part in (batch.slice(0, cut), batch.slice(cut)) if part.num_rows))
        tables = list(results.unpack(pa.Table.from_batches(packed, schema=results.ARROW_SCHEMA)))
        assert [row for table in tables for row in table.to_pylist()] == batch.select(results.NEEDED).to_pylist()
        if most == 1:
            assert len(tables) == len(rows), "a row is what must travel together"
        assert [one for table in tables for one in _outcomes(table)] == [
            Outcome(row["position"], row["id"], told["subscription"], told["score"], told["bindings"], row["version"])
            for row in rows
            for told in row["told"] or []
        ]
        assert [one for table in tables for one in _letters(table)] == [
            DeadLetter(row["position"], "no") for row in rows if row["refusal"]
        ]
        assert [one for table in tables for one in _lapses(table)] == [
            StoredLapse(row["position"], row["id"], **lapse) for row in rows for lapse in row["lapses"] or []
        ]
