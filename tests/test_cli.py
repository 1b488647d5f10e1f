"""The command line: its words, its exit statuses, and one line for a user's mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT, run, run_alone
from triplewire import __version__
from triplewire.cli import spread

AUCTION = Path("examples/auction")
INPUTS = ["--ontology", AUCTION / "ontology.ttl", "--subscriptions", AUCTION / "subscriptions.ndjson", "--events"]


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def event(id_, data="_:H <http://example.org/p> 1 .", **more):
    envelope = {"specversion": "1.0", "id": id_, "source": "s", "type": "t", "datacontenttype": "text/turtle"}
    return envelope | {"data": data} | more


SUBSCRIPTION = {"id": "b", "language": "filter", "pattern": "ex:p = 1", "prefixes": {"ex": "http://example.org/"}}


def test_the_auction_trips_whom_its_readme_says():
    found = run_alone("match", *INPUTS, AUCTION / "events.ndjson")
    tripped = [(m["event"], m["subscription"]) for m in map(json.loads, found.stdout.splitlines())]
    table = [
        line.split("|")
        for line in (ROOT / AUCTION / "README.md").read_text().splitlines()
        if line.startswith("| `event-")
    ]
    told = [
        (row[1].strip(" `"), s.strip(" `")) for row in table for s in row[4].split(",") if s.strip().startswith("`")
    ]
    assert tripped == told
    assert len(tripped) > 8


def test_matches_are_in_event_order_then_by_id_and_a_repeated_event_counts_once(tmp_path):
    subscriptions = lines(tmp_path / "s.ndjson", [SUBSCRIPTION, SUBSCRIPTION | {"id": "B"}, SUBSCRIPTION | {"id": "a"}])
    one = lines(tmp_path / "1.ndjson", [event("z"), event("y")])
    two = lines(tmp_path / "2.ndjson", [event("z"), event("x")])
    found = run("match", "--subscriptions", subscriptions, "--events", one, two)
    assert found.returncode == 0
    tripped = [(m["event"], m["subscription"]) for m in map(json.loads, found.stdout.splitlines())]
    assert tripped == [(e, s) for e in "zyx" for s in ("B", "a", "b")]


def test_bindings_are_told_only_when_asked_for(tmp_path):
    subscriptions = lines(tmp_path / "s.ndjson", [SUBSCRIPTION])
    events = lines(tmp_path / "e.ndjson", [event("e")])
    bare = run("match", "--subscriptions", subscriptions, "--events", events)
    full = run("match", "--subscriptions", subscriptions, "--events", events, "--bindings")
    assert json.loads(bare.stdout) == {"event": "e", "subscription": "b", "score": 1.0}
    assert json.loads(full.stdout)["bindings"] == [{}]


EVERY_FORMAT = {
    "text/turtle": "_:H <urn:triplewire:key:title> 'tea' .",
    "application/n-triples": '_:H <urn:triplewire:key:title> "tea" .',
    "application/n-quads": '_:H <urn:triplewire:key:title> "tea" <urn:g> .',
    "application/trig": "<urn:g> { _:H <urn:triplewire:key:title> 'tea' }",
    "application/ld+json": {"urn:triplewire:key:title": "tea"},
    "application/rdf+xml": "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:k='urn:triplewire:key:'>"
    "<r:Description><k:title>tea</k:title></r:Description></r:RDF>",
    "application/json": {"title": "tea"},
    "application/xml": "<offer><title>tea</title></offer>",
    "text/csv": "title\nmilk\ntea\n",
    "application/rss+xml": "<rss version='2.0'><channel><item><title>milk</title></item>"
    "<item><title>tea</title></item></channel></rss>",
    "application/atom+xml": "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>urn:1</id><title>tea</title></entry></feed>",
}


def test_every_format_of_the_contract_is_matched(tmp_path):
    rss = {"prefixes": {"rss": "http://purl.org/rss/1.0/"}}
    subscription = {"id": "s", "language": "filter", "pattern": "title = 'tea' or rss:title = 'tea'"} | rss
    subscriptions = lines(
        tmp_path / "s.ndjson", [subscription | {"pattern": subscription["pattern"].replace("'", '"')}]
    )
    events = [event(kind, data, datacontenttype=kind) for kind, data in EVERY_FORMAT.items()]
    found = run("match", "--subscriptions", subscriptions, "--events", lines(tmp_path / "e.ndjson", events))
    assert (found.returncode, found.stderr) == (0, "")
    entries = {"text/csv": "#2", "application/rss+xml": "#2", "application/atom+xml": "#urn:1"}
    tripped = [json.loads(line)["event"] for line in found.stdout.splitlines()]
    assert tripped == [kind + entries.get(kind, "") for kind in EVERY_FORMAT]


def test_a_lifting_folder_says_what_names_mean(tmp_path):
    subscription = {"id": "s", "language": "filter", "pattern": "ex:price < 10"}
    subscription["prefixes"] = {"ex": "http://example.org/auction#"}
    subscriptions = lines(tmp_path / "s.ndjson", [subscription])
    offer = event("e", {"price": "9.50"}, datacontenttype="application/json", type="org.example.offer")
    events = lines(tmp_path / "e.ndjson", [offer])
    arguments = ["match", "--subscriptions", subscriptions, "--events", events]
    assert run(*arguments).stdout == ""
    assert json.loads(run(*arguments, "--lifting", "examples/lifting").stdout)["event"] == "e"
    (tmp_path / "settings.json").write_text("{")
    wrong = run(*arguments, "--lifting", tmp_path)
    assert (wrong.returncode, "settings.json: not JSON" in wrong.stderr) == (2, True)


def test_what_is_refused_is_told_on_stderr_and_the_rest_goes_on(tmp_path):
    bad = {"id": "bad", "language": "ops", "pattern": "(_:H ?1"}
    subscriptions = lines(tmp_path / "s.ndjson", [bad, SUBSCRIPTION, SUBSCRIPTION])
    events = tmp_path / "e.ndjson"
    events.write_text("\n".join([json.dumps(event("1", "<")), "{", "", json.dumps(event("2"))]))
    found = run("match", "--subscriptions", subscriptions, "--events", events)
    assert found.returncode == 3
    assert [json.loads(line)["event"] for line in found.stdout.splitlines()] == ["2"]
    refused = [json.loads(line) for line in found.stderr.splitlines()]
    assert [(r.get("subscription"), r.get("event"), r["line"]) for r in refused] == [
        ("bad", None, 1),
        ("b", None, 3),
        (None, "1", 1),
        (None, None, 2),
    ]
    assert all(r["message"] for r in refused)


def test_what_is_written_is_utf8_whatever_the_locale(tmp_path):
    subscriptions = lines(tmp_path / "s.ndjson", [SUBSCRIPTION])
    events = lines(tmp_path / "e.ndjson", [event("Vögel ✓ 𝄞"), event("✗", "<")])
    found = run_alone("match", "--subscriptions", subscriptions, "--events", events, PYTHONIOENCODING="latin-1")
    assert json.loads(found.stdout)["event"] == "Vögel ✓ 𝄞"
    assert json.loads(found.stderr)["event"] == "✗"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["match"], 2, "Missing option"),
        (["match", *INPUTS, "nowhere.ndjson"], 2, "does not exist"),
        (["match", *INPUTS, AUCTION / "events.ndjson", "--matcher", "magic"], 2, "there is no matcher 'magic'"),
        (["match", "--ontology", "Makefile", *INPUTS[2:], AUCTION / "events.ndjson"], 3, "the suffix should be one of"),
        (["mach"], 2, "No such command"),
        (["serve", "--port", "99999"], 2, "--port"),
    ],
)
def test_a_users_mistake_is_told_without_a_traceback(arguments, status, message):
    found = run(*arguments)
    assert found.returncode == status
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_exit_status_and_message_are_the_processs_own():
    found = run_alone("match", "--ontology", "Makefile", *INPUTS[2:], AUCTION / "events.ndjson")
    assert (found.returncode, found.stdout) == (3, "")
    assert found.stderr.startswith("triplewire: Makefile")
    assert len(found.stderr.splitlines()) == 1


def test_a_reader_that_goes_away_is_no_reason_for_a_traceback():
    command = f"{sys.executable} -m triplewire match {' '.join(map(str, INPUTS))} {AUCTION / 'events.ndjson'} | head -1"
    found = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert len(found.stdout.splitlines()) == 1
    assert "Traceback" not in found.stderr


def test_version_and_help():
    assert run_alone("--version").stdout.strip() == __version__
    for command in (["--help"], ["match", "--help"], ["pipeline", "run", "--help"], ["serve", "--help"]):
        assert "Usage: triplewire" in run(*command).stdout


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (
            ["pipeline", "run", "--events", "a", "b", "--out", "o"],
            ["pipeline", "run", "--events", "a", "--events", "b", "--out", "o"],
        ),
        (
            ["match", "--ontology", "a", "--ontology", "b", "c"],
            ["match", "--ontology", "a", "--ontology", "b", "--ontology", "c"],
        ),
        (["match", "--matcher", "m", "x"], ["match", "--matcher", "m", "x"]),
        (["event", "show", "--ontology", "a", "file"], ["event", "show", "--ontology", "a", "file"]),
        (["--version"], ["--version"]),
        ([], []),
    ],
)
def test_an_option_may_take_several_files(given, meant):
    assert spread(given) == meant


def test_a_compiled_index_matches_as_its_subscriptions_do(tmp_path):
    folder = tmp_path / "index"
    made = run("compile", *INPUTS[:4], "--out", folder)
    assert made.returncode == 0, made.stderr
    count = len((ROOT / INPUTS[3]).read_text().splitlines())
    assert json.loads(made.stdout) == {"index": str(folder), "subscriptions": count}
    from_index = run("match", "--index", folder, "--events", AUCTION / "events.ndjson", "--bindings")
    from_files = run("match", *INPUTS, AUCTION / "events.ndjson", "--matcher", "brute", "--bindings")
    assert from_index.stdout == from_files.stdout
    assert from_index.stdout.count("\n") > 8


def test_compile_tells_what_it_refuses_and_keeps_the_rest(tmp_path):
    subscriptions = lines(tmp_path / "s.ndjson", [SUBSCRIPTION, SUBSCRIPTION | {"id": "bad", "pattern": "ex:p ="}])
    made = run("compile", "--subscriptions", subscriptions, "--out", tmp_path / "index")
    assert made.returncode == 3
    assert json.loads(made.stderr)["subscription"] == "bad"
    assert json.loads(made.stdout)["subscriptions"] == 1


def test_what_is_no_index_is_refused_by_name(tmp_path):
    events = lines(tmp_path / "e.ndjson", [event("z")])
    found = run("match", "--index", tmp_path, "--events", events)
    assert found.returncode == 3
    assert found.stderr == f"triplewire: {tmp_path} holds no index: CURRENT: No such file or directory\n"
    assert run("match", "--events", events).returncode == 2
