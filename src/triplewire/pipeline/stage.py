"""From events to what came of them: the stage that runs on Spark's workers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa

from triplewire.errors import EventError
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.matching.matcher import Match, Matcher
from triplewire.pipeline.source import open_store
from triplewire.pipeline.standing import Standing

SCHEMA = "position long, event string, subscription string, score double, bindings string, reason string"
ARROW_SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("event", pa.string()),
        ("subscription", pa.string()),
        ("score", pa.float64()),
        ("bindings", pa.string()),
        ("reason", pa.string()),
    ]
)


class Row(NamedTuple):
    """A match, if it names a subscription; a refusal, if it has a reason; else how far the events went."""

    position: int
    event: str = ""
    subscription: str = ""
    score: float = 0.0
    bindings: str = ""
    reason: str = ""


def match_events(batches: Iterator[pa.RecordBatch], store: str, lifting: Lifting = DEFAULT) -> Iterator[pa.RecordBatch]:
    """Match the events of each batch, and say with its last row how far it went."""
    for batch in batches:
        events = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        if events:
            rows = _match_all(events, _standing(store, os.getpid()), lifting)
            yield _record_batch([*rows, Row(events[-1][0])])


@cache
def _standing(store: str, _process: int) -> Standing:
    """This process's matcher, kept from batch to batch."""
    return Standing(open_store(store))


def _match_all(events: list[tuple[int, str]], standing: Standing, lifting: Lifting) -> Iterator[Row]:
    for matcher, stretch in standing.stretches(events):
        for position, body in stretch:
            yield from _match_one(matcher, position, body, lifting)


def _match_one(matcher: Matcher, position: int, body: str, lifting: Lifting) -> list[Row]:
    """The matches of what is at a position, or its refusal: whatever is wrong with an event, the others go on."""
    try:
        matches = [matcher.match(event, bindings=True) for event in parse_events(body, lifting)]
        return [_row(position, match) for match in chain.from_iterable(matches)]
    except EventError as error:
        return [Row(position, reason=str(error))]
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in a library written in Rust is no Exception
        return [Row(position, reason=f"{type(error).__name__}: {error}")]


def _row(position: int, match: Match) -> Row:
    bindings = json.dumps(list(match.bindings or ()), ensure_ascii=False, sort_keys=True)
    return Row(position, match.event, match.subscription, match.score, bindings)


def _record_batch(rows: list[Row]) -> pa.RecordBatch:
    columns = zip(*(map(_storable, row) for row in rows), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)


def _storable(value: Any) -> Any:
    """A text without the half characters that JSON's escapes can smuggle in and no encoding can hold."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
