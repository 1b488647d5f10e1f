"""A sample world: a folder with an ontology, subscriptions and events, for a store that has no events yet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triplewire.concepts.load import SUFFIXES, model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import Proposal
from triplewire.errors import TriplewireError, UsageError
from triplewire.lift.cloudevents import Envelope, parse_envelope
from triplewire.store import LOCAL, Store
from triplewire.subscriptions.languages import parse_subscription, proposals


def load_sample(store: Store, folder: Path) -> bool:
    """Load a sample world into a store without events, and say whether it was done.

    The folder holds ``ontology*.ttl``, ``subscriptions.ndjson`` and ``events.ndjson``. The events go in last and all
    at once: so the subscriptions match them, and a loading that was cut short begins again the next time.
    """
    if store.last_position() > 0:
        return False
    documents = [_document(path) for path in sorted(folder.glob("ontology*.ttl"))]
    subscriptions = list(_subscriptions(folder / "subscriptions.ndjson", model_of_documents(documents)))
    events = list(_events(folder / "events.ndjson"))
    store.put_ontology(documents, reason=f"the sample {folder.name}")
    for record, new in subscriptions:
        if store.subscription(record["id"]) is None:
            store.subscribe(record)
            store.propose(new, LOCAL, record["id"])
    store.append([(event.source, event.id, event.as_json()) for event in events])
    return True


def _document(path: Path) -> dict[str, str]:
    return {"name": path.name, "media_type": SUFFIXES[path.suffix], "text": _text(path)}


def _subscriptions(path: Path, model: ConceptModel) -> Iterator[tuple[dict[str, Any], list[Proposal]]]:
    """The records of subscriptions, each with the concepts that it proposes."""
    for number, line in _lines(path):
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("a subscription is a JSON object")
            new = list(proposals(record, parse_subscription(record, model), model))
        except (TriplewireError, ValueError) as error:
            raise UsageError(f"{path}, line {number}: {error}") from None
        yield record, new


def _events(path: Path) -> Iterator[Envelope]:
    for number, line in _lines(path):
        try:
            yield parse_envelope(line)
        except TriplewireError as error:
            raise UsageError(f"{path}, line {number}: {error}") from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    return ((number, line) for number, line in enumerate(_text(path).split("\n"), 1) if line.strip())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the sample cannot be read: {path}: {getattr(error, 'strerror', None) or error}") from None
