"""Workers load Spark's modules from where they are compiled, and everything else as they are told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark
import pytest

from triplewire.pipeline.interpreter import workers_python

SPARK = Path(pyspark.__file__).parent


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ([], []),
        ([f"{SPARK}/python/lib/pyspark.zip", f"{SPARK}/jars/spark-core.jar"], []),
        (
            [f"{SPARK}/python/lib/pyspark.zip", "/a folder/src", "/else/pyspark.zip"],
            ["/a folder/src", "/else/pyspark.zip"],
        ),
    ],
)
def test_only_spark_s_own_archives_leave_the_path(told: list[str], kept: list[str]) -> None:
    print_path = ["-c", "import sys; print(*sys.path[1:], sep='\\n'); print(sys.argv[1:])", "a  b", "*"]
    environment = os.environ | {"PYTHONPATH": ":".join(told)}
    told_by = subprocess.run(
        [workers_python(), *print_path], capture_output=True, text=True, env=environment, check=True
    )
    path = told_by.stdout.splitlines()
    assert path[: len(kept)] == kept
    assert not [place for place in path if place.startswith(f"{SPARK}/")]
    assert path[-1] == "['a  b', '*']"


def test_spark_s_daemon_becomes_a_quiet_one_and_keeps_its_arguments() -> None:
    script = workers_python().read_text().replace("exec ", "exec echo ")
    told_by = subprocess.run(
        ["sh", "-s", "--", "-m", "pyspark.daemon", "pyspark.worker"],
        input=script,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told_by.stdout.split()[1:] == ["-m", "triplewire.pipeline.quiet", "pyspark.worker"]
