"""Migrations: one line of them, which leads to the tables, and takes along whatever is there."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, select

from tests.postgres import PostgreSQL
from triplewire.errors import StoreError
from triplewire.store import Store, upgrade
from triplewire.store import store_url as embedded
from triplewire.store.schema import HEAD, MIGRATIONS, VERSION_TABLE, create, migrate
from triplewire.store.tables import metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database without tables."""
    if request.param == "sqlite":
        yield embedded(tmp_path)
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    with server.database() as url:
        yield url


@pytest.fixture
def connection(empty: str) -> Iterator[Connection]:
    engine = create_engine(empty)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def revisions() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config)


def to_baseline(connection: Connection) -> None:
    """The tables as software that knew no migrations left them."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes.update(connection=connection, version_table=VERSION_TABLE)
    command.upgrade(config, "004")
    connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
    connection.exec_driver_sql("INSERT INTO marks (name, value) VALUES ('schema', 4)")


def contents(connection: Connection) -> dict[str, list[object]]:
    """All tables with their columns and indexes, and all rows."""
    found: dict[str, list[object]] = {}
    for name in sorted(inspect(connection).get_table_names()):
        columns = sorted((c["name"], str(c["type"]), c["nullable"]) for c in inspect(connection).get_columns(name))
        indexes = sorted((str(i["name"]), i["column_names"]) for i in inspect(connection).get_indexes(name))
        rows = connection.exec_driver_sql(f"SELECT * FROM {name}").mappings()
        found[name] = [*columns, *indexes, *map(dict, rows)]
    return found


def test_there_is_one_line_of_revisions_and_files_are_named_by_it() -> None:
    line = [revision.revision for revision in revisions().walk_revisions()]
    assert revisions().get_heads() == [f"{HEAD:03}"]
    assert line == [f"{number:03}" for number in range(HEAD, 3, -1)]
    assert sorted(path.stem[1:4] for path in MIGRATIONS.glob("versions/r*.py")) == sorted(line)


def test_migrations_lead_from_nothing_to_the_tables(connection: Connection) -> None:
    migrate(connection)
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    assert compare_metadata(context, metadata) == []


def test_a_store_that_is_made_new_is_one_that_was_migrated(connection: Connection) -> None:
    create(connection)
    made = contents(connection)
    metadata.drop_all(connection)
    connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
    migrate(connection)
    assert contents(connection) == made


def test_a_store_from_before_migrations_keeps_what_is_in_it(empty: str, tmp_path: Path) -> None:
    engine = create_engine(empty)
    with engine.begin() as connection:
        to_baseline(connection)
        rows = (("source", "1", '{"é": "ü"}', "2026-01-01"), ("source", "2", "{}", "2026-01-02"))
        for source, id_, body, received in rows:
            values = {"source": source, "id": id_, "body": body, "received": received}
            connection.execute(metadata.tables["events"].insert().values(values))
        connection.exec_driver_sql("INSERT INTO marks (name, value) VALUES ('pipeline', 1)")
    if engine.dialect.name == "postgresql":
        with pytest.raises(StoreError, match=r"version 4, .* `triplewire store upgrade`"):
            Store(empty)
        upgrade(empty)
    store = Store(empty)
    assert [(e.position, e.body) for e in store.events(0, 9)] == [(1, '{"é": "ü"}'), (2, "{}")]
    assert store.pipeline_position() == 1
    assert store.append([("source", "3", "{}")]) == [3]
    store.close()
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
    engine.dispose()
    if engine.dialect.name == "sqlite":
        copy = create_engine(f"sqlite:///{tmp_path}/triplewire.db.version-4")
        with copy.connect() as connection:
            assert connection.scalars(select(metadata.tables["events"].c.id)).all() == ["1", "2"]
            assert not inspect(connection).has_table(VERSION_TABLE)
        copy.dispose()


def test_lapses_are_counted_as_they_were(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes.update(connection=connection, version_table=VERSION_TABLE)
    command.upgrade(config, "017")
    for row in ((7, "e7", "s", "ann"), (8, "e8", "s", "ann"), (8, "e8", "s2", "ann"), (9, "e9", "s", "bob")):
        values = ", ".join(map(repr, (*row, "too long", f"at {row[0]}")))
        columns = "position, event, subscription, owner, reason, created"
        connection.exec_driver_sql(f"INSERT INTO lapses ({columns}) VALUES ({values})")
    command.upgrade(config, "018")
    rows = connection.exec_driver_sql("SELECT * FROM lapses ORDER BY subscription, owner").all()
    assert [tuple(row) for row in rows] == [
        ("s", "ann", 2, 8, "e8", "too long", "at 8"),
        ("s", "bob", 1, 9, "e9", "too long", "at 9"),
        ("s2", "ann", 1, 8, "e8", "too long", "at 8"),
    ]


def test_a_store_of_newer_software_is_refused_and_left_alone(store_url: str) -> None:
    Store(store_url).close()
    engine = create_engine(store_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '999'")
        before = contents(connection)
    with pytest.raises(StoreError, match="newer Triplewire: its tables have version 999"):
        Store(store_url)
    with engine.connect() as connection:
        assert contents(connection) == before
    engine.dispose()


def test_a_store_from_before_the_baseline_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "triplewire.db") as connection:
        connection.execute("CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER)")
        connection.execute("INSERT INTO marks VALUES ('schema', 3)")
    connection.close()
    with pytest.raises(StoreError, match="too old: its tables have version 3"):
        Store(embedded(tmp_path))


def test_opening_a_store_that_is_up_to_date_loads_no_migrations(tmp_path: Path) -> None:
    program = (
        "import sys; from triplewire.store import Store; Store(sys.argv[1]).close(); print('alembic' in sys.modules)"
    )
    for _ in range(2):
        command = [sys.executable, "-c", program, embedded(tmp_path)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
