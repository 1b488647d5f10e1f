"""Commands that look after the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triplewire.cli.console import Home, StoreUrl
from triplewire.errors import UsageError

REMAINS = ("checkpoint", "archive", "index")
"""What the pipeline leaves in a data folder. It is about the positions of one log."""

BackupFile = Annotated[Path, typer.Argument(metavar="F", help="The backup: one file, which is an embedded store.")]

store = typer.Typer(help="Look after the store: events, subscriptions and what came of them.", no_args_is_help=True)


@store.command()
def upgrade(home: Home = Path("var"), url: StoreUrl = None) -> None:
    """Bring the tables of a store up to date with this version of Triplewire; an embedded one is copied first."""
    from triplewire.store import store_url
    from triplewire.store import upgrade as upgrade_store

    upgrade_store(url or store_url(home))


def backup(file: BackupFile, home: Home = Path("var"), url: StoreUrl = None) -> None:
    """Write the store, as it stands now, to a new file, while everything goes on."""
    from triplewire.store import backup as back_up
    from triplewire.store import store_url

    back_up(url or store_url(home), file)


def restore(file: BackupFile, home: Home = Path("var"), url: StoreUrl = None) -> None:
    """Fill an empty store, of either kind, from a backup."""
    from triplewire.store import restore as put_back
    from triplewire.store import store_url

    for name in REMAINS:
        if (home / name).exists():
            raise UsageError(
                f"{home / name} belongs to another store; move it away, or name an empty folder with --home"
            )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    put_back(file, url or store_url(home))
