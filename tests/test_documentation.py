"""What the documents show is true: the library example runs, and the command prints the line shown."""

import json
import re

from tests.commands import ROOT, run

README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_library_example_prints_its_match(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(blocks("python")[0], {})
    assert json.loads(capsys.readouterr().out.strip("[]'\n")) == {"event": "e1", "subscription": "cheap", "score": 1.0}


def test_the_command_prints_the_line_shown():
    shown = blocks("json")[1]
    command = next(block for block in blocks("sh") if "triplewire match" in block)
    found = run(*command.replace("\\\n", " ").split()[1:])
    assert shown in found.stdout
    assert found.returncode == 3  # one event of the auction is broken on purpose


def test_the_subscription_shown_is_the_auctions_first():
    shown = json.loads(blocks("json")[0])
    first = json.loads((ROOT / "examples/auction/subscriptions.ndjson").read_text().splitlines()[0])
    assert {key: first[key] for key in ("id", "language")} == {key: shown[key] for key in ("id", "language")}
    assert re.sub(r"\s", "", first["pattern"]) == re.sub(r"\s", "", shown["pattern"])


def test_every_link_between_documents_leads_somewhere():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document} links to {target}"
