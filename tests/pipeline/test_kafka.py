"""Events come from a topic of a real broker, and notifications go to one.

It runs where the jars are that ``scripts/kafka-jars`` gets, and is named as not run elsewhere.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import KAFKA, KAFKA_CONNECTOR
from tests.pipeline.cluster import QUICK, end_session, free_port
from tests.pipeline.world import cheaper, eventually, notified, offer
from triplewire.pipeline import jvm
from triplewire.pipeline.outlet import start_outlet
from triplewire.store import Store


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
    java = [str(jvm.find().command), *QUICK, "-Xmx512m", "-cp", f"{jars}/*"]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", config], check=True
    )
    process = subprocess.Popen([*java, "kafka.Kafka", config], start_new_session=True)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        end_session(process)


def publish(spark: SparkSession, address: str, lines: list[str]) -> None:
    rows = spark.createDataFrame([(line,) for line in lines], "value string").coalesce(1)
    rows.write.format("kafka").option("kafka.bootstrap.servers", address).option("topic", "events").save()


def sent(spark: SparkSession, address: str) -> list[tuple[list[str], dict[str, object]]]:
    """The records of the notifications' topic, in order: keys and values."""
    options = {"kafka.bootstrap.servers": address, "subscribe": "notifications"}
    rows = spark.read.format("kafka").options(**options).load().orderBy("partition", "offset").collect()
    return [(json.loads(row.key), json.loads(row.value)) for row in rows]


def noted(checkpoint: Path) -> int:
    """The number of the last notification that was noted as sent."""
    batches = [int(path.name) for path in (checkpoint / "commits").glob("[0-9]*")]
    if not batches:
        return 0
    found: int = json.loads((checkpoint / "offsets" / str(max(batches))).read_text().splitlines()[-1])["number"]
    return found


def forget_last_batch(checkpoint: Path) -> None:
    """Have it be as if the stream had been killed after it sent the last batch, and before it noted that."""
    last = max((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


@pytest.mark.slow
@pytest.mark.skipif(
    not (KAFKA / "broker").is_dir(), reason=f"there are no jars of Kafka in {KAFKA}: see scripts/kafka-jars"
)
def test_a_topic_goes_into_the_log_each_event_once_and_notifications_to_another_at_least_once(
    spark: SparkSession, store: Store, tmp_path: Path
) -> None:
    store.subscribe(cheaper("a", 150, "Desktop"))
    with broker(tmp_path, KAFKA / "broker") as address:
        publish(spark, address, [offer(1, 10)[2], "no JSON", offer(2, 500)[2], offer(1, 10)[2], offer(3, 30)[2]])
        command = [sys.executable, "-m", "triplewire", "pipeline", "stream", "--home", str(tmp_path)]
        command += ["--jars", KAFKA_CONNECTOR["spark.jars"]]
        command += ["--source", f"kafka:{address}/events", "--to", f"kafka:{address}/notifications"]
        job = subprocess.Popen(command, start_new_session=True)
        try:
            eventually(lambda: store.last_position() == 4 == store.pipeline_position(), seconds=200)
            eventually(lambda: noted(tmp_path / "outlet") == 2, seconds=200)
        finally:
            end_session(job)
        assert len(notified(store)) == 2
        letters = [(letter.source, letter.id) for letter in store.dead_letters()]
        assert letters == [("urn:triplewire:refused", "events/0/1")]
        first = sent(spark, address)
        assert [value for _, value in first] == [one.as_dict() for one in store.notifications()]
        assert [key for key, _ in first] == [["/shop", "e1", "a"], ["/shop", "e3", "a"]]

        forget_last_batch(tmp_path / "outlet")
        outlet = start_outlet(spark, f"kafka:{address}/notifications", store.url, tmp_path / "outlet")
        outlet.processAllAvailable()
        outlet.stop()
        again = sent(spark, address)
        assert len(again) > len(first) and all(record in first for record in again)
