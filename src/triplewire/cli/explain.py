"""``triplewire explain``: why an event trips a subscription, or what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from triplewire.cli.console import AsJson, Svg, all_readable, folder, print_json, readable, write_picture
from triplewire.cli.event import Prefixes, read_events
from triplewire.concepts.model import ConceptModel
from triplewire.errors import EventError, SubscriptionError, UsageError
from triplewire.lift.lifting import Lifting, load_lifting
from triplewire.matching.lines import Line, read_lines, record_of
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription


def explain(
    subscription: Annotated[
        str, typer.Option(metavar="F[#ID]", help="A file of subscriptions; of several, the one with this id.")
    ],
    event: Annotated[str, typer.Option(metavar="F[#ID]", help="A file of events; of several, the one with this id.")],
    ontology: Annotated[
        list[Path],
        typer.Option("--ontology", metavar="F…", help="Ontology files; several make one model.", callback=all_readable),
    ] = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
    svg: Svg = None,
    tree: Annotated[
        Path | None, typer.Option(metavar="F.svg", help="Draw the matching tree of OPS, too; for ops subscriptions.")
    ] = None,
    lifting: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="What names in events mean: contexts, mappings, limits.", callback=folder),
    ] = None,
) -> None:
    """Say why an event trips a subscription, through the ontology, or what is missing.

    The first line tells which. The event may be a CloudEvent, or a file in any format that events have.
    """
    from triplewire.concepts.load import load_model
    from triplewire.matching import explanation
    from triplewire.subscriptions.languages import parse_subscription

    record = _subscription(*file_and_id(subscription))
    model = load_model(ontology)
    found, declared = _event(*file_and_id(event), load_lifting(lifting))
    parsed = parse_subscription(record, model)
    if tree is not None:
        write_picture(tree, _tree(parsed, found, model))
    told = explanation.explain(parsed, found, model)
    prefixes = declared | dict(record.get("prefixes", {}))
    if svg is not None:
        write_picture(svg, explanation.picture(told, prefixes))
    if as_json:
        print_json(explanation.as_dict(told, prefixes))
    else:
        print(explanation.as_text(told, prefixes), end="")


def _tree(subscription: Subscription, event: Event, model: ConceptModel) -> str:
    """The tree that the OPS matcher grows, which refuses by name what it does not take."""
    from triplewire.matching.papers.ops.matcher import OPS
    from triplewire.matching.papers.ops.picture import draw_tree

    matcher = OPS(model)
    matcher.add(subscription)
    return draw_tree(matcher, subscription.id, event)


def file_and_id(argument: str) -> tuple[Path, str | None]:
    """``F#ID`` taken apart; a file that has such a name is meant as a whole."""
    if "#" not in argument or Path(argument).is_file():
        return readable(Path(argument)), None
    file, _, id_ = argument.partition("#")
    return readable(Path(file)), id_


def _subscription(path: Path, id_: str | None) -> dict[str, Any]:
    named = [(str(one.get("id")), one) for one in records_of(path)]
    record: dict[str, Any] = _chosen(path, "subscription", id_, named)
    return record


def records_of(path: Path) -> list[dict[str, Any]]:
    """The records of a file, which holds one (.json) or one a line."""
    whole = path.suffix.lower() == ".json"
    records = []
    for line in [Line(str(path), 1, path.read_bytes())] if whole else read_lines(path):
        try:
            records.append(record_of(line))
        except SubscriptionError as error:
            raise SubscriptionError(f"{path}, line {line.number}: {error}") from None
    return records


def _event(path: Path, id_: str | None, lifting: Lifting) -> tuple[Event, Prefixes]:
    events = read_events(path, "file", lifting)
    found = [(str(one["event"]) if isinstance(one, dict) else one[0].id, one) for one in events]
    event: tuple[Event, Prefixes] | dict[str, Any] = _chosen(path, "event", id_, found)
    if isinstance(event, dict):
        where = f", line {event['line']}" if "line" in event else ""
        raise EventError(f"{path}{where}: {event['message']}")
    return event


def _chosen(path: Path, kind: str, id_: str | None, found: list[tuple[str, Any]]) -> Any:
    ids = ", ".join(dict.fromkeys(name for name, _ in found))
    chosen = [value for name, value in found if id_ in (None, name)]
    if not found:
        raise UsageError(f"{path}: no {kind}")
    if not chosen:
        raise UsageError(f"{path}: there is no {kind} {id_!r}; known are {ids}")
    if id_ is None and len(chosen) > 1:
        raise UsageError(f"{path}: {len(chosen)} {kind}s; say which, {path}#ID, of {ids}")
    return chosen[0]
