"""Fixtures that every room's tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import make_url

from tests.postgres import PostgreSQL
from triplewire.pipeline.session import session
from triplewire.store import Store
from triplewire.store import store_url as embedded

# Functions of a test module travel to Spark's workers by name, so workers must find the tests' folder.
WORKERS_FIND_TESTS = {"spark.executorEnv.PYTHONPATH": str(Path(__file__).parent)}

# Where `scripts/kafka-jars` puts the jars of Spark's connector, in `spark`, and of a broker, in `broker`.
KAFKA = Path(os.environ.get("TRIPLEWIRE_KAFKA_JARS") or Path(sys.prefix, "kafka"))
KAFKA_CONNECTOR = {
    "spark.jars": ",".join(map(str, sorted(KAFKA.glob("spark/*.jar")))),
    # A producer that is kept for ten minutes would complain for as long that its broker is gone.
    "spark.kafka.producer.cache.timeout": "1s",
    "spark.kafka.producer.cache.evictorThreadRunInterval": "1s",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one SparkSession of a test run, started by the first test that asks for it."""
    spark = session(settings=WORKERS_FIND_TESTS | KAFKA_CONNECTOR)
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """The one PostgreSQL server of a test run, started by the first test that asks for it."""
    server = PostgreSQL()
    yield server
    server.close()


@pytest.fixture(scope="session")
def _template(postgresql: PostgreSQL) -> str:
    """A database with the tables of a store, to make others from."""
    postgresql.run("CREATE DATABASE store")
    Store(postgresql.url("store")).close()
    return "store"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store, of either kind."""
    if request.param == "sqlite":
        yield new_store(tmp_path)
        return
    with new_database(request) as url:
        yield url


def new_store(folder: Path) -> str:
    """The address of an empty embedded store. Its tables are copied: to make them takes ten times as long."""
    url = embedded(folder)
    Path(make_url(url).database).write_bytes(_tables())
    return url


@cache
def _tables() -> bytes:
    with TemporaryDirectory() as folder:
        Store(url := embedded(Path(folder))).close()
        return Path(make_url(url).database).read_bytes()


def new_database(request: pytest.FixtureRequest) -> AbstractContextManager[str]:
    """The address of an empty store in PostgreSQL, for a while."""
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return server.database(request.getfixturevalue("_template"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first, so that the other worker does not wait for them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
