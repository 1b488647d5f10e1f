"""The formats that events come in, and the lifter of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeAlias

from triplewire.errors import EventError
from triplewire.lift.documents import check_depth, read_json
from triplewire.lift.entries import Entry, check_literals
from triplewire.lift.feeds import lift_feed
from triplewire.lift.jsonld import lift_linked
from triplewire.lift.lifting import Lifting
from triplewire.lift.markup import ENTITY_LIMIT, check_entities, lift_markup, xml_text
from triplewire.lift.names import Names
from triplewire.lift.pdf import lift_pdf
from triplewire.lift.rows import lift_rows
from triplewire.lift.tree import lift_tree
from triplewire.rdf.syntax import FORMATS, read, read_arcs

PDF = "application/pdf"
JSON_TYPES = ("application/json", "application/ld+json")

Lifter: TypeAlias = Callable[[Any, Names, Lifting], Iterable[Entry]]


def _rdf(media_type: str) -> Lifter:
    return lambda data, _names, _lifting: [Entry(read_arcs(data, media_type))]


def _rdf_xml(data: Any, _names: Names, _lifting: Lifting) -> Iterable[Entry]:
    text = xml_text(data)
    check_entities(text)
    return [Entry(read(text, "application/rdf+xml"))]


def _json(data: Any, lifting: Lifting) -> Any:
    """The JSON value in the data, which may be one already."""
    value = read_json(data) if isinstance(data, str | bytes) else data
    check_depth(value, lifting.depth_limit)
    return value


LIFTERS: dict[str, Lifter] = {media_type: _rdf(media_type) for media_type in FORMATS} | {
    "application/rdf+xml": _rdf_xml,
    "application/ld+json": lambda data, _names, lifting: [lift_linked(_json(data, lifting), lifting)],
    "application/json": lambda data, names, lifting: [lift_tree(_json(data, lifting), names, lifting)],
    "application/xml": lambda data, names, lifting: [lift_markup(data, names, lifting)],
    "text/csv": lambda data, names, _lifting: lift_rows(data, names),
    "application/rss+xml": lambda data, _names, _lifting: lift_feed(data),
    "application/atom+xml": lambda data, _names, _lifting: lift_feed(data),
    PDF: lambda data, _names, lifting: [lift_pdf(data, lifting.size_limit)],
}
"""Every format. Data is a text or bytes; of JSON it may be the value itself."""


def lift(data: Any, media_type: str, names: Names, lifting: Lifting) -> list[Entry]:
    """The entries of a document, its literals within the limit; whatever goes wrong in a library is an EventError."""
    try:
        entries = list(islice(LIFTERS[media_type](data, names, lifting), lifting.entry_limit + 1))
    except (EventError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in a library written in Rust is no Exception
        raise EventError(f"cannot read {media_type}: {type(error).__name__}: {error}") from None
    if len(entries) > lifting.entry_limit:
        raise EventError(f"more than {lifting.entry_limit:,} entries, which is the limit")
    growth = ENTITY_LIMIT if media_type.endswith("xml") else 1
    # no literal is longer than its document, but for entities
    if not isinstance(data, str | bytes) or len(data) * growth > lifting.literal_limit:
        for entry in entries:
            check_literals(entry.arcs, lifting.literal_limit)
    return entries
