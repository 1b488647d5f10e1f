"""Groups expanded: a line of JSON for each match, as ``triplewire match`` prints it."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from triplewire.pipeline.stage import numbers_of

SCHEMA = pa.schema([("text", pa.string())])


def expand(groups: pa.RecordBatch, ids: pa.Array | None) -> pa.RecordBatch:
    """The lines of each event that has any, as one text; ``ids`` are those of the index that it was matched with."""
    columns = (groups.column(name).to_pylist() for name in ("id", "matches", "told"))
    texts = [
        "\n".join(_lines(id_, numbers_of(matches), told or (), ids))
        for id_, matches, told in zip(*columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays([pa.array([text for text in texts if text], pa.string())], schema=SCHEMA)


def _lines(event: str, numbers: Any, told: Any, ids: pa.Array | None) -> list[str]:
    head = f'{{"event": {_text(event)}, "subscription": '
    plain = ids.take(pa.array(numbers, pa.int32())).to_pylist() if ids is not None and len(numbers) else []
    if not told:
        return [f'{head}{_text(id_)}, "score": 1.0}}' for id_ in plain]
    lines = {id_: f'{head}{_text(id_)}, "score": 1.0}}' for id_ in plain}
    for match in told:
        rest = "" if match["bindings"] is None else f', "bindings": {match["bindings"]}{match["rest"] or ""}'
        id_ = match["subscription"]
        lines[id_] = f'{head}{_text(id_)}, "score": {json.dumps(match["score"])}{rest}}}'
    return [lines[id_] for id_ in sorted(lines)]


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
