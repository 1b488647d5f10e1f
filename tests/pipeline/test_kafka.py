"""A topic of a real broker goes into the log.

It runs where ``TRIPLEWIRE_KAFKA_JARS`` names a folder with the jars of Spark's connector in ``spark`` and of the broker
in ``broker``, as ``scripts/kafka-jars`` gets them, and is named as not run elsewhere.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pipeline.cluster import end_session, environment, free_port
from tests.pipeline.world import cheaper, eventually, notified, offer
from triplewire.pipeline import jvm
from triplewire.store import Store

JARS = os.environ.get("TRIPLEWIRE_KAFKA_JARS")

PUBLISH = """
import sys
from triplewire.pipeline.session import session
spark = session(settings={"spark.jars": sys.argv[1]})
rows = spark.createDataFrame([(line,) for line in sys.stdin.read().splitlines()], "value string")
rows.coalesce(1).write.format("kafka").option("kafka.bootstrap.servers", sys.argv[2]).option("topic", "events").save()
"""


@contextmanager
def broker(folder: Path, jars: Path) -> Iterator[str]:
    """One broker on one disk, and its address."""
    port, controller = free_port(), free_port()
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(folder / "logs"),
        "offsets.topic.replication.factor": "1",
    }
    config = folder / "server.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    java = [str(jvm.find().command), "-Xmx512m", "-cp", f"{jars}/*"]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", config], check=True
    )
    process = subprocess.Popen([*java, "kafka.Kafka", config], start_new_session=True)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        end_session(process)


@pytest.mark.slow
@pytest.mark.skipif(JARS is None, reason="TRIPLEWIRE_KAFKA_JARS names no folder with the jars of Kafka")
def test_a_topic_goes_into_the_log_each_event_once_and_is_matched(store: Store, tmp_path: Path) -> None:
    jars = ",".join(map(str, Path(str(JARS), "spark").glob("*.jar")))
    store.subscribe(cheaper("a", 150, "Desktop"))
    python = environment()["PYSPARK_PYTHON"]
    with broker(tmp_path, Path(str(JARS), "broker")) as address:
        lines = "\n".join([offer(1, 10)[2], "no JSON", offer(2, 500)[2], offer(1, 10)[2], offer(3, 30)[2]])
        publish = [python, "-c", PUBLISH, jars, address]
        subprocess.run(publish, input=lines, text=True, check=True, env=environment(), timeout=200)
        command = [python, "-m", "triplewire", "pipeline", "stream", "--home", str(tmp_path), "--jars", jars]
        command += ["--source", f"kafka:{address}/events"]
        job = subprocess.Popen(command, env=environment(), start_new_session=True)
        try:
            eventually(lambda: store.last_position() == 4 == store.pipeline_position(), seconds=200)
        finally:
            end_session(job)
    assert len(notified(store)) == 2
    assert [(letter.source, letter.id) for letter in store.dead_letters()] == [("urn:triplewire:refused", "events/0/1")]
