"""The CloudEvents envelope: what is accepted, and what is refused with which words."""

import base64
import json

import pytest
from pyoxigraph import BlankNode

from triplewire.errors import EventError
from triplewire.lift.cloudevents import parse_envelope, parse_event

GOOD = {
    "specversion": "1.0",
    "id": "e1",
    "source": "/shop",
    "type": "offer",
    "time": "2026-01-31T12:00:00Z",
    "datacontenttype": "text/turtle; charset=utf-8",
    "data": "_:H <http://example.org/p> 1 .",
}


def test_an_event_is_read_out_of_its_envelope():
    event = parse_event(json.dumps(GOOD))
    assert (event.source, event.id, event.graph.home) == ("/shop", "e1", BlankNode("H"))


def test_data_may_come_as_base64_and_json_ld_as_json():
    data = base64.b64encode(GOOD["data"].encode()).decode()
    packed = {k: v for k, v in GOOD.items() if k != "data"} | {"data_base64": data}
    assert parse_event(packed).graph == parse_event(GOOD).graph
    nested = GOOD | {"datacontenttype": "application/ld+json", "data": {"@id": "_:H", "http://example.org/p": 1}}
    assert parse_event(nested).graph == parse_event(GOOD).graph


def test_an_envelope_keeps_every_attribute():
    envelope = parse_envelope(GOOD | {"extra": "kept"})
    assert json.loads(envelope.as_json()) == GOOD | {"extra": "kept"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"specversion": None}, "'specversion' is missing"),
        ({"specversion": "0.3"}, "CloudEvents 0.3 is not known"),
        ({"id": ""}, "'id' should be a non-empty text"),
        ({"source": 7}, "'source' should be a non-empty text, not 7"),
        ({"type": None}, "'type' should be"),
        ({"time": "yesterday"}, "RFC 3339"),
        ({"time": "2026-01-31T12:00:00"}, "RFC 3339"),
        ({"id": "\ud800"}, "'id' has half a surrogate pair at 0"),
        ({"data": "_:H <http://example.org/p> '\udfff' ."}, "'data' has half a surrogate pair at 28"),
        ({"home": 3}, "'home' should be a text"),
        ({"home": "_:nobody"}, "no vertex of the event's graph"),
        ({"datacontenttype": "text/plain"}, "known are text/turtle"),
        ({"datacontenttype": None}, "'datacontenttype' is missing"),
        ({"data": None}, "'data' should be a text in text/turtle, not null"),
        ({"data": {"a": 1}}, "not an object"),
        ({"data_base64": "eA=="}, "not both"),
        ({"data": "_:H ex:p 1 ."}, "prefix"),
    ],
)
def test_what_is_wrong_is_named(change, reason):
    record = {key: value for key, value in (GOOD | change).items() if value is not None}
    with pytest.raises(EventError, match=reason):
        parse_event(record)


@pytest.mark.parametrize("text", ["", "[]", '"x"', "{", b"\xff", "[" * 100_000])
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(EventError):
        parse_event(text)


def test_an_envelope_far_over_the_limit_is_not_even_read():
    with pytest.raises(EventError, match="the CloudEvent has 9,000,000 bytes; the limit for its data is 1,048,576"):
        parse_event(b" " * 9_000_000)


def test_base64_that_is_none_is_refused():
    packed = {k: v for k, v in GOOD.items() if k != "data"} | {"data_base64": "%%%"}
    with pytest.raises(EventError, match="not base64"):
        parse_event(packed)
