"""Fixtures that every room's tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from triplewire.pipeline.session import session

# Functions of a test module travel to Spark's workers by name, so workers must find the tests' folder.
WORKERS_FIND_TESTS = {"spark.executorEnv.PYTHONPATH": str(Path(__file__).parent)}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one SparkSession of a test run, started by the first test that asks for it."""
    spark = session(settings=WORKERS_FIND_TESTS)
    yield spark
    spark.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first, so that the other worker does not wait for them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
