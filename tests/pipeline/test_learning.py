"""An ontology that learns while events come: what each matches depends on its place in the log alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyoxigraph import NamedNode
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.concepts.load import model_of_documents
from triplewire.concepts.proposed import concept_named
from triplewire.lift.cloudevents import parse_event
from triplewire.pipeline.snapshots import Snapshots
from triplewire.pipeline.standing import Standing
from triplewire.store import Store, store_url
from triplewire.subscriptions.languages import parse_subscription, proposals

FOLDER = Path(__file__).parents[2] / "examples/music-news"
DOCUMENT = {"name": "news.ttl", "media_type": "text/turtle", "text": (FOLDER / "ontology.ttl").read_text()}
KNOWN = ["Music", "Pop", "Movie", "Concert", "Album"]
NEW = ["Grunge", "Grunge rock", "Zouk", "Pink Floyd"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(store_url(tmp_path))
    opened.put_ontology([DOCUMENT])
    yield opened
    opened.close()


def live_a_little(store: Store, random: Random) -> None:
    """People subscribe with old and new words, somebody decides on these, and events go by, at random."""
    for number in range(70):
        model = model_of_documents(store.newest_ontology().documents)
        open_ = store.proposals(state="open")
        match random.randrange(8):
            case 0 | 1:
                pattern = {"interest": random.choice(KNOWN), "type": random.choice(NEW)}
                record = {"id": f"s{number}", "language": "interest", "pattern": pattern}
                parsed = parse_subscription(record, model)
                store.subscribe(record, random.choice(["lori", "jeff"]))
                store.propose(proposals(record, parsed, model), "lori", record["id"])
            case 2:
                pattern = {"concepts": random.sample(KNOWN, 1)}
                store.subscribe({"id": f"s{number}", "language": "interest", "pattern": pattern})
            case 3 if open_:
                decide(store, random.choice(open_).number, concept_named(random.choice(KNOWN), model))
            case 4 if number % 5 == 0:
                store.put_ontology([DOCUMENT | {"text": f"{DOCUMENT['text']} # {number}"}])
            case _:
                text = " ".join(random.choice([*KNOWN, *NEW, "rock"]) for _ in range(2))
                store.append([event(number, text)])


def decide(store: Store, number: int, into: NamedNode) -> None:
    """Accept, merge and reject in turn."""
    decided = {one.proposal.concept for one in store.proposals() if one.state != "open"}
    match len(decided) % 3:
        case 0:
            store.accept(number, "ann")
        case 1:
            store.merge(number, into, "ann")
        case 2:
            store.reject(number, "ann")


def event(number: int, text: str) -> tuple[str, str, str]:
    data = f"_:H <urn:triplewire:content> {json.dumps(text)} ."
    envelope = {"specversion": "1.0", "id": f"e{number}", "source": "/s", "type": "t"}
    return "/s", f"e{number}", json.dumps(envelope | {"datacontenttype": "text/turtle", "data": data})


def on_files(store: Store, position: int, folder: Path) -> list[dict[str, Any]]:
    """What `triplewire match` finds with the ontology and the subscriptions of a position, as files."""
    ontology = store.ontology(store.ontology_version(position))
    assert ontology is not None
    names = []
    for number, document in enumerate(ontology.documents):
        names.append(folder / f"{number}{Path(document['name']).suffix}")
        names[-1].write_text(document["text"])
    records = [json.dumps(revision.record) for revision in store.revisions(position - 1, position)]
    (folder / "s.ndjson").write_text("".join(f"{record}\n" for record in records))
    (folder / "e.ndjson").write_text("".join(stored.body for stored in store.events(position - 1, position)))
    files = ["--subscriptions", folder / "s.ndjson", "--events", folder / "e.ndjson"]
    options = [word for name in names for word in ("--ontology", name)]
    found = CliRunner().invoke(app, list(map(str, ["match", "--matcher", "brute", *options, *files])))
    assert found.exit_code == 0, found.output
    return [json.loads(line) for line in found.stdout.splitlines()]


@pytest.mark.parametrize("seed", range(2))
def test_a_replay_and_a_match_of_files_find_what_the_first_run_found(store: Store, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    live_a_little(store, random)
    stored = list(store.events(0, store.last_position()))
    again = random.sample(stored, len(stored))

    def run(events: list[Any]) -> dict[int, list[tuple[str, float]]]:
        standing = Standing(store, Snapshots(Path("none"), store))
        matches = ((one.position, standing.at(one.position).match(parse_event(one.body))) for one in events)
        return {position: [(match.subscription, match.score) for match in found] for position, found in matches}

    first = run(stored)
    assert run(again) == first
    assert any(first.values())
    assert {one.state for one in store.proposals()} >= {"accepted", "merged"}
    for position, found in first.items():
        assert [(m["subscription"], m["score"]) for m in on_files(store, position, tmp_path)] == found


def test_accepting_a_concept_changes_nothing_for_its_proposer(store: Store) -> None:
    for number, word in enumerate(NEW):
        record = {"id": word, "language": "interest", "pattern": {"interest": "Music", "type": word}}
        model = model_of_documents([DOCUMENT])
        store.subscribe(record, "lori")
        store.propose(proposals(record, parse_subscription(record, model), model), "lori", word)
        store.append([event(number, f"{word} with Pink at a concert")])
    before = Standing(store, Snapshots(Path("none"), store)).at(5)
    scores = {one.position: before.match(parse_event(one.body)) for one in store.events(0, 9)}
    for one in store.proposals():
        store.accept(one.number, "ann")
    store.append([event(9, "nothing")])
    after = Standing(store, Snapshots(Path("none"), store)).at(5)
    for one in store.events(0, 4):
        mine = [m for m in scores[one.position] if m.subscription == NEW[one.position - 1]]
        assert mine
        assert set(mine) <= set(after.match(parse_event(one.body)))
