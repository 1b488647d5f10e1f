"""The commands that match and serve, and the way into all the others."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import triplewire
from triplewire.cli.backtest import backtest
from triplewire.cli.console import BAD_INPUT, Home, StoreUrl, progress
from triplewire.cli.event import event
from triplewire.cli.explain import explain
from triplewire.cli.ontology import ontology as ontology_commands
from triplewire.cli.options import with_settings
from triplewire.cli.store import backup, restore, store
from triplewire.cli.subscription import subscription
from triplewire.cli.synonyms import synonyms
from triplewire.cli.users import token, user
from triplewire.configuration import Configuration
from triplewire.errors import (
    EventError,
    IndexFolderError,
    OntologyError,
    SubscriptionError,
    TriplewireError,
    UsageError,
)
from triplewire.matching import DEFAULT_MATCHER, MATCHERS, Matcher
from triplewire.subscriptions.pattern import Subscription

_MANY = ("--ontology", "--events", "--against", "--subscription")
_TAKING_MANY = (["match"], ["explain"], ["backtest"], ["compile"], ["pipeline", "run"])
_FOLDER = "var"
_NOTHING = "there is nothing to match with: name a file with --subscriptions, or a folder with --index"

app = typer.Typer(
    help="A tripwire for RDF triples: standing patterns in, events past them, and whoever is tripped is told why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
pipeline = typer.Typer(help="Match on Spark: files as a batch, or the event log as a stream.", no_args_is_help=True)
app.add_typer(pipeline, name="pipeline")
app.add_typer(ontology_commands, name="ontology")
app.add_typer(event, name="event")
app.add_typer(subscription, name="subscription")
app.add_typer(store, name="store")
app.command()(backup)
app.command()(restore)
app.add_typer(synonyms, name="synonyms")
app.add_typer(user, name="user")
app.add_typer(token, name="token")

Ontology = Annotated[
    list[Path],
    typer.Option(
        "--ontology", metavar="F…", help="RDFS or OWL files; several make one model.", exists=True, dir_okay=False
    ),
]
Subscriptions = Annotated[
    Path, typer.Option(metavar="F.ndjson", help="Subscriptions, a JSON object a line.", exists=True, dir_okay=False)
]
OptionalSubscriptions = Annotated[
    Path | None,
    typer.Option(
        "--subscriptions", metavar="F.ndjson", help="Subscriptions, a JSON object a line.", exists=True, dir_okay=False
    ),
]
IndexFolder = Annotated[
    Path | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help="What `triplewire compile` made, instead of subscriptions and ontology.",
        exists=True,
        file_okay=False,
    ),
]
Events = Annotated[
    list[Path],
    typer.Option("--events", metavar="F.ndjson…", help="CloudEvents, one a line.", exists=True, dir_okay=False),
]
MatcherName = Annotated[str, typer.Option("--matcher", help=f"One of: {', '.join(MATCHERS)}.")]
Bindings = Annotated[bool, typer.Option("--bindings", help="Tell what the variables are bound to.")]
LiftingFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="What names in events mean: contexts, mappings, limits.", exists=True, file_okay=False
    ),
]
Master = Annotated[str | None, typer.Option(metavar="URL", help="The Spark master; embedded local mode if left out.")]


@app.command()
def match(
    events: Events,
    subscriptions: OptionalSubscriptions = None,
    ontology: Ontology = [],  # noqa: B006 - typer copies it
    index: IndexFolder = None,
    matcher: MatcherName = DEFAULT_MATCHER,
    bindings: Bindings = False,
    lifting: LiftingFolder = None,
) -> None:
    """Write a JSON line for each subscription that an event trips, in one process, without Spark."""
    from triplewire.lift.lifting import load_lifting
    from triplewire.matching.lines import match_lines, read_lines

    chosen, refused = _matcher(index, ontology, subscriptions, matcher)
    lines = (line for path in events for line in read_lines(path))
    for result in match_lines(_progress("matching", lines, events), chosen, bindings, load_lifting(lifting)):
        if isinstance(result, str):
            print(result)
        else:
            refused += _report([result])
    if refused:
        raise typer.Exit(BAD_INPUT)


def _matcher(index: Path | None, ontology: list[Path], subscriptions: Path | None, name: str) -> tuple[Matcher, int]:
    """The matcher with its subscriptions, compiled already or not; and how many of them were refused."""
    from triplewire.concepts.load import load_model
    from triplewire.matching import make_matcher
    from triplewire.matching.lines import add_subscriptions, read_lines

    _check_alone(index, ontology, subscriptions)
    if index is not None:
        return _opened(index), 0
    if subscriptions is None:
        raise UsageError(_NOTHING)
    model = load_model(ontology)
    chosen = make_matcher(name, model)
    return chosen, _report(add_subscriptions(read_lines(subscriptions), chosen, model))


def _check_alone(index: Path | None, ontology: list[Path], subscriptions: Path | None) -> None:
    if index is not None and (subscriptions is not None or ontology):
        raise UsageError("an index has its subscriptions and its ontology with it: leave them out beside --index")


def _opened(index: Path) -> Matcher:
    """The index in a folder, whole or in shards; each loads what it needs, and Arrow only for shards."""
    from triplewire.matching.engine.folder import is_sharded
    from triplewire.matching.engine.index import Index

    if is_sharded(index):
        from triplewire.matching.engine.shards import ShardedIndex

        return ShardedIndex(index)
    return Index.open(index)


@app.command("compile")
def compile_(
    subscriptions: Annotated[
        Path,
        typer.Option(
            metavar="F.ndjson", help="Subscriptions, a JSON object a line; or, for Spark, their chunks.", exists=True
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the index is written.", file_okay=False)],
    ontology: Ontology = [],  # noqa: B006 - typer copies it
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Compile on this Spark master; in this process if left out.")
    ] = None,
    shards: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Cut the index into so many, for as many machines.")
    ] = None,
) -> None:
    """Make the index of subscriptions: a folder that is opened at once, whatever its size, and shared by processes."""
    if master is None:
        count, refused = _compiled_here(subscriptions, out, ontology, shards)
    else:
        from triplewire.pipeline.compilation import compile_on_spark
        from triplewire.pipeline.session import session

        spark = session(master, "triplewire compile")
        try:
            count, refused = compile_on_spark(spark, ontology, subscriptions, out, shards)
        finally:
            spark.stop()
    print(json.dumps({"index": str(out), "subscriptions": count} | ({"shards": shards} if shards else {})))
    if _report(refused):
        raise typer.Exit(BAD_INPUT)


def _compiled_here(
    subscriptions: Path, out: Path, ontology: list[Path], shards: int | None
) -> tuple[int, list[dict[str, Any]]]:
    """Write the index, or its shards; how many subscriptions it has, and what was refused."""
    from triplewire.concepts.load import load_model
    from triplewire.matching.engine.chunks import compile_chunks, repeated
    from triplewire.matching.engine.index import Index
    from triplewire.matching.engine.shards import build_shards
    from triplewire.matching.lines import Entry, read_lines, read_subscriptions

    model = load_model(ontology)
    refused: list[dict[str, Any]] = []
    lines = _progress("compiling", read_lines(subscriptions), [subscriptions])

    def accepted() -> Iterator[Subscription]:
        for entry in read_subscriptions(lines, model):
            if isinstance(entry, Entry):
                yield entry.subscription
            else:
                refused.append(entry)

    if shards is not None:
        chunks = list(compile_chunks(accepted(), model))
        build_shards(chunks, model, repeated(chunks), shards, out)
        return sum(map(len, chunks)), refused
    index = Index.build(accepted(), model)
    index.save(out)
    index.close()
    return len(index), refused


app.command()(explain)
app.command()(backtest)


@pipeline.command()
def run(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where matches/ and refused/ are written.", file_okay=False)],
    subscriptions: OptionalSubscriptions = None,
    events: Annotated[
        list[Path], typer.Option("--events", metavar="F…", help="Files of events, or folders of them.", exists=True)
    ] = [],  # noqa: B006 - typer copies it
    archive: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The archive that a stream keeps, instead.", exists=True, file_okay=False),
    ] = None,
    ontology: Ontology = [],  # noqa: B006 - typer copies it
    index: IndexFolder = None,
    master: Master = None,
    matcher: MatcherName = DEFAULT_MATCHER,
    bindings: Bindings = False,
    lifting: LiftingFolder = None,
) -> None:
    """Match files on Spark: the same matches as `triplewire match`, to the line."""
    from triplewire.pipeline.batch import run_batch

    if bool(events) == (archive is not None):
        raise UsageError("name what is to be matched: files with --events, or an archive with --archive")
    _check_alone(index, ontology, subscriptions)
    if index is None and subscriptions is None:
        raise UsageError(_NOTHING)
    if _report(run_batch(ontology, subscriptions, events, out, master, matcher, bindings, lifting, archive, index)):
        raise typer.Exit(BAD_INPUT)


@pipeline.command()
def stream(
    home: Home = Path(_FOLDER),
    url: StoreUrl = None,
    master: Master = None,
    until: Annotated[
        int | None, typer.Option(metavar="N", help="Stop once the log is done up to this position.")
    ] = None,
    parent: Annotated[int | None, typer.Option(metavar="PID", help="Stop once this parent process is gone.")] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="folder:DIR|kafka:HOST:PORT/TOPIC", help="Put the events from here into the log."),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="kafka:HOST:PORT/TOPIC", help="Send the notifications here, too.")
    ] = None,
    after: Annotated[
        str | None,
        typer.Option("--from", metavar="N|TIME", help="Replay: match again what is after this position or time."),
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep lifted events here; `archive` in the data folder if left out."),
    ] = None,
    packages: Annotated[str, typer.Option(metavar="G:A:V,…", help="Maven packages that Spark is to load.")] = "",
    jars: Annotated[str, typer.Option(metavar="F,…", help="Jar files that Spark is to load.")] = "",
) -> None:
    """Match the event log as it grows: the standing job behind `triplewire serve`."""
    from triplewire.pipeline.session import LOG_LINE, STREAM, begin

    logging.basicConfig(format=LOG_LINE)
    logging.getLogger("triplewire").setLevel(logging.INFO)
    place = _place(after)
    loaded = {"spark.jars.packages": packages, "spark.jars": jars}
    session = begin(master, STREAM | {name: value for name, value in loaded.items() if value})

    from triplewire.pipeline.stream import run_stream  # while Spark starts
    from triplewire.store import store_url

    run_stream(
        session,
        url or store_url(home),
        home / "checkpoint",
        until,
        parent,
        home / "lifting",
        archive or home / "archive",
        source,
        place,
        to,
    )


def _place(text: str | None) -> int | datetime | None:
    """A log position, or a time with its zone."""
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise UsageError(f"--from should be a log position or a time such as 2026-01-31T12:00:00Z, not {text!r}")
    return time


@app.command()
@with_settings
def serve(configuration: Configuration) -> None:
    """Run the broker with its web page, and the pipeline behind it."""
    from triplewire.broker.serve import serve as run_broker

    run_broker(configuration)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    if version:
        print(triplewire.__version__)
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; a user's mistake is a line on stderr, never a traceback."""
    _write_utf8()
    try:
        app(args=spread(sys.argv[1:]), prog_name="triplewire")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except TriplewireError as error:
        print(f"triplewire: {error}", file=sys.stderr)
        bad_input = isinstance(error, EventError | OntologyError | SubscriptionError | IndexFolderError)
        sys.exit(2 if isinstance(error, UsageError) else BAD_INPUT if bad_input else 1)
    sys.exit(0)


def _write_utf8() -> None:
    """Write UTF-8 whatever the locale, as JSON should be; half a character, which UTF-8 cannot hold, as an escape."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):
            output.reconfigure(encoding="utf-8", errors="backslashreplace")


def spread(arguments: list[str]) -> list[str]:
    """Write ``--events a b`` as ``--events a --events b``, for the commands that take files by options alone."""
    words = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    if words not in _TAKING_MANY:
        return arguments
    out: list[str] = []
    current: str | None = None
    for argument in arguments:
        if argument.startswith("-"):
            current = argument if argument in _MANY else None
            fresh = current is not None
        elif current is not None and not fresh:
            out.append(current)
        else:
            fresh = False
        out.append(argument)
    return out


def _report(refused: Iterable[dict[str, Any]]) -> int:
    """Write what was refused to stderr, a JSON line each, and count it."""
    count = 0
    for refusal in refused:
        print(json.dumps(refusal, ensure_ascii=False), file=sys.stderr)
        count += 1
    return count


def _progress(what: str, lines: Iterable[Any], paths: list[Path]) -> Iterator[Any]:
    """The lines of files, with a progress bar."""
    return progress(what, lines, sum(path.stat().st_size for path in paths), lambda line: len(line.text))
