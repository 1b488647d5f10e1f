"""The second stage: canonical events in, their matches out, grouped by event. Batch, stream and backtest share it.

A group is one row, however many subscriptions an event trips; it is expanded only where somebody is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from triplewire.errors import EventError
from triplewire.matching.engine.batch import read_event
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import match_or_lapse
from triplewire.matching.matcher import Lapse, Match, Matcher
from triplewire.pipeline import canonical
from triplewire.pipeline.canonical import refusal_of, worth_kernels

TOLD = pa.list_(
    pa.struct(
        [
            ("subscription", pa.string()),
            ("score", pa.float64()),
            ("bindings", pa.string()),
            ("rest", pa.string()),
        ]
    )
)
LAPSES = pa.list_(pa.struct([("subscription", pa.string()), ("reason", pa.string())]))
SCHEMA = (
    "position long, entry int, source string, envelope string, id string, time string, refusal string, version string, "
    "matches binary, told array<struct<subscription:string,score:double,bindings:string,rest:string>>, "
    "lapses array<struct<subscription:string,reason:string>>"
)
CARRIED = ("position", "entry", "source", "envelope", "id", "time", "refusal")
ARROW_SCHEMA = pa.schema(
    [
        *(canonical.ARROW_SCHEMA.field(name) for name in CARRIED),
        ("version", pa.string()),
        ("matches", pa.binary()),
        ("told", TOLD),
        ("lapses", LAPSES),
    ]
)


def match_events(
    batches: Iterable[pa.RecordBatch], matcher: Matcher, bindings: bool = False, version: str = "", named: bool = False
) -> Iterator[pa.RecordBatch]:
    """Match canonical events. A row comes out for every row that goes in, in the same order.

    ``matches`` are those with nothing to tell but that they are, as little-endian 32-bit numbers of subscriptions in
    the index that ``version`` names; ``told`` are the others, with scores, and with bindings as JSON, and the rest
    of their lines, where these were asked for. Both are in the order of ids. If all are to be ``named``, all are told.
    ``lapses`` are the subscriptions that were given up on the event.
    """
    for batch in batches:
        there = batch.column("data").is_valid()
        whole = there.true_count == batch.num_rows
        groups = _groups(batch if whole else batch.filter(there), matcher, bindings, named)
        if not whole:
            groups = groups.scattered(there)
        columns = with_refused(batch, groups.refused).select(CARRIED).columns
        columns += [pa.array([version]).take(pa.array(np.zeros(batch.num_rows, np.int32)))]
        columns += [groups.matches, groups.told, groups.lapses]
        yield pa.RecordBatch.from_arrays(columns, schema=ARROW_SCHEMA)


class Groups(NamedTuple):
    """The matches of some events, a group each, and the events that were refused after all."""

    matches: pa.Array
    told: pa.Array
    refused: dict[int, str]
    lapses: pa.Array

    def scattered(self, there: pa.Array) -> Groups:
        """The groups among more rows: those that are ``there``."""
        flags = there.to_numpy(zero_copy_only=False)
        places = np.flatnonzero(flags)
        taken = pa.array(np.cumsum(flags) - 1, pa.int64(), mask=~flags)
        refused = {int(places[number]): reason for number, reason in self.refused.items()}
        return Groups(self.matches.take(taken), self.told.take(taken), refused, self.lapses.take(taken))


def _groups(batch: pa.RecordBatch, matcher: Matcher, bindings: bool, named: bool) -> Groups:
    if not isinstance(matcher, Index) or not worth_kernels(batch.num_rows):
        return _one_by_one(batch, matcher, bindings)
    found = matcher.match_batch(batch, bindings)
    refused, lapses = _told_refused(found.refused), _lapses(batch.num_rows, found.lapses)
    if found.matches is not None:
        nothing = pa.nulls(batch.num_rows, pa.binary())
        bindings_, rests = ([tell(one) for one in found.matches] for tell in (_bindings, _rest))
        texts = [pa.array(column, pa.string()) for column in (bindings_, rests)]
        columns = [found.subscriptions.cast(pa.string()), pa.array(found.scores), *texts]
        rows = pa.StructArray.from_arrays(columns, fields=list(TOLD.value_type))
        return Groups(nothing, _lists(found.offsets, rows), refused, lapses)
    plain = (found.numbers >= 0) & (not named)
    matches = _binary(_offsets(plain)[found.offsets], found.numbers[plain])
    if plain.all():
        return Groups(matches, pa.nulls(batch.num_rows, TOLD), refused, lapses)
    ids = found.subscriptions.filter(pa.array(~plain)).cast(pa.string())
    nothing = pa.nulls(len(ids), pa.string())
    columns = [ids, pa.array(found.scores[~plain]), nothing, nothing]
    rows = pa.StructArray.from_arrays(columns, fields=list(TOLD.value_type))
    return Groups(matches, _lists(_offsets(~plain)[found.offsets], rows), refused, lapses)


def _offsets(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of those before each place, and before the end, are set."""
    return np.concatenate([[0], np.cumsum(flags)])


def _told_refused(refused: dict[int, EventError]) -> dict[int, str]:
    return {number: refusal_of(error) for number, error in refused.items()}


def _one_by_one(batch: pa.RecordBatch, matcher: Matcher, bindings: bool) -> Groups:
    """By one of the papers' matchers, which know single events only; or by any, for a few events."""
    told: list[list[dict[str, object]]] = []
    refused: dict[int, str] = {}
    lapses: list[tuple[int, Lapse]] = []
    columns = (batch.column(name).to_pylist() for name in ("id", "home", "data"))
    for number, (id_, home, data) in enumerate(zip(*columns, strict=True)):
        try:
            found, given_up = match_or_lapse(matcher, read_event(id_, home, data), bindings)
            told.append([_row(match) for match in found])
            lapses += [(number, one) for one in given_up]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever is wrong with an event, the others go on
            told.append([])
            refused[number] = refusal_of(error)
    nothing = pa.nulls(batch.num_rows, pa.binary())
    return Groups(nothing, pa.array(told, TOLD), refused, _lapses(batch.num_rows, lapses))


def _lapses(count: int, lapses: Sequence[tuple[int, Lapse]]) -> pa.Array:
    """By event, the subscriptions that were given up."""
    if not lapses:
        return pa.nulls(count, LAPSES)
    rows: list[list[dict[str, str]]] = [[] for _ in range(count)]
    for number, one in lapses:
        rows[number].append({"subscription": one.subscription, "reason": one.reason})
    return pa.array(rows, LAPSES)


def _rest(match: Match) -> str | None:
    """What a match's line tells after the bindings."""
    if match.graph is None and not match.pairs:
        return None
    return match.as_line()[len(replace(match, graph=None, pairs=()).as_line()) - 1 : -1]


def _bindings(match: Match) -> str | None:
    """A match's bindings as JSON. Those of most are known by heart."""
    if not match.bindings:
        return None if match.bindings is None else "[]"
    return "[{}]" if match.bindings == ({},) else json.dumps(match.bindings, ensure_ascii=False)


def _row(match: Match) -> dict[str, object]:
    return {
        "subscription": match.subscription,
        "score": match.score,
        "bindings": _bindings(match),
        "rest": _rest(match),
    }


def _binary(offsets: NDArray[np.int64], numbers: NDArray[np.int32]) -> pa.Array:
    buffers = [None, pa.py_buffer((4 * offsets).astype(np.int32)), pa.py_buffer(numbers.astype("<i4", copy=False))]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def _lists(offsets: NDArray[np.int64], rows: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rows, type=TOLD)


def with_refused(batch: pa.RecordBatch, refused: dict[int, str]) -> pa.RecordBatch:
    """A batch with the refusals of some rows."""
    if not refused:
        return batch
    told = batch.column("refusal").to_pylist()
    for number, reason in refused.items():
        told[number] = reason
    return batch.set_column(batch.schema.get_field_index("refusal"), "refusal", pa.array(told, pa.string()))


def numbers_of(matches: bytes | None) -> Sequence[int]:
    """The numbers in a value of the column ``matches``."""
    found: list[int] = np.frombuffer(matches or b"", "<i4").tolist()
    return found
