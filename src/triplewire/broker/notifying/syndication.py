"""Notifications written as Atom and as JSON Feed."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from triplewire.broker.delivery.webhooks import message_id
from triplewire.broker.notifying.notifications import rdf_of
from triplewire.broker.notifying.words import line
from triplewire.lift.lifting import Lifting
from triplewire.store import Notification

ATOM, JSON_FEED = "application/atom+xml", "application/feed+json"
NAMESPACE, OURS = "http://www.w3.org/2005/Atom", "urn:triplewire:"
TURTLE = "text/turtle"
NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot say, not even by an escape."""


@dataclass(frozen=True)
class Syndicated:
    """What a feed shows, when it came to be so, and a tag that changes with it; and the RDF syntax of its events."""

    subscription: str
    entries: Sequence[Notification]
    updated: str
    tag: str = ""
    format: str = TURTLE


@dataclass(frozen=True)
class Links:
    """Where things are: all of ours, the feed itself, and the hub that tells of what is new in it."""

    base: str
    self: str
    hub: str

    def of(self, found: Notification, what: str) -> str:
        return f"{self.base}v1/notifications/{found.number}/{what}"

    def header(self) -> str:
        """As the header ``Link`` has them."""
        return f'<{self.self}>; rel="self", <{self.hub}>; rel="hub"'


def atom(feed: Syndicated, links: Links, lifting: Lifting) -> bytes:
    """An Atom feed. Each entry has its event as RDF, and how it matched in elements of our own."""
    root = ElementTree.Element("feed", {"xmlns": NAMESPACE, "xmlns:tw": OURS})
    _say(root, "id", f"urn:triplewire:subscription:{quote(feed.subscription, safe='')}")
    _say(root, "title", feed.subscription)
    _say(root, "updated", feed.updated)
    _say(ElementTree.SubElement(root, "author"), "name", "Triplewire")
    ElementTree.SubElement(root, "link", rel="self", type=ATOM, href=links.self)
    ElementTree.SubElement(root, "link", rel="hub", href=links.hub)
    for found in feed.entries:
        entry = ElementTree.SubElement(root, "entry")
        _say(entry, "id", f"urn:triplewire:{message_id(found)}")
        _say(entry, "title", found.event)
        _say(entry, "updated", found.created)
        _say(entry, "summary", line(found))
        ElementTree.SubElement(entry, "link", rel="alternate", href=links.of(found, "explanation"))
        ElementTree.SubElement(entry, "link", rel="related", href=links.of(found, "event"))
        if (text := rdf_of(found, feed.format, lifting)) is not None:
            _say_rdf(entry, text, feed.format)
        _say(entry, "tw:sequence", str(found.sequence))
        _say(entry, "tw:score", str(found.score))
        _say(entry, "tw:bindings", json.dumps(found.bindings, ensure_ascii=False))
    written: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return written


def json_items(feed: Syndicated, links: Links, lifting: Lifting) -> dict[str, Any]:
    """A JSON Feed. Each item has its event as RDF, and how it matched, in a member of our own."""
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.subscription,
        "feed_url": links.self,
        "hubs": [{"type": "WebSub", "url": links.hub}],
        "items": [_item(found, links, lifting, feed.format) for found in feed.entries],
    }


def _item(found: Notification, links: Links, lifting: Lifting, format_: str) -> dict[str, Any]:
    ours = {
        "sequence": found.sequence,
        "event": found.event,
        "source": found.source,
        "position": found.position,
        "score": found.score,
        "bindings": found.bindings,
    }
    if (text := rdf_of(found, format_, lifting)) is not None:
        ours["rdf"] = {"format": format_, "text": text}
    return {
        "id": f"urn:triplewire:{message_id(found)}",
        "title": found.event,
        "url": links.of(found, "explanation"),
        "external_url": links.of(found, "event"),
        "content_text": line(found),
        "date_published": found.created,
        "_triplewire": ours,
    }


def _say_rdf(entry: ElementTree.Element, text: str, format_: str) -> None:
    """An event as Atom has it: what is text as it is, XML as elements, and anything else in base64."""
    if format_.startswith("text/"):
        _say(entry, "content", text, type=format_)
    elif format_.endswith("xml"):
        written = ElementTree.fromstring(NO_XML.sub("\ufffd", text))  # noqa: S314 - it is our own
        ElementTree.SubElement(entry, "content", type=format_).append(written)
    else:
        _say(entry, "content", b64encode(text.encode()).decode(), type=format_)


def _say(parent: ElementTree.Element, name: str, text: str, **attributes: str) -> None:
    ElementTree.SubElement(parent, name, attributes).text = NO_XML.sub("\ufffd", text)
