"""A real standalone cluster of processes, from the pip package: a master and two workers."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from tests.pipeline.world import eventually
from triplewire.pipeline import jvm

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
CLASS = [str(SPARK / "bin" / "spark-class")]
WORKERS = 2
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


@dataclass(frozen=True)
class Worker:
    """A worker, and the folder in which its executors write their logs."""

    process: subprocess.Popen[bytes]
    folder: Path

    def executors(self) -> list[int]:
        """The processes of the executors that it has started, and that live."""
        return [process for process, parent in _executors().items() if parent == self.process.pid]

    def says(self, text: str) -> int:
        """How often its executors have said something."""
        return sum(log.read_text(errors="replace").count(text) for log in self.folder.glob("app-*/*/stderr"))

    def has(self, name: str) -> list[Path]:
        """What its executors have of a name, in the folder of each."""
        return list(self.folder.glob(f"app-*/*/{name}"))


@dataclass
class Cluster:
    """A cluster, and the log of its processes."""

    master: str
    log: Path
    workers: list[Worker] = field(default_factory=list)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def run(self, *command: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a process that finds what ours finds, and works in a folder."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment(), cwd=folder, start_new_session=True
            )
        self.processes.append(process)
        return process

    def start_worker(self) -> None:
        deploy = "org.apache.spark.deploy.worker.Worker"
        folder = self.log.with_name(f"worker-{len(self.workers)}")
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "2g", "--webui-port", "0", "-d", str(folder)]
        self.workers.append(Worker(self.run(*CLASS, deploy, *options, self.master), folder))

    def says(self, text: str) -> int:
        """How often the processes have said something."""
        return self.log.read_text(errors="replace").count(text)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """The cluster while the block runs."""
    port = free_port()
    made = Cluster(f"spark://127.0.0.1:{port}", folder / "cluster.log")
    deploy = "org.apache.spark.deploy.master.Master"
    options = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    try:
        made.run(*CLASS, deploy, *options)
        # A worker that comes before its master tries again ten seconds later.
        eventually(lambda: made.says("I have been elected leader") > 0, seconds=120)
        for _ in range(WORKERS):
            made.start_worker()
        eventually(lambda: made.says("Registering worker") >= WORKERS, seconds=120)
        yield made
    finally:
        for process in made.processes:
            end_session(process)


def environment() -> dict[str, str]:
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    java = jvm.find()
    archive = jvm.archive(java)
    archived = [jvm.read_archive(java, archive)] if archive.exists() else []  # six JVMs, each in two thirds of the time
    return os.environ | {
        "JAVA_HOME": str(jvm.home(java)),
        "JAVA_TOOL_OPTIONS": shlex.join([*QUICK, *archived]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }


def _executors() -> dict[int, int]:
    """The executors that run on this machine, each with the process that started it."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            if b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes():
                found[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def end_session(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
