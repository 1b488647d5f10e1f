"""Peers in Java, in a process of their own: Apache Jena for both tasks, Lucene's Monitor for filters.

Their libraries come from Maven's repository (``scripts/peer-jars``); without them, or without a compiler for Java,
they are absent. A peer reads subscriptions and events from files, goes over the events until its time is over, three
times at most, and tells a line for each event: the fastest seconds, and the numbers of the subscriptions that match.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.asks import asks, triples
from benchmarks.peers.tasks import Absent, Answer, Filters, Graphs

HERE = Path(__file__).parent
JARS = HERE.parents[1] / ".venv/peers"


def jena(task: Graphs | Filters, limit: float) -> Answer:
    """An ASK for each subscription, parsed beforehand."""
    events = ["".join(f"{s} {p} {o} .\n" for s, p, o in event) for event in triples(task)]
    return _run("Asks", "jena", "\n".join(asks(task)), "\n".join(events), limit)


def lucene(task: Filters, limit: float) -> Answer:
    """Lucene's Monitor: stored queries against each document."""
    filters = "\n".join(
        "\t".join(f"{a} {operator} {operand}" for a, operator, operand in tests) for tests in task.tests
    )
    events = "\n".join("\t".join(map(str, values)) for values in task.values)
    return _run("Stored", "lucene", filters, events, limit)


def _run(program: str, jars: str, subscriptions: str, events: str, limit: float) -> Answer:
    java = shutil.which("java")
    if java is None or not shutil.which("javac"):
        raise Absent("there is no Java compiler")
    if not (JARS / jars).exists():
        raise Absent("its libraries are not here: scripts/peer-jars gets them from Maven's repository")
    with TemporaryDirectory() as folder:
        Path(folder, "subscriptions").write_text(subscriptions)
        Path(folder, "events").write_text(events)
        command = [java, "-Xmx4g", "-XX:+UseSerialGC", "-cp", f"{JARS / jars}/*", str(HERE / f"{program}.java")]
        run = subprocess.run([*command, folder, str(limit)], capture_output=True, text=True, check=True)
    ready, *lines = run.stdout.splitlines()
    answer = Answer(ready=float(ready))
    for line in lines:
        seconds, *numbers = line.split()
        answer.seconds.append(float(seconds))
        answer.found.append(set(map(int, numbers)))
    return answer
