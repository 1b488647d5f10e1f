"""``triplewire subscription check``: sentences for people, JSON for programs, pictures, and errors that point."""

import json
from xml.etree import ElementTree

import pytest

from tests.commands import run
from tests.test_cli import AUCTION, lines

SUBSCRIPTIONS = AUCTION / "subscriptions.ndjson"
ONTOLOGY = ["--ontology", AUCTION / "ontology.ttl"]
EX = {"ex": "http://example.org/auction#"}
GOOD = {"id": "good", "language": "filter", "pattern": "ex:size < 4", "prefixes": EX}
BAD = {
    "id": "bad",
    "language": "ops",
    "pattern": "(_:H, ?1, (ex:A, ex:p, ex:B))\n(_:H, ?2, (ex:A, ex:p))",
    "prefixes": EX,
}


def checked(*arguments):
    found = run("subscription", "check", *arguments, "--json")
    return found.returncode, [json.loads(line) for line in found.stdout.splitlines()]


def test_each_subscription_is_told_in_one_sentence():
    found = run("subscription", "check", SUBSCRIPTIONS, *ONTOLOGY)
    assert (found.returncode, found.stderr) == (0, "")
    told = " ".join(found.stdout.split())
    assert "s1 ops, line 1 Selling events whose target is a Computer and whose price is a Money value whose" in told
    assert "books ops, line 5 Selling events whose target is a Book." in told
    assert not any(line.endswith(" ") for line in found.stdout.splitlines())


def test_a_json_line_for_each_subscription():
    status, told = checked(SUBSCRIPTIONS, *ONTOLOGY)
    assert status == 0
    assert [one["line"] for one in told] == list(range(1, 8))
    assert told[4]["means"] == "Selling events whose target is a Book."
    assert told[4]["warnings"] == []


def test_a_bad_one_is_told_with_its_place_and_the_others_go_on(tmp_path):
    path = lines(tmp_path / "s.ndjson", [BAD, GOOD])
    found = run("subscription", "check", path)
    assert found.returncode == 3
    shown = found.stdout.splitlines()
    assert shown[:4] == [
        "bad line 1",
        "  refused: ops: line 2, column 22: found ')'. Expected ','.",
        "    (_:H, ?2, (ex:A, ex:p))",
        "                         ^",
    ]
    assert "  Events whose size is below 4." in shown
    status, (refused, good) = checked(path)
    assert status == 3
    assert (refused["subscription"], refused["line"], refused["expected"]) == ("bad", 1, ["','"])
    assert refused["place"] == {"line": 2, "column": 22, "excerpt": f"(_:H, ?2, (ex:A, ex:p))\n{' ' * 21}^"}
    assert good["subscription"] == "good"


def test_lines_that_are_no_records_are_refused_each_by_itself(tmp_path):
    path = tmp_path / "s.ndjson"
    good = json.dumps(GOOD).encode()
    path.write_bytes(b"\n".join([b"no json", b"[1]", b'"\xff"', b"", good, good, b"{}"]))
    status, told = checked(path)
    assert status == 3
    assert [one["line"] for one in told] == [1, 2, 3, 5, 6, 7]
    assert [one["line"] for one in told if "error" not in one] == [5]
    assert "there is a subscription 'good' already" in told[4]["message"]


def test_warnings_and_the_nearest_name_are_told(tmp_path):
    pattern = "(_:H, ?1, (ex:Selling, ex:target, ex:Computr))"
    path = lines(tmp_path / "s.ndjson", [{"id": "a", "language": "ops", "pattern": pattern, "prefixes": EX}])
    status, (told,) = checked(path, *ONTOLOGY)
    assert status == 0
    assert any("did you mean <http://example.org/auction#Computer>?" in warning for warning in told["warnings"])
    assert "  warning: the ontology has no class" in run("subscription", "check", path, *ONTOLOGY).stdout


def test_pictures_are_drawn_into_a_folder(tmp_path):
    records = [GOOD, GOOD | {"id": "../a/b"}, GOOD | {"id": "x" * 300}]
    status, told = checked(lines(tmp_path / "s.ndjson", records), "--svg", tmp_path / "new" / "pictures")
    assert status == 0
    drawn = sorted(path.name for path in (tmp_path / "new" / "pictures").iterdir())
    assert drawn == ["..%2Fa%2Fb.svg", "good.svg", "line 3.svg"]
    assert {one["picture"] for one in told} == {str(tmp_path / "new" / "pictures" / name) for name in drawn}
    title = ElementTree.fromstring((tmp_path / "new/pictures/good.svg").read_text()).find("{*}title")
    assert title.text == "Subscription good"


def test_an_error_far_along_a_line_is_shown_with_its_surroundings(tmp_path):
    pattern = "ex:p = 1 and " * 50 + "ex:p = = 1"
    found = run("subscription", "check", lines(tmp_path / "s.ndjson", [GOOD | {"pattern": pattern}]))
    text, caret = found.stdout.splitlines()[-3:-1]
    assert len(text) <= 104
    assert text[caret.index("^")] == "="


def test_brackets_are_no_markup(tmp_path):
    records = [GOOD | {"id": "[bold]", "pattern": 'ex:p = "[red]"'}, GOOD | {"id": "[dim]", "pattern": '[/] "[red]"'}]
    shown = run("subscription", "check", lines(tmp_path / "s.ndjson", records)).stdout
    assert "[bold]" in shown
    assert 'Events whose p is "[red]".' in shown
    assert '    [/] "[red]"' in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.ndjson"], "nowhere.ndjson: no such file"),
        ([SUBSCRIPTIONS, "--ontology", "nowhere.ttl"], "nowhere.ttl: no such file"),
        ([SUBSCRIPTIONS, "--svg", "Makefile"], "Makefile: File exists"),
    ],
)
def test_a_users_mistake_is_one_line(arguments, message):
    found = run("subscription", "check", *arguments)
    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1
    assert message in found.stderr


def test_what_covers_what_is_told(tmp_path):
    texts = {
        "wide": "ex:size < 9",
        "same": "ex:size < 9.0",
        "narrow": 'ex:size < 4 and ex:name = "x"',
        "other": "ex:q = 1",
    }
    records = [GOOD | {"id": id_, "pattern": text} for id_, text in texts.items()]
    path = lines(tmp_path / "s.ndjson", records)
    status, told = checked(path)
    assert status == 0
    assert [(one["equal_to"], one["covers"], one["covered_by"]) for one in told] == [
        (["same"], ["narrow"], []),
        (["wide"], ["narrow"], []),
        ([], [], ["wide", "same"]),
        ([], [], []),
    ]
    shown = run("subscription", "check", path).stdout
    assert "  equal to same\n  covers narrow\n" in shown
    assert "  covered by wide, same\n" in shown
