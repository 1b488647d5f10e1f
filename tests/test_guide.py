"""What the guide shows is true: every command prints what is shown, and the pictures are those that are drawn."""

import re
import shlex
import subprocess

import pytest

from tests.commands import ROOT, run

GUIDES = [*sorted(ROOT.glob("docs/guide/*.md")), ROOT / "examples/music-news/README.md"]


def sessions(guide):
    """The commands of a guide's console blocks, each with the lines that it is to print."""
    for block in re.findall(r"```console\n(.*?)```", guide.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield command, shown


def same(line, shown):
    """The line as it is shown: an ellipsis at the end leaves the rest open."""
    return shown if shown.endswith("…") and line.startswith(shown[:-1]) else line


def printed(command, folder):
    """What a command prints. One of ours runs in this process, and the shell passes on what it prints."""
    ours = re.fullmatch("triplewire (.*?)( 2>&1)?( [|>] .*)?", command)
    out = ""
    if ours:
        found = run(*shlex.split(ours[1]), folder=folder)
        out = found.stdout + found.stderr * bool(ours[2])
        command = f"cat {ours[3] or ''}"
    return subprocess.run(["bash", "-c", command], cwd=folder, input=out, capture_output=True, encoding="utf-8").stdout


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_command_prints_what_is_shown(guide, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, shown in sessions(guide):
        lines = [line.rstrip() for line in printed(command, tmp_path).splitlines() if line.strip()]
        told = list(filter(None, shown))
        assert [same(line, one) for line, one in zip(lines, told, strict=False)] + lines[len(told) :] == told


@pytest.mark.parametrize(
    ("picture", "command"),
    [
        ("figure-1.svg", "event show examples/auction/events.ndjson --number 1"),
        ("figure-2.svg", "ontology show examples/auction/ontology.ttl"),
        (
            "explanation.svg",
            "explain --subscription examples/auction/subscriptions.ndjson#own-hard-disk "
            "--event examples/auction/events.ndjson#event-5 --ontology examples/auction/ontology.ttl",
        ),
    ],
)
def test_the_pictures_are_those_that_are_drawn(picture, command, tmp_path):
    drawn = tmp_path / picture
    assert run(*command.split(), "--svg", drawn).returncode == 0
    assert drawn.read_text() == (ROOT / "docs/images" / picture).read_text()


def test_figure_3_is_the_picture_that_is_drawn(tmp_path):
    auction = ROOT / "examples/auction"
    command = ["subscription", "check", auction / "subscriptions.ndjson", "--ontology", auction / "ontology.ttl"]
    assert run(*command, "--svg", tmp_path).returncode == 0
    assert (tmp_path / "s1.svg").read_text() == (ROOT / "docs/images/figure-3.svg").read_text()


def test_the_pattern_printed_in_sparql_is_the_one_shown(capsys, monkeypatch):
    guide = (ROOT / "docs/guide/subscriptions.md").read_text()
    example, shown = (
        re.search(rf"```{language}\n(.*?)```", guide, re.DOTALL).group(1) for language in ("python", "sparql")
    )
    monkeypatch.chdir(ROOT)
    exec(example, {})
    assert capsys.readouterr().out == shown
