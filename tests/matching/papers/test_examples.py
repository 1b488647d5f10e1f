"""The papers' examples print what their pages show, by the papers' matchers and by brute force."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.concepts.load import model_of
from triplewire.matching.lines import add_subscriptions, read_lines
from triplewire.matching.papers.forest import CoveringForest

ROOT = Path(__file__).parents[3]
PAGES = {"bibliography": "gtopss", "attributes": "forest"}
COMMANDS = [
    pytest.param(matcher, *shown, id=f"{example}-{'bindings' if '--bindings' in shown[0] else 'matches'}")
    for example, matcher in PAGES.items()
    for shown in re.findall(
        r"^\$ triplewire (.*)\n((?:.+\n)+?)```$", (ROOT / "examples" / example / "README.md").read_text(), re.MULTILINE
    )
]


@pytest.mark.parametrize("name", ["paper", "brute"])
@pytest.mark.parametrize(("matcher", "command", "printed"), COMMANDS)
def test_an_example_prints_what_its_page_shows(matcher, command, printed, name, monkeypatch):
    monkeypatch.chdir(ROOT)
    command, *head = command.split(" | ")
    arguments = shlex.split(command)
    arguments[arguments.index("--matcher") + 1] = {"paper": matcher, "brute": "brute"}[name]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    assert "\n".join(lines[:3] if head == ["head -3"] else lines) == printed.rstrip()


def test_every_example_shows_a_command():
    assert len(COMMANDS) == 3


def test_the_forest_of_the_attributes_is_the_one_that_is_drawn():
    matcher = CoveringForest(model_of([]))
    lines = read_lines(ROOT / "examples/attributes/subscriptions.ndjson")
    assert list(add_subscriptions(lines, matcher, matcher.model)) == []

    def outline(node):
        return {"+".join(sorted(child.subscribers)): outline(child) for child in node.children}

    drawn = outline(matcher.forest.top)
    assert drawn["cheap"] == {"cheaper": {"bargain-or-gift": {}, "cheap-ibm": {"light-cheap-ibm": {}}}}
    assert drawn["thinkpads"] == {"cheap-thinkpads": {}}
