"""``triplewire user`` and ``triplewire token``: who may use a broker, and for what."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from triplewire.cli.console import AsJson, Home, StoreUrl, console, print_json, table
from triplewire.errors import UsageError

if TYPE_CHECKING:
    from triplewire.store import Token
    from triplewire.store.users import Users

user = typer.Typer(help="Users of the broker.", no_args_is_help=True)
token = typer.Typer(help="Tokens, by which the broker knows its users.", no_args_is_help=True)

SHORTEST_PASSWORD = 12

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
Scopes = Annotated[
    list[str] | None, typer.Option("--scope", metavar="SCOPE", help="One of publish, subscribe, ontology, admin.")
]


@user.command("add")
def add_user(
    name: Name,
    admin: Annotated[bool, typer.Option("--admin", help="They may do everything.")] = False,
    scope: Scopes = None,
    home: Home = Path("var"),
    url: StoreUrl = None,
) -> None:
    """Add a user, who may publish and subscribe unless told otherwise. From then on a token is needed everywhere."""
    from triplewire.store.rights import ADMIN, USUAL

    with _users(home, url) as users:
        added = users.add(name, [*(scope or USUAL), *[ADMIN] * admin])
    print_json({"name": added.name, "scopes": sorted(added.scopes), "created": added.created})


@user.command()
def password(name: Name, home: Home = Path("var"), url: StoreUrl = None) -> None:
    """Set a user's password, for signing in on a page; it is asked for, or read from standard input."""
    given = getpass(f"Password of {name}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if len(given) < SHORTEST_PASSWORD:
        raise UsageError(f"a password should have {SHORTEST_PASSWORD} signs at least")
    with _users(home, url) as users:
        users.set_password(name, given)


@user.command("list")
def list_users(home: Home = Path("var"), url: StoreUrl = None, as_json: AsJson = False) -> None:
    """List the users."""
    with _users(home, url) as users:
        found = users.listed()
    rows = table("name", "may", "since")
    for one in found:
        if as_json:
            print_json({"name": one.name, "scopes": sorted(one.scopes), "created": one.created})
        rows.add_row(escape(one.name), ", ".join(sorted(one.scopes)), one.created)
    if not as_json:
        console().print(rows)


@token.command("add")
def add_token(
    name: Name,
    label: Annotated[str, typer.Option("--name", metavar="TEXT", help="What it is for.")] = "",
    scope: Scopes = None,
    days: Annotated[int | None, typer.Option(metavar="N", min=1, help="It is good for so many days.")] = None,
    home: Home = Path("var"),
    url: StoreUrl = None,
) -> None:
    """Print a new token of a user. It is shown this once: only its hash is kept."""
    from triplewire.store import moment_of

    expires = None if days is None else moment_of(datetime.now(UTC) + timedelta(days=days))
    with _users(home, url) as users:
        made, text = users.issue(name, label, scope, expires)
    print(text)
    print(f"Token {made.number}: keep it now, it is not shown again.", file=sys.stderr)


@token.command("list")
def list_tokens(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only those of this user.")] = None,
    home: Home = Path("var"),
    url: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """List the tokens: whose, what for, when used last."""
    with _users(home, url) as users:
        found = users.tokens(name)
    rows = table("", "user", "name", "may", "created", "used", "state")
    for one in found:
        if as_json:
            print_json(one.as_dict())
        cells = (one.user, one.name, ", ".join(sorted(one.scopes)), one.created, one.used or "never", _state(one))
        rows.add_row(str(one.number), *map(escape, cells))
    if not as_json:
        console().print(rows)


@token.command()
def revoke(
    number: Annotated[int, typer.Argument(metavar="N", help="The token's number.")],
    home: Home = Path("var"),
    url: StoreUrl = None,
) -> None:
    """Have a token be good for nothing from now on."""
    with _users(home, url) as users:
        print_json(users.revoke(number).as_dict())


def _state(one: Token) -> str:
    if one.revoked:
        return f"revoked {one.revoked}"
    return f"until {one.expires}" if one.expires else "good"


@contextmanager
def _users(home: Path, url: str | None) -> Iterator[Users]:
    from triplewire.store import Store, store_url

    if url is None:
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"the data folder {home} cannot be made: {error.strerror}") from None
    with closing(Store(url or store_url(home))) as store:
        yield store.users
