"""The Python that Spark starts for its workers."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pyspark

from triplewire.pipeline.caches import keep_script


def workers_python() -> Path:
    """A program that starts this Python with the modules of Spark that are installed in it.

    Spark puts copies of them, packed in archives, first on the path. From there every process compiles them anew: 0.6
    of the 0.8 seconds that it takes a process to load them, and a stream starts five, one after the other.
    Spark's daemon, which runs those that plan, becomes one that ends its workers quietly.
    """
    return keep_script("python", _script(Path(sys.executable), Path(pyspark.__file__).parent))


def _script(python: Path, spark: Path) -> str:
    return f"""\
#!/bin/sh
set -f
path=
IFS=:
for place in $PYTHONPATH; do
    case $place in
        {shlex.quote(str(spark))}/*) ;;
        *) path=$path:$place ;;
    esac
done
unset IFS
if [ "$1 $2" = "-m pyspark.daemon" ]; then
    shift 2
    set -- -m triplewire.pipeline.quiet "$@"
fi
PYTHONPATH=${{path#:}}
export PYTHONPATH
exec {shlex.quote(str(python))} "$@"
"""
