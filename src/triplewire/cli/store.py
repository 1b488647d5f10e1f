"""Commands that look after the store."""

from __future__ import annotations

from pathlib import Path

import typer

from triplewire.cli.console import Home, StoreUrl

store = typer.Typer(help="Look after the store: events, subscriptions and what came of them.", no_args_is_help=True)


@store.command()
def upgrade(home: Home = Path("var"), url: StoreUrl = None) -> None:
    """Bring the tables of a store up to date with this version of Triplewire; an embedded one is copied first."""
    from triplewire.store import store_url
    from triplewire.store import upgrade as upgrade_store

    upgrade_store(url or store_url(home))
