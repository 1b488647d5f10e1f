"""Backups: a store as it stood at one moment, in one file, which is an embedded store itself.

It is made while the store is in use, from either kind, and restored into either kind. So it also moves a store from
one to the other.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, Table, func, insert, select, text

from triplewire.errors import StoreError, UsageError
from triplewire.store.database import AT_ONCE, POSTGRESQL, SQLITE, Database
from triplewire.store.schema import copy_file
from triplewire.store.tables import events, marks, metadata, revisions, users


def backup(url: str, file: Path) -> None:
    """Write a store, as it stands now, to a new file."""
    if file.exists():
        raise UsageError(f"{file} is there already; name another file")
    unfinished = file.with_name(f"{file.name}.unfinished")
    try:
        with closing(Database(url, make=False)) as source:
            unfinished.unlink(missing_ok=True)
            if source.kind == SQLITE:
                copy_file(source.file, unfinished)
            else:
                _copy_out(source, unfinished)
        with closing(sqlite3.connect(unfinished)) as made:
            made.execute("PRAGMA journal_mode=DELETE")  # no second file beside it
        unfinished.replace(file)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"the backup {file} cannot be written: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def restore(file: Path, url: str) -> None:
    """Make an empty store what a backup says, brought up to date if the backup is old."""
    if not file.is_file():
        raise UsageError(f"{file}: no such file")
    with TemporaryDirectory(prefix="triplewire-") as folder:
        copy = Path(folder) / "triplewire.db"
        shutil.copyfile(file, copy)
        if damage := _damage(copy):
            raise StoreError(f"{file} is damaged, or no backup of a store: {damage}")
        with (
            closing(Database(f"sqlite:///{copy}")) as source,
            closing(Database(url)) as target,
            source.reading() as given,
            target.writing() as connection,
        ):
            _check_empty(connection, target)
            if target.kind == POSTGRESQL:
                _copy_rows(given, connection)
        if target.kind == SQLITE:
            copy_file(copy, target.file)


def _damage(file: Path) -> str | None:
    """What is wrong with a backup. One that was cut short, or garbled, may well be opened, and break weeks later."""
    try:
        with closing(sqlite3.connect(file)) as connection:
            [found] = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found == "ok" and not connection.execute("PRAGMA table_info(marks)").fetchall():
                return "it has no tables of ours"
    except sqlite3.Error as error:
        return str(error)
    return None if found == "ok" else " ".join(found.split())


def _copy_out(source: Database, file: Path) -> None:
    with (
        closing(Database(f"sqlite:///{file.absolute()}")) as target,
        source.snapshot() as given,
        target.writing() as connection,
    ):
        _copy_rows(given, connection)


def _copy_rows(given: Connection, made: Connection) -> None:
    made.execute(marks.delete())
    for table in metadata.sorted_tables:
        rows = given.execution_options(yield_per=AT_ONCE).execute(select(table)).mappings()
        for part in rows.partitions():
            made.execute(insert(table), [dict(row) for row in part])
        if made.dialect.name == POSTGRESQL:
            _count_on(made, table)


def _count_on(connection: Connection, table: Table) -> None:
    """Have PostgreSQL number new rows from here on, as it did not number these."""
    column = table.autoincrement_column
    if column is not None:
        counter = func.pg_get_serial_sequence(table.name, column.name)
        highest = select(func.coalesce(func.max(column), 0) + 1).scalar_subquery()
        connection.execute(select(func.setval(counter, highest, text("false"))))


def _check_empty(connection: Connection, target: Database) -> None:
    if any(connection.execute(select(table).limit(1)).first() for table in (events, revisions, users)):
        raise UsageError(f"{target.name} is not empty; a backup is restored into an empty store")
