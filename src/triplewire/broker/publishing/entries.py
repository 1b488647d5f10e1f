"""The entries of a feed as events: each one once, by its id."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from hashlib import sha256

from triplewire.lift.cloudevents import Envelope, parse_envelope
from triplewire.lift.entries import Entry
from triplewire.lift.feeds import lift_feed
from triplewire.lift.lower import lower
from triplewire.rdf.graph import Graph
from triplewire.store.lengths import LONGEST_ID, length
from triplewire.store.moments import moment_of

KIND, FORMAT = "triplewire.feed.entry", "text/turtle"
REMEMBERED = 2000
"""So many entries of a feed are known again, beside those that are in it."""
LARGEST = 1 << 20


def entries(document: bytes) -> list[tuple[str, Entry]]:
    """The entries of a feed with their ids, the oldest first, as feeds begin with the newest."""
    found = ((_id(entry, number), entry) for number, entry in enumerate(lift_feed(document), 1))
    return list(found)[::-1]


def events(url: str, found: Collection[tuple[str, Entry]], seen: Collection[str]) -> Iterator[Envelope]:
    """What is new among the entries of a feed, as events of that source."""
    known = set(seen)
    for id_, entry in found:
        if _digest(id_) in known or entry.home is None:
            continue
        text = lower(Graph(entry.arcs, entry.home), FORMAT)
        if len(text.encode()) > LARGEST:
            continue
        home = str(entry.home).strip("<>")
        required = {"specversion": "1.0", "id": id_, "source": url, "type": KIND}
        content = {"datacontenttype": FORMAT, "data": text, "home": home, "time": moment_of(datetime.now(UTC))}
        yield parse_envelope(required | content)


def remembered(found: Collection[tuple[str, Entry]], seen: Collection[str]) -> tuple[str, ...]:
    """What is to be known again: everything in the feed, and the last of what was."""
    there = {_digest(id_): None for id_, _ in found}
    before = [digest for digest in seen if digest not in there]
    return (*before[-REMEMBERED:], *there)


def _id(entry: Entry, number: int) -> str:
    """An entry's id; if it has none but its place in the feed, which changes, a hash of what it says."""
    if entry.key is not None and entry.key != str(number):
        return entry.key if length(entry.key) <= LONGEST_ID else _digest(entry.key)
    return _digest("\n".join(sorted(map(str, entry.arcs))))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
