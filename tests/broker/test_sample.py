"""Loading a sample world."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.broker.clients import AUCTION, cloudevent
from triplewire.broker.model import Models
from triplewire.broker.publishing.sample import load_sample
from triplewire.errors import EventError, UsageError
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import make_matcher
from triplewire.rdf.graph import check_strict
from triplewire.store import Store
from triplewire.subscriptions.languages import parse_subscription


def told() -> dict[str, list[str]]:
    """Which subscriptions each event trips, as the sample's README tells it."""
    rows = re.findall(r"^\| `(event-\d)` \|.*\| (.*) \|$", (AUCTION / "README.md").read_text(), flags=re.MULTILINE)
    return {event: re.findall(r"`([\w-]+)`", trips) for event, trips in rows}


def test_the_auction_is_what_its_readme_says(store: Store) -> None:
    assert load_sample(store, AUCTION)
    model = Models(store).current()
    matcher = make_matcher("brute", model)
    for revision in store.subscriptions():
        subscription = parse_subscription(revision.record, model)
        assert subscription.warnings == ()
        matcher.add(subscription)
    found: dict[str, list[str]] = {}
    for stored in store.events(0, store.last_position()):
        try:
            event = parse_event(stored.body)
        except EventError:
            found[stored.id] = []
        else:
            check_strict(event.graph, model.types)
            found[stored.id] = [match.subscription for match in matcher.match(event)]
    assert found == told()
    assert len(found) == 7


def test_subscriptions_go_in_before_events(store: Store) -> None:
    load_sample(store, AUCTION)
    assert {revision.since for revision in store.subscriptions()} == {0}
    assert store.ontologies()[0].since == 0
    assert store.last_position() == 7


def test_loading_again_changes_nothing(store: Store) -> None:
    load_sample(store, AUCTION)
    store.unsubscribe("s1")
    store.put_ontology([])
    assert not load_sample(store, AUCTION)
    assert store.subscription("s1") is None
    assert [ontology.version for ontology in store.ontologies()] == [1, 2]
    assert store.last_position() == 7


def test_loading_that_was_cut_short_begins_again(store: Store) -> None:
    record = json.loads((AUCTION / "subscriptions.ndjson").read_text().splitlines()[0])
    store.subscribe(record)
    assert load_sample(store, AUCTION)
    assert len(store.subscriptions()) == 7


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("events.ndjson", f"{json.dumps(cloudevent())}\n\nno event\n", "events.ndjson, line 3"),
        ("subscriptions.ndjson", '{"id": "x", "language": "ops", "pattern": "("}', "subscriptions.ndjson, line 1"),
        ("subscriptions.ndjson", "{", "subscriptions.ndjson, line 1"),
        ("subscriptions.ndjson", "[]", "subscriptions.ndjson, line 1"),
        ("events.ndjson", None, "No such file"),
    ],
)
def test_a_bad_sample_names_the_place_and_loads_nothing(
    store: Store, tmp_path: Path, file: str, text: str | None, words: str
) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(AUCTION, folder)
    (folder / file).unlink()
    if text is not None:
        (folder / file).write_text(text)
    with pytest.raises(UsageError, match=words):
        load_sample(store, folder)
    assert (store.last_position(), store.subscriptions(), store.ontologies()) == (0, [], [])
