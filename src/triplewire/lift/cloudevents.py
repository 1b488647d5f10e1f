"""The CloudEvents envelope that every event travels in.

An envelope is checked when it is published; the graph inside is read when it is matched.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from triplewire.errors import EventError
from triplewire.rdf.graph import Event, event_graph
from triplewire.rdf.syntax import FORMATS, read

REQUIRED = ("specversion", "id", "source", "type")


@dataclass(frozen=True)
class Envelope:
    """A CloudEvent whose attributes are in order; whether its data can be read is yet to be seen."""

    id: str
    source: str
    type: str
    attributes: Mapping[str, Any]

    def as_json(self) -> str:
        return json.dumps(self.attributes, ensure_ascii=False, separators=(",", ":"))


def parse_envelope(document: str | bytes | Mapping[str, Any]) -> Envelope:
    """Check a structured CloudEvent: the required attributes, their types, one way of carrying data."""
    attributes = document if isinstance(document, Mapping) else _object(document)
    for name in REQUIRED:
        value = attributes.get(name)
        if value is None and name == "specversion":
            raise EventError("the attribute 'specversion' is missing; it should be \"1.0\"")
        if not isinstance(value, str) or not value:
            raise EventError(f"the attribute '{name}' should be a non-empty text, not {json.dumps(value)}")
    if attributes["specversion"] != "1.0":
        raise EventError(f"CloudEvents {attributes['specversion']} is not known here; 'specversion' should be \"1.0\"")
    for name in ("time", "home", "datacontenttype", "subject", "dataschema"):
        if not isinstance(attributes.get(name, ""), str):
            raise EventError(f"the attribute '{name}' should be a text, not {json.dumps(attributes[name])}")
    if "time" in attributes:
        _check_time(attributes["time"])
    _check_characters(attributes)
    if "data" in attributes and "data_base64" in attributes:
        raise EventError("an event carries 'data' or 'data_base64', not both")
    return Envelope(attributes["id"], attributes["source"], attributes["type"], attributes)


def open_envelope(envelope: Envelope) -> Event:
    """Read the event's graph out of its envelope."""
    attributes = envelope.attributes
    media_type = _media_type(attributes)
    data = _data(attributes, media_type)
    return Event(envelope.source, envelope.id, event_graph(read(data, media_type), attributes.get("home")))


def parse_event(document: str | bytes | Mapping[str, Any]) -> Event:
    """An event from its structured CloudEvent."""
    return open_envelope(parse_envelope(document))


def _object(document: str | bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(document)
    except json.JSONDecodeError as error:
        raise EventError(f"not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise EventError(f"not UTF-8: {error.reason} at offset {error.start}") from None
    except RecursionError:
        raise EventError("the JSON is nested too deeply") from None
    if not isinstance(value, dict):
        raise EventError(f"a CloudEvent is a JSON object, not {type(value).__name__}")
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
        raise EventError(f"the attribute 'datacontenttype' is missing; known are {', '.join(FORMATS)}")
    media_type: str = stated.split(";")[0].strip().lower()
    if media_type not in FORMATS:
        raise EventError(f"{media_type!r} is no format that events can be read from; known are {', '.join(FORMATS)}")
    return media_type


def _data(attributes: Mapping[str, Any], media_type: str) -> str | bytes:
    if "data_base64" in attributes:
        try:
            return base64.b64decode(attributes["data_base64"], validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise EventError("the attribute 'data_base64' is not base64") from None
    data = attributes.get("data")
    if isinstance(data, str):
        return data
    if media_type == "application/ld+json" and isinstance(data, dict | list):
        return json.dumps(data)
    raise EventError(f"the attribute 'data' should be a text in {media_type}, not {type(data).__name__}")
