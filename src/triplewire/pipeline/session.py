"""The SparkSession, and every setting we choose for it, with the reason.

Three layers, the later ones winning: what holds everywhere, what holds when Spark runs inside one machine, and what
makes the embedded default (no master named) quick to start. A caller's own settings come last.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any

from pyspark.sql import SparkSession

from triplewire.pipeline import jvm
from triplewire.pipeline.interpreter import workers_python

EMBEDDED = "local[*,4]"
"""The master when none is named: this process's own JVM, with all its cores.

A task that fails is tried again, as on a cluster: a Python worker that is killed costs a moment, not the stream.
"""

SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""What ``spark-submit`` sets: it has started the JVM, and knows the master."""

LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
LOG_LINE = "%(asctime)s %(levelname)s %(message)s"
"""What a line of the log looks like, whichever process writes it."""

EVERYWHERE = {
    # The same meaning of a time on every machine.
    "spark.sql.session.timeZone": "UTC",
    # Text is UTF-8 whatever the locale: Java 17 asks the locale, and so does a worker's Python.
    "spark.executor.extraJavaOptions": "-Dfile.encoding=UTF-8",
    "spark.executorEnv.PYTHONUTF8": "1",
    # Rows a batch for mapInArrow. No compression codec: with one, the exchange with the workers stalls.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # toPandas and createDataFrame by Arrow as well, not row by row.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Over TCP each task begins with a stall of 40 ms.
    "spark.python.unix.domain.socket.enabled": "true",
    # Our daemon: it loads our modules and compiled kernels before it forks, so that a worker is ready at once.
    "spark.python.daemon.module": "triplewire.pipeline.daemon",
    # No progress bars between our own lines.
    "spark.ui.showConsoleProgress": "false",
}

LOCAL = {
    # Nothing listens on the network, and no name needs to resolve.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    # 200, the default, is for a cluster: each partition is a task, however few rows it has.
    "spark.sql.shuffle.partitions": "4",
}

STREAM = {
    # Streams do not have it, and say so each time.
    "spark.sql.adaptive.enabled": "false",
    # No limit to what a batch may bring: with one, a batch beyond it fails, and is replayed and fails for ever.
    "spark.driver.maxResultSize": "0",
    # How often an idle stream looks for events: a compromise of delay and idle work.
    "spark.sql.streaming.pollingDelay": "50ms",
    # Renames instead of HDFS's abstractions: 100 ms less a batch, and sound for one writer, which the stream's lock
    # makes sure of.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
"""What a stream needs beside that."""


def session(
    master: str | None = None, app: str = "triplewire", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The process's SparkSession, made if there is none yet.

    Without a master it is the one that ``spark-submit`` named, if that started us, else the embedded default, tuned to
    start quickly; name one (``local[*]`` too) for throughput.
    The environment is changed, since Spark reads it: ``JAVA_HOME``, ``PYSPARK_PYTHON``, ``SPARK_LOCAL_IP``.
    """
    if master is None and SUBMITTED in os.environ:
        chosen: dict[str, Any] = {**EVERYWHERE, **(settings or {})}
        return SparkSession.builder.appName(app).config(map=chosen).getOrCreate()
    java = jvm.find()
    local = master is None or master.startswith("local")
    _prepare_environment(java, local)
    options = java_options(*_archived_classes(java), quick=master is None)
    chosen = {**EVERYWHERE, **(LOCAL if local else {}), **options, **(settings or {})}
    return SparkSession.builder.master(master or EMBEDDED).appName(app).config(map=chosen).getOrCreate()


def begin(master: str | None = None, settings: Mapping[str, str] | None = None) -> Callable[[], SparkSession]:
    """Have the session made by a thread of its own; what is returned waits until it is there.

    To start the JVM takes seconds, in which this process can load what it will need.
    """
    begun: Future[SparkSession] = Future()

    def make() -> None:
        try:
            begun.set_result(session(master, settings=settings))
        except BaseException as error:
            begun.set_exception(error)

    Thread(target=make, daemon=True).start()
    return begun.result


def java_options(*more: str, quick: bool = False) -> dict[str, str]:
    """The setting that tells the driver's JVM how to run."""
    options = [
        "-Dfile.encoding=UTF-8",
        f"-Dlog4j2.configurationFile={LOG_SETTINGS}",
        # The JVM's own notes go to standard output unless told otherwise; that is where our results go.
        "-Xlog:disable",
        "-Xlog:all=error:stderr",
    ]
    if quick:
        # The simple compiler and collector start sooner and run slower.
        options += ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return {"spark.driver.extraJavaOptions": shlex.join([*options, *more])}


def _archived_classes(java: jvm.Java) -> list[str]:
    archive = jvm.archive(java)
    return [jvm.read_archive(java, archive)] if archive.exists() else []


def _prepare_environment(java: jvm.Java, local: bool) -> None:
    os.environ["JAVA_HOME"] = str(jvm.home(java))
    if local:
        os.environ["PYSPARK_PYTHON"] = str(workers_python())  # workers have what we have
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
