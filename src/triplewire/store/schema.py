"""The version of a store's tables: read whenever it is opened, and brought up to date where it is old.

Versions are the numbers of the revisions in ``migrations/versions``. Opening reads a single row; alembic is loaded
only by a store that is behind.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select

from triplewire.errors import StoreError
from triplewire.store.tables import marks, metadata

MIGRATIONS = Path(__file__).with_name("migrations")
HEAD = max(int(path.stem[1:4]) for path in MIGRATIONS.glob("versions/r*.py"))
"""The version of ``tables``."""
BASELINE = 4
"""The version of stores that were made before there were migrations; it is noted in a mark."""
FENCE = 5
"""What that mark says since, so that software from before keeps away."""

VERSION_TABLE = "triplewire_version"
_version = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True))


def version(connection: Connection) -> int:
    """The version of the tables that are there; 0 if there are none."""
    if inspect(connection).has_table(VERSION_TABLE):
        return int(connection.scalar(select(_version.c.version_num)) or 0)
    if inspect(connection).has_table(marks.name):
        return connection.scalar(select(marks.c.value).where(marks.c.name == "schema")) or 0
    return 0


def check(found: int, name: str) -> None:
    """Refuse what this software cannot bring up to date."""
    if found > HEAD:
        raise StoreError(
            f"{name} was written by a newer Triplewire: its tables have version {found}, "
            f"and this one knows them up to {HEAD}; install a newer one"
        )
    if 0 < found < BASELINE:
        raise StoreError(
            f"{name} was written by a Triplewire that is too old: its tables have version {found}, "
            f"and this one knows them from {BASELINE} on"
        )


def create(connection: Connection) -> None:
    """Make the tables where there are none. It comes to the same as all migrations, and takes no time."""
    metadata.create_all(connection)
    _version.create(connection)
    connection.execute(_version.insert().values(version_num=f"{HEAD:03}"))
    connection.execute(marks.insert().values(name="schema", value=FENCE))


def migrate(connection: Connection) -> None:
    """Bring the tables up to date, in the transaction that is under way."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes.update(connection=connection, version_table=VERSION_TABLE)
    if version(connection) == BASELINE and not inspect(connection).has_table(VERSION_TABLE):
        command.stamp(config, f"{BASELINE:03}")
    command.upgrade(config, "head")


def keep_copy(database: Path, found: int) -> None:
    """Copy an embedded store before it is migrated, to where somebody who wants to go back will see it."""
    copy = database.with_name(f"{database.name}.version-{found}")
    unfinished = copy.with_name(f"{copy.name}.unfinished")
    copy_file(database, unfinished)
    unfinished.replace(copy)


def make_file(path: Path) -> None:
    """Make the file of an embedded store, if there is none, for its owner alone: secrets are kept in it.

    SQLite lets nobody else see what it puts beside it either.
    """
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def copy_file(source: Path, target: Path) -> None:
    """Copy an embedded store as SQLite has it: one moment of the source, while others write to it."""
    make_file(target)
    with closing(sqlite3.connect(source)) as given, closing(sqlite3.connect(target)) as made:
        given.backup(made)
