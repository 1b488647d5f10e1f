"""What the commands that show something share: files given by name, tables for people, and pictures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from triplewire.errors import UsageError

if TYPE_CHECKING:
    from triplewire.store import Store

Item = TypeVar("Item")

BAD_INPUT = 3
_PIPE = 120  # columns, where there is no terminal to ask


def readable(path: Path) -> Path:
    """The same path, if there is a file."""
    if not path.is_file():
        raise UsageError(f"{path}: {'a folder, not a file' if path.is_dir() else 'no such file'}")
    return path


def all_readable(paths: list[Path]) -> list[Path]:
    """The same paths, if they are all files."""
    for path in paths:
        readable(path)
    return paths


def folder(path: Path | None) -> Path | None:
    """The same path, if it is a folder or none is given."""
    if path is not None and not path.is_dir():
        raise UsageError(f"{path}: no such folder")
    return path


File = Annotated[Path, typer.Argument(metavar="FILE", callback=readable)]
OntologyFiles = Annotated[
    list[Path], typer.Argument(metavar="F…", help="Ontology files; several make one model.", callback=all_readable)
]
Home = Annotated[
    Path, typer.Option("--home", metavar="DIR", help="The data folder.", envvar="TRIPLEWIRE_HOME", file_okay=False)
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store, such as postgresql://USER@HOST/DATABASE; a file in the data folder if left out.",
        envvar="TRIPLEWIRE_STORE",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
Svg = Annotated[Path | None, typer.Option("--svg", metavar="F.svg", help="Draw a picture into this file.")]


@contextmanager
def opened_store(home: Path, url: str | None) -> Iterator[Store]:
    """The store at an address, or the one in a data folder, which must be there."""
    from triplewire.store import Store, store_url

    if url is None and not home.is_dir():
        raise UsageError(f"{home}: no such folder; name the broker's data folder with --home, or a store with --store")
    with closing(Store(url or store_url(home))) as store:
        yield store


def console() -> Console:
    """Standard output: as wide as the terminal, and without marks and colours if it is none."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=_PIPE)


def table(*columns: str) -> Table:
    """A table that loses nothing: what is too wide goes on in the next line."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def progress(what: str, items: Iterable[Item], total: float, size: Callable[[Item], float]) -> Iterator[Item]:
    """The items, with a progress bar on a terminal once they have taken two seconds."""
    if not sys.stderr.isatty():
        yield from items
        return
    start = monotonic()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, visible=False)
        for item in items:
            yield item
            bar.update(task, advance=size(item), visible=monotonic() - start > 2)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode())


def write_picture(path: Path, svg: str) -> None:
    try:
        path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
