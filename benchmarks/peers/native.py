"""The yardstick in C++, where it and a compiler are at hand: a trie of canonical joins without ontology or filters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.engine import hash_of
from benchmarks.peers.tasks import Absent, Answer, Graphs

SOURCE = Path(__file__).parents[3] / "shared/peers/trie.cpp"
TOLD = re.compile(r"build=([\d.]+).*meanmin=([\d.]+).*hash=([0-9a-f]+)")
MOST_VERTICES = 64


def cpp(task: Graphs, limit: float, found: list[set[int]]) -> Answer:
    """What it found it tells as a hash: if that is of ``found``, it found the same."""
    compiler = shutil.which("g++")
    if compiler is None or not SOURCE.exists():
        raise Absent("there is no g++" if SOURCE.exists() else f"there is no {SOURCE.name} beside the project")
    if max(len(one.classes) for one in task.shapes) > MOST_VERTICES:
        raise Absent(f"it knows no event of more than {MOST_VERTICES} vertices")
    with TemporaryDirectory() as folder:
        program, workload = Path(folder) / "trie", Path(folder) / "workload"
        subprocess.run([compiler, "-std=c++17", "-O3", "-march=native", SOURCE, "-o", program], check=True)
        task.write(workload)
        run = subprocess.run(
            [program, workload, str(len(task.shapes))],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "REPS": "15"},
        )
    ready, mean, hashed = TOLD.search(run.stdout).groups()  # type: ignore[union-attr]
    if hashed != f"{hash_of([np.array(sorted(one)) for one in found]):016x}":
        raise AssertionError(f"the native matcher found something else: {run.stdout}")
    return Answer(found, [float(mean) / 1e6] * len(found), float(ready))
