"""A small world for the pipeline's tests: offers at a price, and subscriptions to what is cheap."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from triplewire.errors import EventError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import make_matcher
from triplewire.pipeline.snapshots import load_version
from triplewire.store import Store
from triplewire.subscriptions.languages import parse_subscription

PREFIXES = {"ex": "http://example.org/"}
SOURCE = "/shop"

COMPUTERS = "ex:Desktop rdfs:subClassOf ex:Computer ."
FURNITURE = "ex:Desktop rdfs:subClassOf ex:Furniture ."


def offer(number: int, price: int = 100, kind: str = "Desktop") -> tuple[str, str, str]:
    """An event as the log takes it."""
    data = f"@prefix ex: <http://example.org/> . _:H a ex:{kind} ; ex:price {price} ."
    return broken(number, data)


def broken(number: int, data: str = "this is no Turtle") -> tuple[str, str, str]:
    """An event whose envelope is well and whose data need not be."""
    envelope = {"specversion": "1.0", "id": f"e{number}", "source": SOURCE, "type": "offer"}
    return SOURCE, f"e{number}", json.dumps(envelope | {"datacontenttype": "text/turtle", "data": data})


def table(number: int, *prices: int) -> tuple[str, str, str]:
    """An event that holds several: offers, a row each, which ``write_lifting`` gives their meaning."""
    source, id_, body = broken(number, "".join(f"{line}\n" for line in ("price", *prices)))
    return source, id_, json.dumps(json.loads(body) | {"type": "table", "datacontenttype": "text/csv"})


def write_lifting(folder: Path) -> Path:
    """The settings that make the rows of a table offers."""
    mapping = {"for": "table", "prefixes": PREFIXES, "class": "ex:Desktop"}
    mapping["properties"] = {"price": {"property": "ex:price", "datatype": "xsd:integer"}}
    (folder / "mappings").mkdir(parents=True)
    (folder / "mappings" / "table.json").write_text(json.dumps(mapping))
    return folder


def cheaper(id_: str, price: int, kind: str = "Computer") -> dict[str, Any]:
    """A subscription to what costs less."""
    pattern = f"(_:H, ?1, (ex:{kind}, ex:price, xsd:integer), ?1 < {price})"
    return {"id": id_, "language": "ops", "pattern": pattern, "prefixes": PREFIXES}


def document(statements: str) -> dict[str, str]:
    """An ontology's document."""
    prefixes = "@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    return {"name": "kinds.ttl", "media_type": "text/turtle", "text": prefixes + statements}


def expected(store: Store) -> list[tuple[int, str]]:
    """Which subscription each event of the log trips, by the definition: each event with a matcher of its own."""
    found = []
    for event in store.events(0, store.last_position()):
        model = load_version(store, store.ontology_version(event.position))
        matcher = make_matcher("brute", model)
        for revision in store.revisions(event.position - 1, event.position):
            matcher.add(parse_subscription(revision.record, model))
        with suppress(EventError):
            found += [(event.position, match.subscription) for match in matcher.match(parse_event(event.body))]
    return found


def notified(store: Store) -> list[tuple[int, str]]:
    """The store's notifications, each as often as it is there."""
    return sorted((n.position, n.subscription) for n in store.notifications(limit=1_000_000))


def eventually(condition: Callable[[], bool], seconds: float = 240, what: str = "it") -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} took too long"
        time.sleep(0.02)


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
