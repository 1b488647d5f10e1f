"""The CloudEvents envelope that every event travels in.

An envelope is checked when it is published; what is inside is read when it is matched.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from triplewire.errors import EventError
from triplewire.lift.documents import kind, read_json, write_json
from triplewire.lift.entries import Entry
from triplewire.lift.formats import JSON_TYPES, LIFTERS, lift
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.rdf.graph import Event, Graph, event_graph
from triplewire.rdf.names import declared_prefixes

ESCAPED = 8
"""How many times larger than its data an envelope may be: an escape has six characters for one."""
LONGEST_KEY = 512
REQUIRED = ("specversion", "id", "source", "type")


@dataclass(frozen=True)
class Envelope:
    """A CloudEvent whose attributes are in order; whether its data can be read is yet to be seen."""

    id: str
    source: str
    type: str
    attributes: Mapping[str, Any]

    def as_json(self) -> str:
        return write_json(self.attributes)


def parse_envelope(document: str | bytes | Mapping[str, Any], size_limit: int = DEFAULT.size_limit) -> Envelope:
    """Check a structured CloudEvent: the required attributes, their types, one way of carrying data.

    A document that is certainly over the limit for the data in it is not even read.
    """
    if not isinstance(document, Mapping) and len(document) > ESCAPED * size_limit:
        raise EventError(f"the CloudEvent has {len(document):,} bytes; the limit for its data is {size_limit:,}")
    attributes = document if isinstance(document, Mapping) else _object(document)
    for name in REQUIRED:
        value = attributes.get(name)
        if value is None and name == "specversion":
            raise EventError("the attribute 'specversion' is missing; it should be \"1.0\"")
        if not isinstance(value, str) or not value:
            raise EventError(f"the attribute '{name}' should be a non-empty text, not {write_json(value)}")
    if attributes["specversion"] != "1.0":
        raise EventError(f"CloudEvents {attributes['specversion']} is not known here; 'specversion' should be \"1.0\"")
    for name in ("time", "home", "datacontenttype", "subject", "dataschema"):
        if not isinstance(attributes.get(name, ""), str):
            raise EventError(f"the attribute '{name}' should be a text, not {write_json(attributes[name])}")
    if "time" in attributes:
        _check_time(attributes["time"])
    _check_characters(attributes)
    if "data" in attributes and "data_base64" in attributes:
        raise EventError("an event carries 'data' or 'data_base64', not both")
    return Envelope(attributes["id"], attributes["source"], attributes["type"], attributes)


def open_envelope(envelope: Envelope, lifting: Lifting = DEFAULT) -> list[Event]:
    """The events in an envelope: one, unless it holds a feed or a table, each of whose entries is one."""
    attributes = envelope.attributes
    media_type = _media_type(attributes)
    data = _data(attributes, media_type)
    _check_size(data, lifting.size_limit)
    entries = lift(data, media_type, lifting.names(attributes), lifting)
    return [_event(envelope, entry) for entry in entries]


def parse_events(document: str | bytes | Mapping[str, Any], lifting: Lifting = DEFAULT) -> list[Event]:
    """The events in a structured CloudEvent."""
    return open_envelope(parse_envelope(document, lifting.size_limit), lifting)


def parse_event(document: str | bytes | Mapping[str, Any], lifting: Lifting = DEFAULT) -> Event:
    """The one event in a structured CloudEvent."""
    events = parse_events(document, lifting)
    if len(events) != 1:
        raise EventError(f"the CloudEvent holds {len(events)} events, where one is expected")
    return events[0]


def _event(envelope: Envelope, entry: Entry) -> Event:
    home = envelope.attributes.get("home")
    if home is None and entry.home is not None:
        graph = Graph(entry.arcs, entry.home)
    else:
        graph = event_graph(entry.arcs, home)
    return Event(envelope.source, envelope.id if entry.key is None else f"{envelope.id}#{_short(entry.key)}", graph)


def _short(key: str) -> str:
    """An entry's key as it is or, if it is too long for an id, a hash of it."""
    if len(key) <= LONGEST_KEY // 4:
        return key
    whole = key.encode("utf-8", "replace")
    return key if len(whole) <= LONGEST_KEY else sha256(whole).hexdigest()


def _check_size(data: Any, limit: int) -> None:
    """Refuse data that is larger than the limit, without measuring what is certainly smaller."""
    if not isinstance(data, str | bytes):
        data = write_json(data)
    if 4 * len(data) > limit:
        size = len(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        if size > limit:
            raise EventError(f"the event's data has {size:,} bytes; the limit is {limit:,}")


def _object(document: str | bytes) -> Mapping[str, Any]:
    value = read_json(document)
    if not isinstance(value, dict):
        raise EventError(f"a CloudEvent is a JSON object, not {kind(value)}")
    return value


def _check_time(text: str) -> None:
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        stamp = None
    if stamp is None or stamp.tzinfo is None or "T" not in text.upper():
        raise EventError(f"the attribute 'time' should be an RFC 3339 time such as 2026-01-31T12:00:00Z, not {text!r}")


def _check_characters(attributes: Mapping[str, Any]) -> None:
    """Refuse half characters, which JSON's escapes can smuggle in and no encoding can hold."""
    for name, value in attributes.items():
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise EventError(f"the attribute '{name}' has half a surrogate pair at {error.start}") from None


def _media_type(attributes: Mapping[str, Any]) -> str:
    stated = attributes.get("datacontenttype")
    if stated is None:
        raise EventError(f"the attribute 'datacontenttype' is missing; known are {', '.join(LIFTERS)}")
    media_type: str = stated.split(";")[0].strip().lower()
    if media_type not in LIFTERS:
        raise EventError(f"{media_type!r} is no format that events can be read from; known are {', '.join(LIFTERS)}")
    return media_type


def _data(attributes: Mapping[str, Any], media_type: str) -> Any:
    if "data_base64" in attributes:
        try:
            return base64.b64decode(attributes["data_base64"], validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise EventError("the attribute 'data_base64' is not base64") from None
    data = attributes.get("data")
    if isinstance(data, str) or (media_type in JSON_TYPES and "data" in attributes):
        return data
    raise EventError(f"the attribute 'data' should be a text in {media_type}, not {kind(data)}")


def prefixes_of(attributes: Mapping[str, Any]) -> dict[str, str]:
    """The prefixes that a CloudEvent's data declares; for showing names, not for reading them."""
    data = attributes.get("data", "")
    if "data_base64" in attributes:
        data = base64.b64decode(attributes["data_base64"]).decode("utf-8", "replace")
    return declared_prefixes(data) if isinstance(data, str) else {}
