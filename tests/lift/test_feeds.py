"""Feeds of every kind give events in one vocabulary; a PDF gives what it says of itself."""

import base64

import pytest

from tests.lift.documents import ATOM, DATA, RSS_1, RSS_2, arcs, lifted, pdf, shortened
from triplewire.errors import EventError
from triplewire.testing import trips


def test_each_entry_is_an_event_with_the_feeds_metadata():
    first, second = lifted("application/rss+xml", RSS_2)
    assert (first.id, second.id) == ("e#n1", "e#2")
    found = {shortened(" ".join(map(str, triple))) for triple in first.graph.triples}
    assert str(first.graph.home) == "<http://example.org/1>"
    assert found >= {
        "<http://example.org/1> <rdf:type> <rss:item>",
        '<http://example.org/1> <rss:title> "First"',
        '<http://example.org/1> <rss:description> "About <b>it</b>"',
        '<http://example.org/1> <dc:subject> "tea"',
        '<http://example.org/1> <dc:date> "2026-01-31T11:00:00Z"^^<xsd:dateTime>',
        "<http://example.org/1> <dcterms:isPartOf> <http://example.org/>",
        "<http://example.org/> <rdf:type> <rss:channel>",
        '<http://example.org/> <rss:title> "News"',
    }


@pytest.mark.parametrize(
    "data", [RSS_2.replace("<item><title>Second</title></item>", ""), ATOM, RSS_1.replace("Café", "First")]
)
def test_one_subscription_serves_every_kind_of_feed(data):
    [event] = lifted("application/atom+xml", data)
    envelope = {"specversion": "1.0", "id": "e", "source": "s", "type": "t", "datacontenttype": "application/rss+xml"}
    subscription = {
        "language": "filter",
        "pattern": 'rss:title = "First" and dcterms:isPartOf.rss:title = "News"',
        "prefixes": {"rss": "http://purl.org/rss/1.0/", "dcterms": "http://purl.org/dc/terms/"},
    }
    assert trips(envelope | {"data": data}, subscription).event == event.id


def test_a_feed_is_read_in_its_own_encoding_and_where_that_is_wrong_as_most_have_it():
    for data in (RSS_1.encode("iso-8859-1"), RSS_1.replace("iso-8859-1", "utf-8").encode("cp1252"), RSS_1):
        assert '<http://example.org/1> <rss:title> "Café"' in arcs("application/rss+xml", data)


def test_entries_with_the_same_id_are_not_lost():
    item = "<item><guid>n1</guid></item>"
    events = lifted("application/rss+xml", f"<rss version='2.0'><channel>{item}{item}</channel></rss>")
    assert [event.id for event in events] == ["e#n1", "e#n1 2"]


def test_a_feed_that_is_broken_is_read_as_far_as_it_goes_and_what_is_no_feed_is_refused():
    assert len(lifted("application/rss+xml", RSS_2[: RSS_2.index("Second")])) == 2
    for data in ("", "no feed", "<html><p>x</p></html>", b"\xff\xfe\0"):
        with pytest.raises(EventError, match="neither RSS nor Atom"):
            lifted("application/rss+xml", data)


def test_a_pdf_tells_of_itself_in_xmp():
    found = arcs("application/pdf", pdf())
    assert '_:H <dc:format> "application/pdf"' in found
    assert any('"On Graphs"@x-default' in arc for arc in found)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(None), "no XMP metadata"),
        (b"%PDF-1.7 nothing", "not a PDF"),
        (b"", "not a PDF"),
        (pdf("<x/>"), "holds no rdf:RDF"),
        (pdf("<rdf:RDF></rdf:RDF>"), "not well-formed"),
        ("text", "a PDF travels in 'data_base64'"),
    ],
)
def test_what_is_wrong_with_a_pdf_is_named(data, reason):
    with pytest.raises(EventError, match=reason):
        lifted("application/pdf", data)


@pytest.mark.skipif(not (DATA / "rss10").is_dir(), reason="the data folder with feeds is not here")
def test_real_feeds_give_their_items():
    counts = {
        "iunknown-index.rdf": 15,
        "veen-greg-index.rdf": 15,
        "rome/slashdot.xml": 10,
        "rome/rss_1.0-ns-on-channel.xml": 44,
    }
    for name, count in counts.items():
        assert len(lifted("application/rss+xml", (DATA / "rss10" / name).read_bytes())) == count
    broken = DATA / "rss10/feedparser/tests/illformed/rdf_channel_empty_textinput.xml"
    assert len(lifted("application/rss+xml", base64.b64decode(base64.b64encode(broken.read_bytes())))) == 1
