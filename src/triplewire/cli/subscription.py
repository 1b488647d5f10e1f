"""``triplewire subscription check | extract``: what subscriptions mean, and those that profiles hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from triplewire.cli.console import BAD_INPUT, AsJson, File, all_readable, console, print_json, write_picture
from triplewire.errors import UsageError

if TYPE_CHECKING:
    from triplewire.concepts.model import ConceptModel
    from triplewire.matching.lines import Entry
    from triplewire.subscriptions.relatives import Relatives

_LONGEST_NAME = 100
_MOST_NAMED = 10
_WIDEST = 100

subscription = typer.Typer(help="Look at subscriptions.", no_args_is_help=True)


@subscription.callback()
def _subscription() -> None:
    """Look at subscriptions."""


@subscription.command()
def check(
    file: File,
    ontology: Annotated[
        list[Path],
        typer.Option(
            "--ontology",
            metavar="F",
            help="An ontology file; may be repeated, to make one model.",
            callback=all_readable,
        ),
    ] = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="DIR", help="Draw a picture of each into this folder.")
    ] = None,
) -> None:
    """Say what each subscription of FILE means, what it covers and what covers it, and what is wrong with it.

    FILE holds a JSON object a line. Exit status 3 if one of them is refused.
    """
    from triplewire.concepts.load import load_model
    from triplewire.matching.lines import Entry, read_lines, read_subscriptions
    from triplewire.subscriptions.relatives import relatives

    model = load_model(ontology)
    folder = None if svg is None else _made(svg)
    found = list(read_subscriptions(read_lines(file), model))
    entries = [one for one in found if isinstance(one, Entry)]
    family = iter(relatives([entry.subscription for entry in entries], model))
    out = console()
    for one in found:
        told = _report(one, next(family), model, folder) if isinstance(one, Entry) else one
        if as_json:
            print_json(told)
        else:
            (_print if isinstance(one, Entry) else _print_refusal)(told, out)
    if not found:
        raise UsageError(f"{file}: no subscription")
    if len(entries) < len(found):
        raise typer.Exit(BAD_INPUT)


@subscription.command()
def extract(file: File) -> None:
    """Write the interests that the RDF profiles in FILE tell of, a subscription a line."""
    from triplewire.concepts.load import read_file
    from triplewire.subscriptions.profiles import interests

    for record in interests(read_file(file)):
        print_json(record)


def _report(entry: Entry, family: Relatives, model: ConceptModel, folder: Path | None) -> dict[str, Any]:
    """What there is to say of a subscription; its picture is drawn on the way."""
    from triplewire.subscriptions.english import sentence
    from triplewire.subscriptions.picture import picture

    one = entry.subscription
    report = {
        "subscription": one.id,
        "line": entry.line.number,
        "language": entry.record["language"],
        "means": sentence(one, model),
        "warnings": list(one.warnings),
        "equal_to": list(family.equal),
        "covers": list(family.covered),
        "covered_by": list(family.covering),
    }
    if folder is not None:
        path = folder / _file_name(one.id, entry.line.number)
        write_picture(path, picture(one, model, entry.record.get("prefixes", {})))
        report["picture"] = str(path)
    return report


def _made(folder: Path) -> Path:
    """The folder, made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from None
    return folder


def _file_name(id_: str, line: int) -> str:
    name = quote(id_, safe=" ")
    return f"{name}.svg" if len(name) <= _LONGEST_NAME else f"line {line}.svg"


def _print(report: dict[str, Any], out: Console) -> None:
    out.print(f"[bold]{escape(report['subscription'])}[/] [dim]{report['language']}, line {report['line']}[/]")
    _print_indented(escape(report["means"]), out)
    for warning in report["warnings"]:
        _print_indented(f"[bold]warning:[/] {escape(warning)}", out)
    for name in ("equal to", "covers", "covered by"):
        if others := report.get(name.replace(" ", "_")):
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            _print_indented(f"[bold]{name}[/] {escape(', '.join(others[:_MOST_NAMED]))}{more}", out)
    if "picture" in report:
        _print_indented(f"[bold]picture[/] {escape(report['picture'])}", out)
    out.print()


def _print_refusal(refusal: dict[str, Any], out: Console) -> None:
    id_ = refusal["subscription"]
    name = f"[bold]{escape(id_)}[/] " if isinstance(id_, str) else ""
    out.print(f"{name}[dim]line {refusal['line']}[/]")
    _print_indented(f"[bold]refused:[/] {escape(refusal['message'])}", out)
    if place := refusal.get("place"):
        start = max(0, place["column"] - _WIDEST // 2)
        for line in place["excerpt"].split("\n"):
            out.print(f"    {escape(line[start : start + _WIDEST])}", soft_wrap=True)
    out.print()


def _print_indented(text: str, out: Console) -> None:
    for line in Text.from_markup(text).wrap(out, out.width - 2):
        line.rstrip()
        out.print(Text.assemble("  ", line))
