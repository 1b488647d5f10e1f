"""The SparkSession does what its settings promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

import triplewire
from triplewire.pipeline import jvm, warmup
from triplewire.pipeline.session import EVERYWHERE, LOCAL, STREAM, session


def about_worker(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Where a worker runs, and what it sees."""
    facts = {
        "python": sys.executable,
        "package": triplewire.__file__,
        "Spark": pyspark.__file__,
        "utf8": str(sys.flags.utf8_mode),
        "unix socket": os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED", ""),
        "process": str(os.getpid()),
    }
    yield pa.RecordBatch.from_pydict({"name": list(facts), "value": list(facts.values())})


@pytest.fixture(scope="module")
def worker(spark: SparkSession) -> dict[str, str]:
    rows = spark.range(1).coalesce(1).mapInArrow(about_worker, "name string, value string").collect()
    return {row.name: row.value for row in rows}


def java_property(spark: SparkSession, name: str) -> str:
    value = spark.sparkContext._jvm.java.lang.System.getProperty(name)
    assert isinstance(value, str)
    return value


def test_batches_go_through_workers(spark: SparkSession) -> None:
    def double(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"id": [2 * number.as_py() for number in batch["id"]]})

    doubled = spark.range(25_000).mapInArrow(double, "id long")
    assert doubled.agg({"id": "sum"}).first()[0] == 25_000 * 24_999


def test_workers_run_this_python_with_this_package(worker: dict[str, str]) -> None:
    assert worker["process"] != str(os.getpid())
    assert worker["python"] == sys.executable
    assert worker["package"] == triplewire.__file__
    assert worker["Spark"] == pyspark.__file__


def test_workers_talk_over_unix_sockets(worker: dict[str, str]) -> None:
    assert worker["unix socket"].lower() == "true"


def test_text_is_utf8_on_both_sides(spark: SparkSession, worker: dict[str, str]) -> None:
    assert worker["utf8"] == "1"
    assert java_property(spark, "file.encoding") == "UTF-8"
    assert spark.createDataFrame([("Vögel ✓ 𝄞",)], "word string").toPandas()["word"].tolist() == ["Vögel ✓ 𝄞"]


def test_times_are_utc(spark: SparkSession) -> None:
    noon = spark.sql("SELECT date_format(timestamp_seconds(43200), 'HH:mm') AS noon").first()
    assert noon is not None and noon.noon == "12:00"


def test_nothing_listens_on_the_network(spark: SparkSession) -> None:
    assert spark.sparkContext.uiWebUrl is None
    assert spark.conf.get("spark.driver.host") == "127.0.0.1"


def test_a_second_call_gives_the_same_session(spark: SparkSession) -> None:
    assert session() is spark


def test_every_setting_is_explained_in_the_reference() -> None:
    page = Path(__file__).parents[1].joinpath("docs", "reference", "pipeline.md").read_text(encoding="utf-8")
    assert [name for name in EVERYWHERE | LOCAL | STREAM if f"`{name}`" not in page] == []


SMALL_JOB = """
from pathlib import Path
from triplewire.errors import UsageError
from triplewire.lift.lifting import DEFAULT
from triplewire.pipeline.intake import start_intake
from triplewire.pipeline.session import session
spark = session()
print(spark.range(10).mapInArrow(lambda batches: batches, "id long").count())
print(spark.sparkContext._jvm.java.lang.System.getProperty("java.version"))
try:
    start_intake(spark, "kafka:localhost:9092/events", "sqlite://", Path("intake"), DEFAULT)
except UsageError as error:
    print(error)
spark.stop()
"""


def run_alone(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, for what one session a process cannot show."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=240)


@pytest.fixture
def path_without_java(tmp_path: Path) -> str:
    """What this machine's path offers, except any Java."""
    for folder in map(Path, reversed(os.environ["PATH"].split(os.pathsep))):
        for command in folder.iterdir() if folder.is_dir() else ():
            if not command.name.startswith("java"):
                (tmp_path / command.name).unlink(missing_ok=True)
                (tmp_path / command.name).symlink_to(command)
    return str(tmp_path)


@pytest.mark.slow
def test_spark_runs_without_a_java_and_says_nothing_but_what_is_missing_for_kafka(path_without_java: str) -> None:
    done = run_alone(SMALL_JOB, PATH=path_without_java, JAVA_HOME="")
    assert done.stdout.splitlines()[0] == "10", done.stderr
    assert int(done.stdout.splitlines()[1].partition(".")[0]) >= 25
    assert "--packages or --jars" in done.stdout.splitlines()[2]
    assert not re.search("WARN|ERROR|INFO|Exception|log4j", done.stderr), done.stderr


STRICT_JOB = """
import os
from pathlib import Path
from pyspark import TaskContext
from triplewire.pipeline import jvm
from triplewire.pipeline.session import java_options, session
java = jvm.find()
strict = "-XX:AOTMode=on" if java.version >= 25 else "-Xshare:on"
spark = session(settings=java_options(jvm.read_archive(java, Path({archive!r})), strict, quick=True))
print(spark.range(10).count())

def die_once(batches):
    if TaskContext.get().attemptNumber() == 0:
        os._exit(1)
    return batches

print(spark.range(1).coalesce(1).mapInArrow(die_once, "id long").count())
"""


@pytest.mark.slow
def test_a_warm_up_leaves_an_archive_that_java_accepts_and_a_worker_that_dies_is_told_without_java_s_frames() -> None:
    assert warmup.main() == 0
    done = run_alone(STRICT_JOB.format(archive=str(jvm.archive(jvm.find()))))
    assert done.stdout == "10\n1\n", done.stderr
    assert done.stderr.count("Lost task") == 1
    assert not re.search(r"\n\s+at |Exception in task", done.stderr), done.stderr
