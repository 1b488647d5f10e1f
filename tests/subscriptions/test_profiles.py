"""The social-network design's case studies, from the files of the example; and interests read from RDF profiles."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.concepts.load import load_model, read_file, read_ontology
from triplewire.errors import SubscriptionError
from triplewire.lift.cloudevents import open_envelope, parse_envelope
from triplewire.matching import make_matcher
from triplewire.matching.lines import match_lines, read_lines
from triplewire.rdf.terms import RDF
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.profiles import interests

FOLDER = Path(__file__).parents[2] / "examples/music-news"
ONTOLOGY = FOLDER / "ontology.ttl"
WANTED = [json.loads(line)["id"] for line in (FOLDER / "subscriptions.ndjson").read_text().splitlines()]
PRINTED = {
    "case-1": {"lori", "janet", "kristi"},
    "case-2": {"lori", "john", "janet", "jenney", "kristi", "jack"},
    "case-3": {"lori", "john", "janet", "jenney", "kristi", "jack"},
    "section-3.2": {"pop", "music"},
}


def triplewire(*arguments):
    found = CliRunner().invoke(app, list(map(str, arguments)))
    assert found.exit_code == 0
    return found.stdout


def matches(matcher, *more):
    files = ["--subscriptions", FOLDER / "subscriptions.ndjson", "--events", FOLDER / "events.ndjson"]
    printed = triplewire("match", "--matcher", matcher, "--ontology", ONTOLOGY, *more, *files)
    return [json.loads(line) for line in printed.splitlines()]


def of_its_own_case(pairs):
    """Who of a case hears of the case's publication."""
    told = {case: set() for case in PRINTED}
    for event, subscription in pairs:
        if subscription.startswith(f"{event}-"):
            told[event].add(subscription.removeprefix(f"{event}-"))
    return told


@pytest.mark.parametrize("matcher", ["brute", "engine"])
def test_each_case_study_notifies_whom_the_thesis_says(matcher):
    assert of_its_own_case((m["event"], m["subscription"]) for m in matches(matcher)) == PRINTED


def test_only_jeff_and_the_album_are_left_out_of_their_own_case():
    everybody = {(case, s.removeprefix(f"{case}-")) for s in WANTED for case in PRINTED if s.startswith(f"{case}-")}
    assert everybody - {(case, name) for case, names in PRINTED.items() for name in names} == {
        ("case-1", "jeff"),
        ("section-3.2", "album"),
    }


def test_the_page_shows_all_matches_with_their_scores():
    page = (FOLDER / "README.md").read_text()
    shown = re.findall(r"^\| `([\w.-]+)` \| `([\w.-]+)` \| ([\d.]+) \|$", page, re.MULTILINE)
    assert shown == [(m["event"], m["subscription"], f"{m['score']:.2f}") for m in matches("brute")]


def test_the_profile_scheme_beside_the_ontology_changes_no_score():
    assert matches("brute", "--ontology", FOLDER / "scheme.ttl") == matches("brute")


def test_interests_read_from_the_profiles_notify_the_same_people():
    records = [json.loads(line) for line in triplewire("subscription", "extract", FOLDER / "profiles.ttl").splitlines()]
    model = load_model([ONTOLOGY])
    matcher = make_matcher("brute", model)
    for record in records:
        matcher.add(parse_subscription(record, model))
    found = [json.loads(line) for line in match_lines(read_lines(FOLDER / "events.ndjson"), matcher)]
    pairs = [(m["event"], m["subscription"].removeprefix("http://example.org/people#")) for m in found]
    assert of_its_own_case(pairs) == PRINTED
    assert len(records) == len(WANTED)


def test_the_scheme_has_every_word_that_profiles_and_publications_use():
    stated = {triple.subject for triple in read_file(FOLDER / "scheme.ttl")}
    events = (
        event for line in read_lines(FOLDER / "events.ndjson") for event in open_envelope(parse_envelope(line.text))
    )
    used = [*read_file(FOLDER / "profiles.ttl"), *(triple for event in events for triple in event.graph.triples)]
    words = {t.property for t in used if t.property != RDF.type} | {t.object for t in used if t.property == RDF.type}
    assert words <= stated


def test_the_records_of_profiles_do_not_tell_whose_they_are():
    records = list(interests(read_file(FOLDER / "profiles.ttl")))
    assert {"people#lori", "Lori", "email"}.isdisjoint(re.findall(r"[\w#@]+", json.dumps(records)))
    assert records[0].keys() == {"id", "language", "pattern"}


def profile(interest):
    text = f"@prefix tw: <urn:triplewire:> . <urn:me> tw:hasInterest {interest}"
    return list(interests(read_ontology(text, "text/turtle", "profile.ttl")))


def test_an_interest_may_have_a_threshold_and_words():
    assert profile('<urn:i> . <urn:i> tw:isAbout <urn:Jazz>, "Pop" ; tw:threshold 0.9 .') == [
        {"id": "urn:i", "language": "interest", "pattern": {"concepts": ["<urn:Jazz>", "Pop"]}, "threshold": 0.9}
    ]


def test_an_interest_that_nobody_has_is_none():
    assert profile("<urn:i> . <urn:j> tw:isAbout <urn:Jazz> . <urn:i> tw:isAbout <urn:Pop> .") == [
        {"id": "urn:i", "language": "interest", "pattern": {"concepts": ["<urn:Pop>"]}}
    ]


@pytest.mark.parametrize(
    ("interest", "said"),
    [
        ("[ tw:isAbout <urn:Jazz> ] .", "an interest of <urn:me> has no IRI"),
        ('<urn:i> . <urn:i> tw:isAbout <urn:Jazz> ; tw:threshold "high" .', 'should be a number, not "high"'),
    ],
)
def test_a_profile_that_cannot_be_a_subscription_is_refused_by_name(interest, said):
    with pytest.raises(SubscriptionError, match=re.escape(said)):
        profile(interest)
