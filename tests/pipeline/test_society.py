"""What friends are offered and which concepts publications propose, as the store has it at each position."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.pipeline.test_late import HASTY, locked
from triplewire.errors import StoreAwayError
from triplewire.lift.cloudevents import parse_event
from triplewire.lift.lifting import DEFAULT
from triplewire.matching import make_matcher
from triplewire.matching.suggestions import audience, suggestions
from triplewire.pipeline.snapshots import Snapshots, load_version
from triplewire.pipeline.society import Society
from triplewire.pipeline.standing import Standing
from triplewire.store import Offer, Outcome, Store, store_url
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.profiles import Person

FOLDER = Path(__file__).parents[2] / "examples/music-news"
NEWS = "http://example.org/news#"
NAMES = ["lori", "janet", "jeff", "jack"]
CONCEPTS = ["Music", "Pop", "Movie", "News", "Concert", "Fargo", "Singer", "Album"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(store_url(tmp_path))
    text = (FOLDER / "ontology.ttl").read_text()
    opened.put_ontology([{"name": "news.ttl", "media_type": "text/turtle", "text": text}])
    yield opened
    opened.close()


def publication(number: int, type_: str, subtype: str) -> tuple[str, str, str]:
    data = f"@prefix tw: <urn:triplewire:> . _:H tw:publicationType {type_} ; tw:publicationSubType {subtype} ."
    envelope = {"specversion": "1.0", "id": f"e{number}", "source": "/arnie", "type": "t"}
    return "/arnie", f"e{number}", json.dumps(envelope | {"datacontenttype": "text/turtle", "data": data})


def interest(id_: str, concepts: list[str]) -> dict[str, object]:
    return {"id": id_, "language": "interest", "pattern": {"concepts": concepts}}


def live_a_little(store: Store, random: Random) -> None:
    """Subscribe, publish, meet people, consent and decline, at random."""
    for number in range(60):
        name = random.choice(NAMES)
        match random.randrange(6):
            case 0:
                threshold = random.choice([0.8, 0.85, 0.9])
                store.subscribe(interest(f"s{number}", random.sample(CONCEPTS, 1)) | {"threshold": threshold}, name)
            case 1:
                friends = frozenset(random.sample(NAMES, 3))
                store.people.put(Person(name, friends, random.random() < 0.8, random.random() < 0.05))
            case 2 if number > 50:
                store.people.decline(name)
            case _:
                type_, subtype = (f"<{NEWS}{one}>" for one in random.sample(CONCEPTS, 2))
                store.append([publication(number, type_, subtype)])


def matched(store: Store, standing: Standing, after: int, upto: int) -> list[Outcome]:
    return [
        Outcome(event.position, match.event, match.subscription, match.score, "[]")
        for event in store.events(after, upto)
        for match in standing.at(event.position).match(parse_event(event.body))
    ]


def plainly(store: Store) -> list[Offer]:
    """Each event by itself, with all who stand at its position."""
    found, model = [], load_version(store, 1)
    for stored in store.events(0, store.last_position()):
        at = stored.position
        theirs = {name: [parse_subscription(r, model) for r in store.people.records_at(at, name)] for name in NAMES}
        matcher = make_matcher("brute", model)
        owners = {one.id: name for name, subscriptions in theirs.items() for one in subscriptions}
        for one in (one for subscriptions in theirs.values() for one in subscriptions):
            matcher.add(one)
        event = parse_event(stored.body)
        friends = audience({owners[m.subscription] for m in matcher.match(event)}, store.people.at(at, NAMES))
        offered = suggestions(event, friends, theirs, model)
        found += [Offer(at, one.event, one.person, one.subscription, one.score) for one in offered]
    return found


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_friends_are_offered_what_stands_at_the_position_however_often_a_batch_is_replayed(
    store: Store, seed: int
) -> None:
    live_a_little(store, Random(seed))
    last = store.last_position()
    half = last // 2
    standing = Standing(store, Snapshots(Path("none"), store))
    for after, upto in [(0, half), (0, half), (half, last), (0, last)]:
        outcomes = matched(store, standing, after, upto)
        store.record(outcomes, [], upto, Society(store, DEFAULT).offers(outcomes))
    written = [Offer(s.position, s.event, s.person, s.subscription, s.score) for s in store.people.offered(limit=1000)]
    assert written == plainly(store)
    assert written


def test_publications_propose_their_unknown_subtypes_once(store: Store) -> None:
    store.append([publication(1, f"<{NEWS}Music>", '"Grunge"'), publication(2, f"<{NEWS}Music>", '"grunge"')])
    store.append([publication(3, f"<{NEWS}Movie>", f"<{NEWS}SpyMovie>"), publication(4, "<urn:none>", '"None"')])
    store.append([("/arnie", "e5", '{"publicationSubType": "no event"}')])
    for _ in range(2):
        Society(store, DEFAULT).propose(5)
    found = [(p.proposal.word, p.proposal.parent.value, p.proposer, p.origin) for p in store.proposals()]
    assert found == [("Grunge", f"{NEWS}Music", "/arnie", "e1"), ("Spy Movie", f"{NEWS}Movie", "/arnie", "e3")]


def test_what_the_pipeline_is_done_with_proposes_nothing(store: Store) -> None:
    store.append([publication(1, f"<{NEWS}Music>", '"Grunge"')])
    store.record([], [], 1)
    Society(store, DEFAULT).propose(1)
    assert store.proposals() == []


def test_a_publication_in_base64_proposes_as_any_other(store: Store) -> None:
    source, id_, body = publication(1, f"<{NEWS}Music>", '"Grunge"')
    envelope = json.loads(body)
    envelope["data_base64"] = b64encode(envelope.pop("data").encode()).decode()
    store.append([(source, id_, json.dumps(envelope))])
    Society(store, DEFAULT).propose(1)
    assert [one.proposal.word for one in store.proposals()] == ["Grunge"]


def test_consent_counts_as_it_stood_at_the_event_be_it_withdrawn_before_the_batch(store: Store) -> None:
    for name, threshold in (("lori", 0.7), ("jeff", 0.9)):
        store.subscribe(interest(name, ["Music"]) | {"threshold": threshold}, name)
    store.people.put(Person("lori", frozenset({"jeff"}), shares=True))
    store.append([publication(1, f"<{NEWS}Pop>", '"Grunge"')])
    store.people.put(Person("lori", frozenset({"jeff"})))
    store.append([publication(2, f"<{NEWS}Pop>", '"Grunge"')])
    standing = Standing(store, Snapshots(Path("none"), store))
    for after, upto, offered in ((0, 1, ["jeff"]), (1, 2, []), (0, 2, ["jeff"])):
        outcomes = matched(store, standing, after, upto)
        assert [one.subscription for one in outcomes] == ["lori"] * (upto - after)
        assert [one.person for one in Society(store, DEFAULT).offers(outcomes)] == offered


def test_a_concept_is_not_passed_over_as_the_store_is_locked(store: Store, tmp_path: Path) -> None:
    store.append([publication(1, f"<{NEWS}Music>", '"Power pop"')])
    hasty = Store(store.url + HASTY)
    with locked(tmp_path / "triplewire.db"), pytest.raises(StoreAwayError, match="locked"):
        Society(hasty, DEFAULT).propose(1)
    Society(hasty, DEFAULT).propose(1)
    assert [one.proposal.word for one in store.proposals()] == ["Power pop"]
    hasty.close()
