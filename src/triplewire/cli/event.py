"""``triplewire event show``: what is in an event."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.markup import escape

from triplewire.cli.console import (
    BAD_INPUT,
    AsJson,
    File,
    Svg,
    all_readable,
    console,
    folder,
    print_json,
    table,
    write_picture,
)
from triplewire.errors import EventError, UsageError
from triplewire.lift.cloudevents import open_envelope, parse_envelope, prefixes_of
from triplewire.lift.files import LINES, enveloped
from triplewire.lift.lifting import Lifting, load_lifting
from triplewire.matching.lines import read_lines
from triplewire.rdf.graph import Event, check_strict
from triplewire.rdf.names import Names
from triplewire.rdf.picture import nearest_first, picture
from triplewire.rdf.terms import RDF, Resource

Prefixes: TypeAlias = dict[str, str]

event = typer.Typer(help="Look at events.", no_args_is_help=True)


@event.callback()
def _event() -> None:
    """Look at events."""


@event.command()
def show(
    file: File,
    as_json: AsJson = False,
    svg: Svg = None,
    number: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the N-th event of the file.")] = None,
    ontology: Annotated[
        list[Path],
        typer.Option(
            "--ontology",
            metavar="F",
            help="A file that gives named things a class; may be repeated.",
            callback=all_readable,
        ),
    ] = [],  # noqa: B006 - typer copies it
    lifting: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="What names in events mean: contexts, mappings, limits.", callback=folder),
    ] = None,
    type_: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="The type of an event without envelope, for its mapping.")
    ] = "file",
) -> None:
    """Show the graph of each event in FILE: CloudEvents (.ndjson), or one event in a format told by its suffix.

    A picture is of the first event shown.
    """
    typed = _typed(ontology)
    refused = shown = 0
    for count, found in enumerate(read_events(file, type_, load_lifting(lifting)), start=1):
        if number not in (None, count):
            continue
        if isinstance(found, dict):
            refused += 1
            _tell(found, as_json)
            continue
        one, prefixes = found
        (_print_json if as_json else _print)(one, prefixes, typed)
        if svg is not None and not shown:
            write_picture(svg, picture(one.graph, prefixes, f"Event {one.id}"))
        shown += 1
    if refused:
        raise typer.Exit(BAD_INPUT)
    if not shown:
        raise UsageError(f"{file}: no event" if number is None else f"{file}: there is no event number {number}")


def read_events(path: Path, type_: str, lifting: Lifting) -> Iterator[tuple[Event, Prefixes] | dict[str, Any]]:
    """The events of a file, each with the prefixes that it declares; for one that cannot be read, the reason."""
    for place, document in _documents(path, type_):
        id_ = None
        try:
            envelope = parse_envelope(document)
            id_ = envelope.id
            found = open_envelope(envelope, lifting)
        except EventError as error:
            yield {"event": id_} | place | error.as_dict()
        else:
            prefixes = prefixes_of(envelope.attributes)
            yield from ((event, prefixes) for event in found)


def _documents(path: Path, type_: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    """The CloudEvents of a file, each with its place; a file of any other format is put into an envelope."""
    if path.suffix.lower() in LINES:
        for line in read_lines(path):
            yield {"file": line.file, "line": line.number}, line.text
    else:
        yield {"file": str(path)}, enveloped(path, type_=type_)


def _typed(ontology: list[Path]) -> frozenset[Resource]:
    """The things whose class an ontology knows."""
    from triplewire.concepts.load import load_model

    return frozenset(load_model(ontology).types) if ontology else frozenset()


def _warnings(one: Event, typed: frozenset[Resource]) -> list[str]:
    try:
        check_strict(one.graph, typed)
    except EventError as error:
        return [str(error)]
    return []


def _print(one: Event, prefixes: Prefixes, typed: frozenset[Resource]) -> None:
    graph, out = one.graph, console()
    names = Names.of((term for triple in graph.triples for term in triple), prefixes)
    classes = sorted(names.short(t.object) for t in graph.triples if t.subject == graph.home and t.property == RDF.type)
    home = "none" if graph.home is None else " a ".join([names.full(graph.home), *classes])
    out.print(f"[bold]{escape(one.id)}[/] from {escape(one.source)}")
    out.print(f"home vertex: {escape(home)}; {len(graph.triples)} triples, {len(graph.vertices)} vertices")
    rows = table("subject", "property", "object")
    order = {vertex: n for n, vertex in enumerate(nearest_first(graph))}
    for triple in sorted(graph.triples, key=lambda t: (order[t.subject], t.property != RDF.type, str(t))):
        value = names.short(triple.object) if triple.property == RDF.type else names.full(triple.object)
        rows.add_row(*map(escape, (names.full(triple.subject), names.short(triple.property), value)))
    out.print(rows)
    for warning in _warnings(one, typed):
        out.print(f"[bold]warning[/]: {escape(warning)}")
    out.print()


def _print_json(one: Event, prefixes: Prefixes, typed: frozenset[Resource]) -> None:
    graph = one.graph
    types: dict[str, list[str]] = {}
    for triple in sorted(graph.triples, key=str):
        if triple.property == RDF.type:
            types.setdefault(str(triple.subject), []).append(str(triple.object))
    print_json(
        {
            "event": one.id,
            "source": one.source,
            "home": None if graph.home is None else str(graph.home),
            "types": types,
            "triples": [
                dict(zip(("subject", "property", "object"), map(str, triple), strict=True))
                for triple in sorted(graph.triples, key=str)
            ],
            "prefixes": prefixes,
            "warnings": _warnings(one, typed),
        }
    )


def _tell(refusal: dict[str, Any], as_json: bool) -> None:
    """Say on stderr why an event cannot be shown."""
    line = f", line {refusal['line']}" if "line" in refusal else ""
    told = f"triplewire: {refusal['file']}{line}: {refusal['message']}"
    print(json.dumps(refusal, ensure_ascii=False) if as_json else told, file=sys.stderr)
