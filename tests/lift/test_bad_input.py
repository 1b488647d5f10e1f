"""Bad input of every kind: a reason each, and never a crash, a file read, a connection, or memory without bound."""

from __future__ import annotations

import base64
import builtins
import dataclasses
import io
import json
import os
import socket
import time
import tracemalloc
from contextlib import contextmanager, suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lift import documents
from tests.lift.documents import ATOM, EXAMPLE, RSS_1, RSS_2, envelope, pdf
from triplewire.errors import EventError
from triplewire.lift.cloudevents import parse_events
from triplewire.lift.formats import LIFTERS
from triplewire.lift.lifting import DEFAULT
from triplewire.rdf.graph import check_strict

RDF_XML = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE rdf:RDF [<!ENTITY x "http://example.org/">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="http://example.org/">
<ex:Offer rdf:about="&x;a"><ex:price>380</ex:price><ex:by rdf:parseType="Resource"/></ex:Offer></rdf:RDF>"""
TURTLE = '@prefix ex: <http://example.org/> . _:H a ex:Offer ; ex:price 380.5 ; ex:name "Thé"@fr, ( 1 [] ) .'
QUADS = '_:H <urn:p> "1"^^<urn:t> <urn:g> .\n<urn:a> <urn:p> _:x .\n'
TREE = '{"price": 380.5, "by": [{"name": "Ann \\u00e9"}, null, true], "n": -1e3}'
LINKED = json.dumps(
    {"@context": ["https://www.w3.org/ns/activitystreams", {"@language": "en"}], "type": "Create", "actor": "urn:ann"}
    | {"object": {"type": "Note", "contentMap": {"en": "Tea"}, "first": {"type": "Link", "href": "urn:x"}}}
)
SEEDS = {
    "text/turtle": [TURTLE.encode()],
    "application/trig": [TURTLE.encode(), b"<urn:g> { <urn:a> <urn:b> <urn:c> }"],
    "application/n-triples": [QUADS.replace(" <urn:g>", "").encode()],
    "application/n-quads": [QUADS.encode()],
    "application/rdf+xml": [RDF_XML.encode(), RSS_1.encode("iso-8859-1")],
    "application/ld+json": [LINKED.encode(), TREE.encode()],
    "application/json": [TREE.encode(), LINKED.encode()],
    "application/xml": [RDF_XML.encode(), RSS_2.encode(), ATOM.encode("utf-16")],
    "text/csv": [b'sku,price,name\n1,3.5,"Tea, green"\n2,,\n'],
    "application/rss+xml": [RSS_2.encode(), RSS_1.encode("iso-8859-1")],
    "application/atom+xml": [ATOM.encode()],
    "application/pdf": [pdf()],
}

BOMB = "<!DOCTYPE a [<!ENTITY a0 'lol'>{}]>".format(
    "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 10))
)
LONG = f"<!DOCTYPE a [<!ENTITY a9 '{'x' * 50_000}'>]>"
FILE = "<!DOCTYPE a [<!ENTITY a9 SYSTEM 'file:///etc/hostname'>]>"
PARAMETER = "<!DOCTYPE a [<!ENTITY % a9 SYSTEM 'http://localhost/x.dtd'> %a9;]>"


@contextmanager
def closed_off():
    """No connection and no file while events are read."""
    attempts = []

    def refuse(*arguments, **_):
        attempts.append(arguments)
        raise OSError("closed off")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("socket", "create_connection", "getaddrinfo"):
            patch.setattr(socket, name, refuse)
        for module in (builtins, io, os):
            patch.setattr(module, "open", refuse)
        yield
    assert not attempts


def lifted(*arguments, **more):
    with closed_off():
        return documents.lifted(*arguments, **more)


@pytest.fixture(scope="module", autouse=True)
def _everything_imported():
    documents.lifted("application/rss+xml", RSS_2[:-1])
    documents.lifted("application/pdf", pdf())


def test_every_format_has_a_seed_that_is_well():
    assert SEEDS.keys() == LIFTERS.keys()
    for media_type, seeds in SEEDS.items():
        assert all(lifted(media_type, seed, EXAMPLE) for seed in seeds)


@pytest.mark.parametrize("document_type", [BOMB, LONG, FILE, PARAMETER])
@pytest.mark.parametrize("media_type", ["application/xml", "application/rdf+xml", "application/rss+xml"])
def test_dangerous_entities_are_refused(media_type, document_type):
    body = RSS_2.removeprefix('<?xml version="1.0"?>').replace("First", "&a9;")
    for data in (document_type + body, f"\n{document_type}{body}".encode("utf-16")):
        with pytest.raises(EventError, match=r"line \d: an (external|entity)"):
            lifted(media_type, data)


@pytest.mark.parametrize(
    ("media_type", "data", "reason"),
    [
        ("application/json", '{"a": ' * 100 + "1" + "}" * 100, "nested too deeply: the limit is 64"),
        ("application/json", "[" * 100_000, "nested too deeply"),
        ("application/ld+json", '{"urn:a": ' * 100 + "1" + "}" * 100, "nested too deeply: the limit is 64"),
        ("application/xml", "<a>" * 100 + "</a>" * 100, "line 1: the XML is nested too deeply: the limit is 64"),
        ("application/json", {"a": {"b": "x" * 300_000}}, "has 300,000 characters; the limit is 262,144"),
        ("text/turtle", f'_:H <urn:p> "{"x" * 300_000}" .', "the limit is 262,144"),
        ("application/xml", f"<a>{'x' * 300_000}</a>", "the limit is 262,144"),
        ("text/turtle", "#" * 1_048_577, "1,048,577 bytes; the limit is 1,048,576"),
        ("application/json", {"a": ["é" * 1000] * 600}, "the limit is 1,048,576"),
        ("application/json", '{"a": ' + "1" * 5000 + "}", "5000 digits is over the limit"),
        ("application/json", '{"a": 1e999999999}', "more than 1000 digits"),
        ("application/json", '{"a": NaN}', "NaN is no JSON value"),
        ("application/json", '{"a": "\\ud800"}', "/a: "),
        ("application/json", "[1]", "a JSON event is an object, not an array"),
        ("application/json", None, "a JSON event is an object, not null"),
        ("application/json", b'{"a": "\xff"}', "not UTF-8: byte 0xff at offset 7"),
        ("application/json", '{"a": 1', "not JSON: line 1, column 8"),
        ("application/xml", "<a><b></a>", "not well-formed XML: line 1, column 9: mismatched tag"),
        ("application/xml", "", "not well-formed XML: line 1, column 1: no element found"),
        ("application/xml", "<x:a/>", "unbound prefix"),
        (
            "application/xml",
            b'<?xml version="1.0" encoding="utf-7"?><a/>',
            "the declared encoding 'utf-7' is not known",
        ),
        ("application/xml", b"<a>\xff</a>", "not utf-8: byte 0xff at offset 3"),
        ("application/rdf+xml", "<x:RDF/>", "not well-formed application/rdf"),
        ("text/turtle", "_:H ex:p 1 .", "prefix"),
        ("application/n-triples", "_:H <urn:p> .", "line 1"),
    ],
)
def test_what_is_wrong_is_named(media_type, data, reason):
    with pytest.raises(EventError) as refused:
        lifted(media_type, data)
    assert reason in str(refused.value)


def test_there_are_not_more_entries_than_the_limit():
    lifting = dataclasses.replace(DEFAULT, entry_limit=3)
    assert len(lifted("text/csv", "a\n1\n2\n3\n", lifting)) == 3
    with pytest.raises(EventError, match="more than 3 entries"):
        lifted("text/csv", "a\n1\n2\n3\n4\n", lifting)


def test_without_a_home_vertex_a_strict_check_refuses():
    [event] = lifted("text/turtle", "<urn:a> <urn:p> <urn:b> . <urn:b> <urn:p> <urn:a> .")
    with pytest.raises(EventError, match="no home vertex"):
        check_strict(event.graph)


def test_whatever_breaks_in_a_library_is_an_event_error(monkeypatch):
    class Panic(BaseException):
        pass

    def panic(*_):
        raise Panic("out of luck")

    monkeypatch.setitem(LIFTERS, "text/turtle", panic)
    with pytest.raises(EventError, match="cannot read text/turtle: Panic: out of luck"):
        lifted("text/turtle", "")


large = pytest.mark.parametrize(
    ("media_type", "start", "part", "times", "end"),
    [
        ("application/xml", b"<!DOCTYPE a [<!ENTITY x '" + b"y" * 250 + b"'>]><a>", b"&x;", 300_000, b"</a>"),
        ("application/rss+xml", b"<rss version='2.0'><channel>", b"<item>", 20_000, b""),
        ("application/rss+xml", b"", b"<", 150_000, b""),
        ("text/csv", b"", b"a\n", 500_000, b""),
        ("application/json", b"[", b"[],", 300_000, b"[]]"),
        ("application/ld+json", b'{"urn:a":[', b'{"urn:b":1},', 80_000, b"{}]}"),
    ],
)


@large
def test_time_stays_bounded(media_type, start, part, times, end):
    began = time.process_time()
    with suppress(EventError):
        lifted(media_type, start + part * times + end)
    assert time.process_time() - began < 30


@large
def test_memory_stays_bounded(media_type, start, part, times, end):
    """On an eighth of the document with an eighth of the memory, as counting makes everything many times slower."""
    tracemalloc.start()
    with suppress(EventError):
        lifted(media_type, start + part * (times // 8) + end)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (700 << 20) / 8


@st.composite
def mutations(draw: st.DrawFn) -> tuple[str, bytes]:
    """A document of some format, cut off or changed in a few places."""
    media_type = draw(st.sampled_from(sorted(SEEDS)))
    data = bytearray(draw(st.sampled_from(SEEDS[media_type])))
    if draw(st.booleans()):
        del data[draw(st.integers(0, len(data))) :]
    for _ in range(draw(st.integers(0, 6))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 30))
        data[at : at + length] = draw(st.binary(max_size=4) | st.just(bytes(data[length : 3 * length])))
    return media_type, bytes(data)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutations())
def test_nothing_but_an_event_error_comes_out_of_what_is_broken(mutation):
    media_type, data = mutation
    try:
        lifted(media_type, data, EXAMPLE)
    except EventError as error:
        assert str(error)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(SEEDS)), st.data())
def test_nothing_but_an_event_error_comes_out_of_a_broken_envelope(media_type, data):
    line = json.dumps(envelope(media_type, SEEDS[media_type][0])).encode()
    cut = data.draw(st.integers(0, len(line)))
    for text in (line[:cut], line[:cut] + line[cut + 1 :], line[:cut] + data.draw(st.binary(max_size=3)) + line[cut:]):
        try:
            parse_events(text)
        except EventError as error:
            assert str(error)


def test_data_in_base64_is_what_it_is_as_text():
    text = parse_events(envelope("text/turtle", TURTLE))
    assert parse_events(envelope("text/turtle", TURTLE.encode())) == text
    packed = envelope("text/turtle", "") | {"data_base64": base64.b64encode(TURTLE.encode()).decode()}
    with pytest.raises(EventError, match="not both"):
        parse_events(packed)
