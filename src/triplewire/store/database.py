"""Connections to the database of a store: SQLite in a file, or PostgreSQL.

Writers take turns, on both. So what is numbered becomes visible in the order of its numbers: whoever reads up to a
number has seen all that will ever be below it.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from select import POLLIN, poll
from threading import Event, local
from typing import Any, TypeVar
from weakref import finalize

from sqlalchemy import URL, Connection, Dialect, Engine, Insert, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree
from sqlalchemy.types import TypeEngine

from triplewire.errors import StoreAwayError, StoreError, StoreFullError, StoreReadOnlyError, UsageError
from triplewire.store import schema
from triplewire.store.bell import Bell

log = logging.getLogger(__name__)

SQLITE, POSTGRESQL = "sqlite", "postgresql"
DISK_FULL, READ_ONLY, LOCKED = "53100", "25006", "55P03"
"""What PostgreSQL says of itself, in SQL's own codes."""
Item = TypeVar("Item")
Result = TypeVar("Result")
AT_ONCE = 1000
TURN = 7_747_073
"""The number of the advisory lock that PostgreSQL's writers take turns by."""
CONNECTING = 10
"""Seconds that a server has to answer; without a limit it may be minutes until the network gives up."""
PATIENCE, STEP = 30.0, 2.0
"""Seconds that writers wait for each other; and after how many they look whether they are still to wait."""
POOL: dict[str, Any] = {"hide_parameters": True, "pool_use_lifo": True}
"""The connection that was used last is used next, as it has at hand what it has read."""
PAUSE = 1.0
"""Seconds until a patient one tries again."""
TAKING_TURNS = {
    SQLITE: "BEGIN IMMEDIATE",
    POSTGRESQL: (
        f"SET LOCAL lock_timeout = '{STEP:g}s'; SELECT pg_advisory_xact_lock({TURN}); "
        f"SET LOCAL lock_timeout = '{PATIENCE:g}s'"
    ),
}


class Database:
    """A database with the tables of a store, made if there are none and ``make`` does not say otherwise.

    Open one per process, after a fork.

    Where another process keeps the database to itself, or the server is away, it is an error after a while; whoever is
    ``patient`` waits for as long as it takes.

    Old tables of an embedded store are brought up to date, and a copy of it is kept. Those of a database that others
    look after are left alone unless ``upgrade`` says otherwise.
    """

    def __init__(self, url: str, upgrade: bool = False, patient: bool = False, make: bool = True) -> None:
        parsed = _parsed(url)
        self._patient = patient
        self._patience = _patience(parsed)
        self._leaving = Event()
        self._own = local()  # what a thread writes by
        self.name = parsed.set(query={}).render_as_string(hide_password=True)
        self.kind = parsed.get_backend_name()
        self._engine = _sqlite(parsed) if self.kind == SQLITE else _postgresql(parsed)
        self._glancing: sqlite3.Connection | None = None
        self.bell = Bell(self._engine) if self.kind == POSTGRESQL else None
        # Of some nobody sees the end: that of a stream's, which Java holds on to, comes with Java's garbage.
        finalize(self, self._engine.dispose).atexit = False
        try:
            if self.kind == SQLITE:
                self._find_file(make)
            self._prepare(upgrade or self.kind == SQLITE, make)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._stop_glancing()
        if self.bell is not None:
            self.bell.close()
        self._engine.dispose()

    def leave(self) -> None:
        """Wait no longer, from now on, for somebody who keeps the database locked: we are going down."""
        self._leaving.set()

    def glance(self, query: str, **parameters: int) -> list[tuple[Any, ...]] | None:
        """The rows that a short query gives if it takes microseconds, so that one may ask all the time; else None.

        For one thread, which never waits: an embedded store is asked by a connection that is kept for this.
        """
        if self.kind != SQLITE:
            return None
        try:
            if self._glancing is None:
                self._glancing = sqlite3.connect(self.file, timeout=0, check_same_thread=False)
            return self._glancing.execute(query, parameters).fetchall()
        except sqlite3.Error:  # whoever asks the usual way is told
            self._stop_glancing()
            return None

    def _stop_glancing(self) -> None:
        if self._glancing is not None:
            self._glancing.close()
            self._glancing = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for reading. In the midst of writing it is the one that writes: another may not be free."""
        own: Connection | None = getattr(self._own, "connection", None)
        if own is not None:
            yield own
            return
        with self._connected() as connection:
            yield connection

    @contextmanager
    def asking(self) -> Iterator[Connection]:
        """A connection for one query: PostgreSQL would take as long to begin and end a transaction as to answer it."""
        with self._connected() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT") if self.kind == POSTGRESQL else connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, with no other writer until its end. What it wrote is on disk once this returns."""
        with self._connected(TAKING_TURNS[self.kind]) as connection:
            self._own.connection = connection
            try:
                yield connection
            finally:
                del self._own.connection
            connection.commit()

    @contextmanager
    def _connected(self, turn: str | None = None) -> Iterator[Connection]:
        """A connection, once it is its turn."""
        try:
            with self._connect(turn) as connection:
                yield connection
        except DBAPIError as error:
            raise _kind(error)(f"{self.name}: {_said(error)}") from error
        except NoneFree as error:
            raise StoreError(f"{self.name}: all connections are in use") from error

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection to PostgreSQL that reads everything as it stood at one moment."""
        with self._connected() as connection:
            yield connection.execution_options(isolation_level="REPEATABLE READ")

    @property
    def file(self) -> Path:
        """Where an embedded store is."""
        return Path(self._engine.url.database or "")

    def _connect(self, turn: str | None) -> Connection:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                connection = self._engine.connect()
                try:
                    if turn is not None:
                        connection.exec_driver_sql(turn)
                    return connection
                except BaseException:
                    connection.close()
                    raise
            except OperationalError as error:
                if self._leaving.is_set() or not _passes(error):
                    raise
                if time.monotonic() < deadline and _is_locked(error):
                    self._leaving.wait(0.01)
                elif self._patient:
                    log.warning("%s cannot be used yet, and is waited for: %s", self.name, _said(error))
                    self._leaving.wait(PAUSE)
                else:
                    raise

    def _find_file(self, make: bool) -> None:
        if not make and not self.file.is_file():
            raise self._none()
        with suppress(OSError):  # of which SQLite tells
            schema.make_file(self.file)

    def _none(self) -> UsageError:
        return UsageError(
            f"{self.name}: there is no store; name its data folder with --home, or its address with --store"
        )

    def _prepare(self, upgrade: bool, make: bool) -> None:
        """Have the tables be those that this software knows, or refuse the store."""
        with self.reading() as connection:
            found = schema.version(connection)
        if found == schema.HEAD:
            return
        if not found and not make:
            raise self._none()
        schema.check(found, self.name)
        if found and not upgrade:
            raise StoreError(
                f"{self.name}: its tables have version {found}, and this Triplewire works with {schema.HEAD}. "
                f"Stop what uses it, back it up, and run `triplewire store upgrade`"
            )
        with self.writing() as connection:
            found = schema.version(connection)  # another process may have been quicker
            if found == 0:
                schema.create(connection)
            elif found < schema.HEAD:
                if self.kind == SQLITE:
                    schema.keep_copy(self.file, found)
                schema.migrate(connection)


class Part:
    """A part of a store: what it keeps of one kind, in the database that all parts share."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = database.reading
        self._writing = database.writing

    def close(self) -> None:
        self._database.close()

    def leave(self) -> None:
        """Wait no longer for somebody who keeps the store locked: we are going down."""
        self._database.leave()


def parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items, not too many for one statement at a time."""
    coming = iter(items)
    while some := list(islice(coming, AT_ONCE)):
        yield some


def insert_new(connection: Connection, table: Table) -> Insert:
    """Adds rows but those that are there already."""
    if connection.dialect.name == POSTGRESQL:
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


ARRAYS = {int: "bigint[]", float: "float8[]", str: "text[]"}


def unnested(table: Table, names: Iterable[str]) -> str:
    """Rows, from an array for each column, as a query in PostgreSQL's own words.

    A statement for each row would take several times as long, and SQLAlchemy as long over one as PostgreSQL.
    """
    kinds = {name: ARRAYS[table.c[name].type.python_type] for name in names}
    return "SELECT " + ", ".join(f"unnest(%({name})s::{kind}) AS {name}" for name, kind in kinds.items())


def arrays(table: Table, columns: Mapping[str, Sequence[Any]], dialect: Dialect) -> dict[str, str]:
    """Columns as PostgreSQL writes arrays. The driver would look at each value several times; many are the same."""
    return {name: _array(table.c[name].type, values, dialect) for name, values in columns.items()}


def _array(kind: TypeEngine[Any], values: Sequence[Any], dialect: Dialect) -> str:
    if kind.python_type is not str:
        return "{" + ",".join(map(repr, values)) + "}"
    bound: Callable[[str], str] = kind.dialect_impl(dialect).bind_processor(dialect) or str
    texts = {value: bound(value).replace("\\", "\\\\").replace('"', '\\"') for value in set(values)}
    return '{"' + '","'.join(map(texts.__getitem__, values)) + '"}'


def upgrade(url: str) -> None:
    """Bring a store's tables up to date, whoever looks after it."""
    Database(url, upgrade=True, make=False).close()


def patiently(work: Callable[[], Result]) -> Result:
    """Do what may be done twice, and again if the database goes away in the midst of it. For patient stores."""
    while True:
        try:
            return work()
        except StoreAwayError as error:
            log.warning("what was under way is done again: %s", error)
            time.sleep(PAUSE)


def _said(error: DBAPIError) -> str:
    """What a driver says, in one line."""
    return " ".join(str(error.orig).split())


def _kind(error: DBAPIError) -> type[StoreError]:
    code, state = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF, getattr(error.orig, "sqlstate", None)
    if code == sqlite3.SQLITE_FULL or state == DISK_FULL:
        return StoreFullError
    if code == sqlite3.SQLITE_READONLY or state == READ_ONLY:
        return StoreReadOnlyError
    return StoreAwayError if _passes(error) else StoreError


def _passes(error: DBAPIError) -> bool:
    """Whether it is only that the database is locked, or the server away."""
    if isinstance(error.orig, sqlite3.Error) or _is_locked(error):
        return _is_locked(error)
    lost = isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", None) is None
    return error.connection_invalidated or lost


def _is_locked(error: DBAPIError) -> bool:
    code, state = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF, getattr(error.orig, "sqlstate", None)
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or state == LOCKED


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = URL.create("nothing")
    if parsed.get_backend_name() not in (SQLITE, POSTGRESQL):
        raise UsageError("a store's address is sqlite:///FILE or postgresql://USER@HOST/DATABASE")
    return parsed


def _patience(url: URL) -> float:
    """How many seconds writers wait for each other: half a minute, or what ``?timeout=`` says of an embedded store."""
    try:
        return float(str(url.query.get("timeout", PATIENCE)))
    except ValueError:
        raise UsageError(f"a store's timeout is a number of seconds, not {url.query['timeout']!r}") from None


def _sqlite(url: URL) -> Engine:
    """In WAL mode: readers never wait, and a commit is on disk before it returns."""
    step = min(STEP, _patience(url))  # nobody is heard while SQLite waits
    engine = create_engine(url.difference_update_query(["timeout"]), connect_args={"timeout": step}, **POOL)

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _: object) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    return engine


def _postgresql(url: URL) -> Engine:
    """Through psycopg. A connection that the server closed meanwhile, as it does when restarted, is replaced.

    To see that it did takes no question: a server says nothing to who rests, but when it goes away.

    A server that does not answer is away after ten seconds, or as many as ``?connect_timeout=`` says; one that falls
    silent later, after a minute.
    """
    silence = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
    limits = {"connect_timeout": CONNECTING} | silence
    given = {name: value for name, value in limits.items() if name not in url.query}
    url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(url, connect_args=given, **POOL)

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _: object) -> None:
        """Have a commit be on disk before it returns, even where the database is set up to be hasty."""
        hasty = "current_setting('synchronous_commit') = 'off'"
        connection.execute(f"SELECT set_config('synchronous_commit', 'on', false) WHERE {hasty}")
        connection.commit()

    @event.listens_for(engine, "checkout")
    def _look(connection: Any, _: object, __: object) -> None:
        if connection.closed or _has_said(connection.fileno()):
            raise DisconnectionError

    return engine


def _has_said(server: int) -> bool:
    """Whether there is something to read, if only the end."""
    said = poll()
    said.register(server, POLLIN)
    return bool(said.poll(0))
