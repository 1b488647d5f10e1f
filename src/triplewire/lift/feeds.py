"""Feeds: RSS and Atom in one vocabulary, RSS 1.0's with Dublin Core, so that one subscription serves all.

Each entry is an event::

    <entry> a rss:item ; rss:title "…" ; rss:link "…" ; rss:description "…" ; content:encoded "…" ;
        dc:identifier "…" ; dc:creator "…" ; dc:subject "…" ; dc:date "…"^^xsd:dateTime ; dcterms:isPartOf <feed> .
    <feed> a rss:channel ; rss:title "…" ; rss:link "…" ; rss:description "…" ; dc:language "…" .
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from time import struct_time
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.errors import EventError
from triplewire.lift.entries import Entry
from triplewire.lift.markup import check_entities, xml_text
from triplewire.rdf.graph import HOME
from triplewire.rdf.terms import RDF, XSD, Resource, Triple, Vocabulary

RSS = Vocabulary("http://purl.org/rss/1.0/")
CONTENT = Vocabulary("http://purl.org/rss/1.0/modules/content/")
DC = Vocabulary("http://purl.org/dc/elements/1.1/")
DCTERMS = Vocabulary("http://purl.org/dc/terms/")

_TEXTS = {
    "title": RSS.title,
    "link": RSS.link,
    "summary": RSS.description,
    "subtitle": RSS.description,
    "id": DC.identifier,
    "language": DC.language,
    "rights": DC.rights,
    "publisher": DC.publisher,
}


def lift_feed(data: str | bytes) -> Iterator[Entry]:
    """The entries of a feed, in the feed's order; a feed that is not well-formed as far as it can be read.

    An entry's key is its id, else its link, else its number, counted from 1.
    """
    import feedparser  # here, since few need it and it takes its time

    text = _text(data)
    check_entities(text)
    # a stream, and never a text: that could be taken for an address
    feed = feedparser.parse(io.BytesIO(text.encode("utf-8", "replace")))
    if not feed.get("version"):
        raise EventError(f"neither RSS nor Atom: {feed.get('bozo_exception') or 'no known root element'}")
    channel = _vertex(feed.feed, BlankNode("feed"))
    about = list(_channel(channel, feed.feed))
    taken: set[str] = set()
    for number, entry in enumerate(feed.entries, 1):
        key = entry.get("id") or entry.get("link") or str(number)
        if key in taken:  # feeds are careless with ids, and no entry should be lost for it
            key = f"{key} {number}"
        taken.add(key)
        home = _vertex(entry, HOME)
        yield Entry([*_item(home, entry), Triple(home, DCTERMS.isPartOf, channel), *about], home, key)


def _item(home: Resource, entry: Mapping[str, Any]) -> Iterator[Triple]:
    yield Triple(home, RDF.type, RSS.item)
    yield from _texts(home, entry)
    for content in entry.get("content", ()):
        if content.get("value"):
            yield Triple(home, CONTENT.encoded, _literal(content["value"]))
    people = [person.get("name") for person in entry.get("authors", ())]
    for person in people if any(people) else [entry.get("author")]:
        if person:
            yield Triple(home, DC.creator, _literal(person))
    for tag in entry.get("tags", ()):
        if tag.get("term"):
            yield Triple(home, DC.subject, _literal(tag["term"]))
    yield from _date(home, entry)


def _channel(channel: Resource, feed: Mapping[str, Any]) -> Iterator[Triple]:
    yield Triple(channel, RDF.type, RSS.channel)
    yield from _texts(channel, feed)
    yield from _date(channel, feed)


def _texts(subject: Resource, found: Mapping[str, Any]) -> Iterator[Triple]:
    for name, property_ in _TEXTS.items():
        if isinstance(text := found.get(name), str) and text:
            yield Triple(subject, property_, _literal(text))


def _date(subject: Resource, found: Mapping[str, Any]) -> Iterator[Triple]:
    """When it was published, else updated, in UTC."""
    stamp = found.get("published_parsed") or found.get("updated_parsed")
    if isinstance(stamp, struct_time) and 0 < stamp.tm_year <= 9999:
        date = f"{stamp.tm_year:04}-{stamp.tm_mon:02}-{stamp.tm_mday:02}"
        time = f"{stamp.tm_hour:02}:{stamp.tm_min:02}:{min(stamp.tm_sec, 59):02}"
        yield Triple(subject, DC.date, Literal(f"{date}T{time}Z", datatype=XSD.dateTime))


def _vertex(found: Mapping[str, Any], otherwise: Resource) -> Resource:
    """The vertex of an entry or feed: its id or link where that is an address."""
    for name in ("id", "link"):
        address = found.get(name)
        if isinstance(address, str) and ":" in address:
            try:
                return NamedNode(address)
            except ValueError:
                continue
    return otherwise


def _literal(text: str) -> Literal:
    return Literal(text.encode("utf-8", "replace").decode())


def _text(data: str | bytes) -> str:
    """The feed's text; where its encoding is not what it says, as most such feeds have it."""
    try:
        return xml_text(data)
    except EventError:
        return xml_text(data.decode("cp1252", "replace") if isinstance(data, bytes) else data)
