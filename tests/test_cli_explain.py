"""``triplewire explain`` on the auction: the verdict first, the reasons after it, and a user's mistake in one line."""

import json

import pytest

from tests.commands import ROOT, run

AUCTION = ROOT / "examples/auction"
ONTOLOGY = ["--ontology", str(AUCTION / "ontology.ttl")]


def explain(subscription, event, *more):
    return run("explain", "--subscription", subscription, "--event", event, *more)


def auction(subscription, event, *more):
    return explain(
        f"{AUCTION}/subscriptions.ndjson#{subscription}", f"{AUCTION}/events.ndjson#{event}", *ONTOLOGY, *more
    )


def test_a_match_is_told_with_its_reasons_through_the_ontology():
    found = auction("s1", "event-2")
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    assert lines[0] == "event-2 trips s1."
    assert "✓ ?1 is a ex:Computer: _:pc is a ex:NotebookPC (stated), and ex:NotebookPC ⊑ ex:Computer" in lines
    assert "✓ ?3 < 400.00: 380.00 < 400.00" in lines


def test_a_miss_is_told_with_what_would_have_to_change():
    found = auction("s1", "event-1")
    assert found.returncode == 0
    assert found.stdout.startswith("event-1 does not trip s1: all but 1 of 10 conditions hold.\n")
    assert [line for line in found.stdout.splitlines() if line[0] == "✗"] == ["✗ ?3 < 400.00: it is 450.00"]


def test_the_same_is_told_as_json():
    told = json.loads(auction("s1", "event-1", "--json").stdout)
    assert (told["matched"], told["missing"], told["mapping"]["?1"]) == (False, 1, "_:pc")
    [missing] = [condition for condition in told["conditions"] if not condition["holds"]]
    assert (missing["kind"], missing["filter"]) == ("filter", "?3 < 400.00")


def test_one_record_and_one_event_in_files_of_their_own_need_no_id(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps({"id": "s", "language": "filter", "pattern": "price < 400"}, indent=2))
    (tmp_path / "e.json").write_text('{"price": 450}')
    found = explain(f"{tmp_path}/s.json", f"{tmp_path}/e.json")
    assert found.stdout.splitlines()[:2] == [
        "e.json does not trip s: its one condition fails.",
        "✗ price < 400: it is 450",
    ]


@pytest.mark.parametrize(
    ("subscription", "event", "status", "told"),
    [
        ("subscriptions.ndjson", "events.ndjson#event-1", 2, "7 subscriptions; say which"),
        ("subscriptions.ndjson#s9", "events.ndjson#event-1", 2, "there is no subscription 's9'; known are s1, "),
        ("subscriptions.ndjson#s1", "events.ndjson#event-9", 2, "there is no event 'event-9'"),
        ("subscriptions.ndjson#s1", "events.ndjson#event-7", 3, "events.ndjson, line 7: not well-formed"),
        ("nowhere.ndjson#s1", "events.ndjson#event-7", 2, "nowhere.ndjson: no such file"),
        ("ontology.ttl", "events.ndjson#event-1", 3, "ontology.ttl, line 1: not JSON"),
    ],
)
def test_a_mistake_is_one_line(subscription, event, status, told):
    found = explain(f"{AUCTION}/{subscription}", f"{AUCTION}/{event}", *ONTOLOGY)
    assert (found.returncode, found.stdout) == (status, "")
    assert told in found.stderr
    assert found.stderr.startswith("triplewire: ")
    assert found.stderr.count("\n") == 1


def test_the_tree_that_ops_grows_is_drawn_for_its_own_language_only(tmp_path):
    tree = tmp_path / "tree.svg"
    assert auction("s1", "event-1", "--tree", tree).returncode == 0
    assert "?1 = _:pc" in tree.read_text()
    other = tmp_path / "s.json"
    other.write_text(json.dumps({"id": "s", "language": "filter", "pattern": "price < 400"}))
    refused = explain(str(other), f"{AUCTION}/events.ndjson#event-1", *ONTOLOGY, "--tree", tree)
    assert refused.returncode == 3
    assert "the ops matcher takes" in refused.stderr
