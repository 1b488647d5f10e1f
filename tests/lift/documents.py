"""Envelopes for the tests of lifting, a small PDF, and the data that may be absent."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from triplewire.lift.cloudevents import parse_event, parse_events
from triplewire.lift.lifting import DEFAULT, Lifting, load_lifting
from triplewire.rdf.graph import Event

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
EXAMPLE = load_lifting(ROOT / "examples" / "lifting")


def envelope(media_type: str, data: Any, **more: str) -> dict[str, Any]:
    """A CloudEvent; bytes travel in base64."""
    content = {"data_base64": base64.b64encode(data).decode()} if isinstance(data, bytes) else {"data": data}
    attributes = {"specversion": "1.0", "id": "e", "source": "/test", "type": "test"} | more
    return attributes | {"datacontenttype": media_type} | content


def lifted(media_type: str, data: Any, lifting: Lifting = DEFAULT, **more: str) -> list[Event]:
    return parse_events(envelope(media_type, data, **more), lifting)


def arcs(media_type: str, data: Any, lifting: Lifting = DEFAULT, **more: str) -> set[str]:
    """The triples of the one event in a document, as N-Triples with short names for the default vocabulary."""
    event = parse_event(envelope(media_type, data, **more), lifting)
    return {shortened(" ".join(map(str, triple))) for triple in event.graph.triples}


def shortened(text: str) -> str:
    for prefix, namespace in NAMESPACES.items():
        text = text.replace(f"<{namespace}", f"<{prefix}:")
    return text


NAMESPACES = {
    "key": "urn:triplewire:key:",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rss": "http://purl.org/rss/1.0/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
}

XMP = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">On Graphs</rdf:li></rdf:Alt></dc:title>
<dc:format>application/pdf</dc:format></rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""


def pdf(xmp: str | None = XMP) -> bytes:
    """A PDF of one blank page, with metadata."""
    from io import BytesIO

    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    if xmp is not None:
        writer.xmp_metadata = xmp.encode()
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


RSS_2 = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>http://example.org/</link>
<item><title>First</title><link>http://example.org/1</link><guid isPermaLink="false">n1</guid>
<description>About &lt;b&gt;it&lt;/b&gt;</description><category>tea</category>
<pubDate>Sat, 31 Jan 2026 12:00:00 +0100</pubDate></item>
<item><title>Second</title></item></channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>http://example.org/</id>
<entry><title>First</title><id>http://example.org/1</id><updated>2026-01-31T11:00:00Z</updated>
<author><name>Ann</name></author><summary>About it</summary></entry></feed>"""

RSS_1 = """<?xml version="1.0" encoding="iso-8859-1"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="http://example.org/"><title>News</title><items><rdf:Seq/></items></channel>
<item rdf:about="http://example.org/1"><title>Caf\u00e9</title><link>http://example.org/1</link>
<dc:creator>Ann</dc:creator></item></rdf:RDF>"""
