"""``python -m triplewire.pipeline.warmup`` makes the archive that lets Spark start in half the time.

It compiles the engine's kernels, too, at the same time. Once for an installation, about a minute. Without it everything
works the same, only slower to start.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from triplewire.matching.engine.kernels.cache import is_whole
from triplewire.matching.engine.warmup import warm
from triplewire.pipeline import jvm
from triplewire.pipeline.session import java_options, session


def main() -> int:
    """Make what is missing; the exit status says whether there is an archive now."""
    archive = jvm.archive(jvm.find())
    with ThreadPoolExecutor() as beside:
        made = None if archive.exists() else beside.submit(make, archive)
        if not is_whole():
            warm()
    if made:
        sys.stdout.write(made.result())
    return 0 if archive.exists() else 1


def make(archive: Path) -> str:
    """Run Spark in a process of its own and keep the archive it leaves; returns what it said if it left none.

    The JVM outlives that process, writing the archive. It shares the process's output, whose end tells that it is done.
    """
    unfinished = archive.with_suffix(f".{os.getpid()}")
    command = [sys.executable, "-c", f"import {__spec__.name} as w; w.rehearse({str(unfinished)!r})"]
    rehearsal = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if rehearsal.returncode or not unfinished.exists():
        return rehearsal.stdout
    unfinished.replace(archive)
    return ""


def rehearse(archive: str) -> None:
    """Do once what our jobs do, so that the archive holds the classes they need."""
    spark = session(settings=java_options(jvm.write_archive(jvm.find(), Path(archive)), quick=True))
    _batch(spark)
    _stream(spark)
    spark.stop()


def _batch(spark: SparkSession) -> None:
    spark.range(10).repartition(2).mapInArrow(_pass_on, "id long").orderBy("id").collect()


def _stream(spark: SparkSession) -> None:
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    writer = rows.mapInArrow(_pass_on, rows.schema).writeStream.foreachBatch(_count).trigger(availableNow=True)
    with tempfile.TemporaryDirectory() as folder:
        writer.option("checkpointLocation", folder).start().awaitTermination()


def _pass_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def _count(rows: DataFrame, _batch_id: int) -> None:
    rows.count()


if __name__ == "__main__":
    sys.exit(main())
