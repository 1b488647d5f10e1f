"""`triplewire ontology propose | proposals | accept | merge | reject | versions`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.concepts.load import model_of_documents
from triplewire.store import Store, store_url
from triplewire.subscriptions.languages import parse_subscription, proposals

FOLDER = Path(__file__).parents[1] / "examples/music-news"
NEWS = "http://example.org/news#"


def triplewire(*arguments, status=0):
    found = CliRunner().invoke(app, ["ontology", *map(str, arguments)])
    assert found.exit_code == status, found.output
    return found.stdout


def interest(id_, pattern):
    return {"id": id_, "language": "interest", "pattern": pattern}


@pytest.fixture
def home(tmp_path):
    document = {"name": "news.ttl", "media_type": "text/turtle", "text": (FOLDER / "ontology.ttl").read_text()}
    store = Store(store_url(tmp_path))
    store.put_ontology([document], "ann", "the first")
    model = model_of_documents([document])
    for word in ("Grunge", "Tunez", "Noise"):
        record = interest(word, {"interest": "Music", "type": word})
        store.subscribe(record, "lori")
        store.propose(proposals(record, parse_subscription(record, model), model), "lori", word)
    store.close()
    return tmp_path


def test_proposals_are_listed_and_decided_and_the_versions_tell_it(home):
    listed = triplewire("proposals", "--home", home).splitlines()
    assert [line.split()[:4] for line in listed[1:]] == [
        ["1", "Grunge", f"{NEWS}Music", "lori"],
        ["2", "Tunez", f"{NEWS}Music", "lori"],
        ["3", "Noise", f"{NEWS}Music", "lori"],
    ]
    accepted = triplewire("accept", 1, "--home", home, "--author", "ann", "--reason", "known to many")
    assert (json.loads(accepted)["state"], json.loads(accepted)["version"]) == ("accepted", 2)
    assert json.loads(triplewire("merge", 2, "tune", "--home", home))["reason"] == f"Tunez means <{NEWS}Music>"
    assert json.loads(triplewire("reject", 3, "--home", home, "--reason", "no music"))["version"] is None
    assert triplewire("proposals", "--home", home, "--json") == ""
    told = [
        json.loads(line) for line in triplewire("proposals", "--home", home, "--state", "all", "--json").splitlines()
    ]
    assert [one["state"] for one in told] == ["accepted", "merged", "rejected"]
    versions = [json.loads(line) for line in triplewire("versions", "--home", home, "--json").splitlines()]
    assert [(one["version"], one["author"], one["reason"]) for one in versions] == [
        (1, "ann", "the first"),
        (2, "ann", "known to many"),
        (3, "local", f"Tunez means <{NEWS}Music>"),
    ]
    assert "known to many" in triplewire("versions", "--home", home)


def test_what_cannot_be_decided_is_one_line(home):
    for arguments in (["accept", 9], ["merge", 1, "Moovie"]):
        found = CliRunner().invoke(app, ["ontology", *map(str, arguments), "--home", str(home)])
        assert "no proposal 9" in str(found.exception) or "Did you mean Movie?" in str(found.exception)
    assert "no such folder" in str(CliRunner().invoke(app, ["ontology", "proposals", "--home", "/none"]).exception)


def test_new_concepts_of_files_are_written_as_the_ontology_would_say_them(tmp_path):
    subscriptions, events = tmp_path / "s.ndjson", tmp_path / "e.ndjson"
    subscriptions.write_text(json.dumps(interest("a", {"interest": "Music", "type": "Grunge"})))
    data = '_:H <urn:triplewire:publicationType> "song" ; <urn:triplewire:publicationSubType> "Zouk", "Pop" .'
    event = {"specversion": "1.0", "id": "e", "source": "/s", "type": "t", "datacontenttype": "text/turtle"}
    events.write_text(json.dumps(event | {"data": data}))
    printed = triplewire("propose", FOLDER / "ontology.ttl", "--subscriptions", subscriptions, "--events", events)
    below = [line for line in printed.splitlines() if "broader" in line]
    broader = "<http://www.w3.org/2004/02/skos/core#broader>"
    assert below == [f"<urn:triplewire:proposed:{word}> {broader} <{NEWS}Music> ." for word in ("grunge", "zouk")]
