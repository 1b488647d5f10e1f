"""The first stage: what was published becomes canonical events, N-Quads in Arrow's columns, once and for all.

Whatever comes later, archive, matching or backtest, reads these columns, and never looks into an envelope again. What
is in N-Quads or N-Triples already is only looked through; everything else is lifted and written out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from triplewire.errors import EventError
from triplewire.lift.cloudevents import Envelope, open_envelope, parse_envelope
from triplewire.lift.lifting import Lifting
from triplewire.matching.engine.kernels.cache import is_whole
from triplewire.matching.engine.kernels.quads import GRAPHS, ODD
from triplewire.matching.engine.quads import Reader
from triplewire.matching.engine.texts import Texts
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import write

SCHEMA = (
    "position long, entry int, source string, envelope string, id string, time string, home string, data string, "
    "refusal string"
)
ARROW_SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("entry", pa.int32()),
        ("source", pa.string()),
        ("envelope", pa.string()),
        ("id", pa.string()),
        ("time", pa.string()),
        ("home", pa.string()),
        ("data", pa.string()),
        ("refusal", pa.string()),
    ]
)

MOST_BYTES = 64 << 20
"""Documents of so many bytes, or of a little more, travel in one record batch."""

FEW = 200
"""So few events are not worth a minute's wait for kernels to be compiled."""

N_TRIPLES = "application/n-triples"
LINES = (N_TRIPLES, "application/n-quads")


class Row(NamedTuple):
    """An event, by the position of its envelope and its place in there; or an envelope that holds none.

    An envelope is known by ``source`` and ``envelope``, an event by ``source`` and ``id``. ``time`` is as it was
    published, if it was. ``home`` is the home vertex's name in N-Triples, if there is one. Without ``data`` there is
    nothing to match: the envelope was refused, for which ``refusal`` is the account as JSON, or it is empty.
    """

    position: int
    entry: int = 0
    source: str | None = None
    envelope: str | None = None
    id: str | None = None
    time: str | None = None
    home: str | None = None
    data: str | None = None
    refusal: str | None = None


def lift_events(batches: Iterable[pa.RecordBatch], lifting: Lifting) -> Iterator[pa.RecordBatch]:
    """From the columns ``position`` and ``body``, a structured CloudEvent, to canonical events in the same order."""
    for batch in batches:
        positions, bodies = batch.column("position").to_pylist(), batch.column("body").to_pylist()
        yield from record_batches(_lifted(positions, bodies, lifting))


def record_batches(rows: Sequence[Row]) -> Iterator[pa.RecordBatch]:
    """Rows as record batches, none of them too large."""
    for part in _cuts([len(row.data or "") for row in rows]):
        columns = zip(*rows[part], strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW_SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)


def refusal_of(error: BaseException) -> str:
    """An error's account as JSON, in ASCII, since a message may have half characters that no encoding can hold."""
    told = error.as_dict() if isinstance(error, EventError) else {"error": type(error).__name__, "message": str(error)}
    return json.dumps(told)


def worth_kernels(events: int) -> bool:
    """Whether to match so many events by kernels: always, unless they would have to be compiled for a few."""
    return events > FEW or (events > 0 and is_whole())


def _cuts(lengths: Sequence[int]) -> Iterator[slice]:
    """Slices of about ``MOST_BYTES`` together, at least one row each."""
    pieces = np.cumsum(lengths, dtype=np.int64) // MOST_BYTES
    edges = [0, *(np.flatnonzero(np.diff(pieces)) + 1).tolist(), len(lengths)]
    return (slice(start, end) for start, end in pairwise(edges) if start < end)


def _lifted(positions: Sequence[int], bodies: Sequence[str | bytes], lifting: Lifting) -> list[Row]:
    """The rows of some envelopes. Those in lines are looked through together, the others are lifted one by one."""
    found: list[list[Row]] = []
    plain: dict[int, Envelope] = {}
    for number, (position, body) in enumerate(zip(positions, bodies, strict=True)):
        try:
            envelope = parse_envelope(body, lifting.size_limit)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic in a library written in Rust is no Exception
            found.append([Row(position, refusal=refusal_of(error))])
            continue
        if _in_lines(envelope, lifting):
            plain[number] = envelope
            found.append([])
        else:
            found.append(_opened(position, envelope, lifting))
    for (number, envelope), home in zip(plain.items(), _homes(list(plain.values())), strict=True):
        position = positions[number]
        if home is None:
            found[number] = _opened(position, envelope, lifting)
        else:
            told = _row(position, envelope)
            found[number] = [told._replace(id=envelope.id, home=home or None, data=envelope.attributes["data"])]
    return [row for rows in found for row in rows]


def _in_lines(envelope: Envelope, lifting: Lifting) -> bool:
    """Whether the data is in N-Quads or N-Triples, and certainly within all limits."""
    attributes = envelope.attributes
    data = attributes.get("data")
    return (
        attributes.get("datacontenttype") in LINES
        and isinstance(data, str)
        and 4 * len(data) <= lifting.size_limit
        and len(data) <= lifting.literal_limit
        and "data_base64" not in attributes
        and attributes.get("home") != ""
    )


def _homes(envelopes: Sequence[Envelope]) -> list[str | None]:
    """The home vertices of documents in lines, empty if there is none; None if only the parser can tell."""
    if not worth_kernels(len(envelopes)):
        return [None] * len(envelopes)
    documents = Texts.of(envelope.attributes["data"].encode() for envelope in envelopes)
    named = Texts.of(_name(envelope.attributes.get("home", "")).encode() for envelope in envelopes)
    status, spans = _reader().homes(documents.data, documents.offsets, named.data, named.offsets)
    return [
        None
        if kind == ODD or (kind == GRAPHS and envelope.attributes["datacontenttype"] == N_TRIPLES)
        else documents.data[start:end].tobytes().decode()
        for envelope, kind, (start, end) in zip(envelopes, status.tolist(), spans.tolist(), strict=True)
    ]


@cache
def _reader() -> Reader:
    return Reader()


def _name(home: str) -> str:
    """What the attribute ``home`` names, as N-Triples have it."""
    return home if not home or home.startswith("_:") else f"<{home.removeprefix('<').removesuffix('>')}>"


def _opened(position: int, envelope: Envelope, lifting: Lifting) -> list[Row]:
    """The events in an envelope, whatever its format; or the one row that tells why there are none."""
    told = _row(position, envelope)
    try:
        rows = [
            told._replace(entry=entry, id=_writable(event.id), home=_home(event), data=_quads(event))
            for entry, event in enumerate(open_envelope(envelope, lifting))
        ]
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return [told._replace(refusal=refusal_of(error))]
    return rows or [told]


def _row(position: int, envelope: Envelope) -> Row:
    return Row(position, 0, envelope.source, envelope.id, time=envelope.attributes.get("time"))


def _home(event: Event) -> str | None:
    return None if event.graph.home is None else str(event.graph.home)


def _quads(event: Event) -> str:
    return write(event.graph.arcs)


def _writable(text: str) -> str:
    """A text without half characters, which JSON's escapes can smuggle in and no encoding can hold."""
    return text.encode("utf-8", "backslashreplace").decode()
