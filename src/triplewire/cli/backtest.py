"""``triplewire backtest``: what would subscriptions have matched?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from triplewire.cli.console import BAD_INPUT, AsJson, all_readable, console, folder, print_json, progress, table
from triplewire.cli.explain import file_and_id, records_of
from triplewire.errors import SubscriptionError, UsageError
from triplewire.matching.lines import Line, record_of

if TYPE_CHECKING:
    from triplewire.matching.engine.index import Index
    from triplewire.pipeline.history import ArchiveHistory, FileHistory, Stretch
    from triplewire.pipeline.tally import Tally

Files = Annotated[
    list[Path],
    typer.Option("--ontology", metavar="F…", help="Ontology files; several make one model.", callback=all_readable),
]
MOST_DAYS = 31


def backtest(
    subscription: Annotated[
        list[str],
        typer.Option(metavar="F[#ID]|JSON", help="A file of subscriptions, one of a file, or one as JSON; repeatable."),
    ],
    events: Annotated[
        list[Path], typer.Option("--events", metavar="F…", help="Files of events, or folders of them.")
    ] = [],  # noqa: B006 - typer copies it
    archive: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The archive that a stream keeps.", callback=folder)
    ] = None,
    ontology: Files = [],  # noqa: B006 - typer copies it
    against: Annotated[
        list[Path],
        typer.Option(
            "--against", metavar="F…", help="Another ontology: tell what it would change.", callback=all_readable
        ),
    ] = [],  # noqa: B006 - typer copies it
    since: Annotated[str | None, typer.Option(metavar="DAY", help="Of an archive, the days from this one on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Of an archive, the days up to this one.")] = None,
    only_estimate: Annotated[bool, typer.Option("--estimate", help="Look at a sample only.")] = False,
    lifting: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="What names in events mean: contexts, mappings, limits.", callback=folder),
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Count on this Spark master; in this process if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what subscriptions would have matched: how often, on which days, and some of the events.

    Events that cannot be read are counted. With another ontology it also tells what matches would be gained and lost.
    """
    from triplewire.concepts.load import load_model
    from triplewire.pipeline.backtest import estimate, indexes
    from triplewire.pipeline.tally import result

    if bool(events) == (archive is not None):
        raise UsageError("name the history: files with --events, or an archive with --archive")
    records = [record for argument in subscription for record in _records(argument)]
    made, refused = indexes(records, [load_model(ontology), *([load_model(against)] if against else [])])
    history = _history(events, archive, since, until, lifting)
    ids = list(dict.fromkeys(str(record.get("id")) for record in records))
    expected = estimate(history, made[0])
    if not as_json and expected is not None:
        _print_estimate(expected)
    if not only_estimate or expected is None:
        told = result(_count(history, made, master), ids, bool(against))
        if as_json:
            print_json(told | ({"estimate": expected} if expected else {}))
        else:
            _print(told, bool(against))
    elif as_json:
        print_json({"estimate": expected})
    for refusal in refused:
        print(json.dumps(refusal, ensure_ascii=False), file=sys.stderr)
    if refused:
        raise typer.Exit(BAD_INPUT)


def _records(argument: str) -> Iterator[dict[str, Any]]:
    """The records that an argument names, or is."""
    if argument.lstrip().startswith("{"):
        yield {"id": "subscription"} | record_of(Line("--subscription", 1, argument.encode()))
        return
    path, id_ = file_and_id(argument)
    found = [record for record in records_of(path) if id_ in (None, record.get("id"))]
    if not found:
        raise SubscriptionError(f"{path}: there is no subscription" + (f" {id_!r}" if id_ else ""))
    yield from found


def _history(
    events: list[Path], archive: Path | None, since: str | None, until: str | None, lifting: Path | None
) -> FileHistory | ArchiveHistory:
    from triplewire.lift.lifting import load_lifting
    from triplewire.pipeline.history import ArchiveHistory, FileHistory

    if archive is not None:
        return ArchiveHistory(archive, since, until)
    if since or until:
        raise UsageError("--since and --until choose days of an --archive")
    return FileHistory(events, load_lifting(lifting))


def _count(history: FileHistory | ArchiveHistory, made: list[Index], master: str | None) -> Tally:
    from triplewire.pipeline import backtest

    against = made[1] if len(made) > 1 else None
    if master is None:
        return backtest.count(history, made[0], against, _shown)
    from triplewire.pipeline.backtest_job import count_on_spark
    from triplewire.pipeline.session import session

    spark = session(master, "triplewire backtest")
    try:
        return count_on_spark(spark, history, made[0], against)
    finally:
        spark.stop()


def _shown(stretches: Iterator[Stretch], size: float) -> Iterator[Stretch]:
    return progress("counting", stretches, size, lambda stretch: stretch.size)


def _print_estimate(expected: dict[str, Any]) -> None:
    out = console()
    out.print(
        f"A sample of {expected['sampled']:,} of about {expected['events']:,} events; "
        f"to count them all takes about {expected['seconds']:,.0f} s."
    )
    rows = table("subscription", "matches, about", "of events", "between")
    for one in expected["subscriptions"]:
        low, high = one["between"]
        name = escape(one["subscription"])
        rows.add_row(name, f"{one['matches']:,}", f"{one['rate']:.2%}", f"{low:.2%} and {high:.2%}")
    out.print(rows)
    out.print()


def _print(told: dict[str, Any], compared: bool) -> None:
    out = console()
    days = [day for day in told["days"] if day]
    when = "" if not days else f" of {days[0]}" if len(days) == 1 else f" from {days[0]} to {days[-1]}"
    refused = f"; {told['refused']:,} could not be read" if told["refused"] else ""
    out.print(f"{told['events']:,} events{when}{refused}")
    rows = table("subscription", "matches", "of events", *(["gained", "lost"] if compared else []), "such as")
    for one in told["subscriptions"]:
        changes = [f"{one[kind]['matches']:,}" for kind in ("gained", "lost")] if compared else []
        rows.add_row(
            escape(one["subscription"]),
            f"{one['matches']:,}",
            f"{one['rate']:.2%}",
            *changes,
            escape(", ".join(one["samples"])),
        )
    out.print(rows)
    if compared:
        _print_changes(told)
    if len(days) > 1:
        out.print()
        _print_days(told, days)


def _print_changes(told: dict[str, Any]) -> None:
    for one in told["subscriptions"]:
        for kind in ("gained", "lost"):
            if one[kind]["samples"]:
                console().print(escape(f"{one['subscription']}: {kind} {', '.join(one[kind]['samples'])}"))


def _print_days(told: dict[str, Any], days: list[str]) -> None:
    """The last month, all subscriptions together unless they are few."""
    few = told["subscriptions"] if len(told["subscriptions"]) <= 5 else []
    rows = table("day", "events", *(escape(one["subscription"]) for one in few), *([] if few else ["matches"]))
    for day in days[-MOST_DAYS:]:
        counts = [one["days"].get(day, 0) for one in told["subscriptions"]]
        rows.add_row(day, f"{told['days'][day]:,}", *(f"{n:,}" for n in (counts if few else [sum(counts)])))
    console().print(rows)
    if len(days) > MOST_DAYS:
        console().print(f"… and {len(days) - MOST_DAYS} days before; --json has them all")
