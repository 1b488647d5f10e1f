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
