"""Folders of indexes: damaged and foreign ones are refused by name, killed writers lose nothing, readers share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

from tests.worlds import graph, model, subscription
from triplewire.concepts.model import ConceptModel
from triplewire.errors import IndexFolderError, UsageError
from triplewire.matching import BruteForce
from triplewire.matching.engine import files, folder
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event
from triplewire.testing import cloud_event

ROOT = Path(__file__).parents[3]


def world(seed: int, count: int = 60):
    rng = Random(seed)
    return model(rng), [subscription(rng, f"s{number}") for number in range(count)]


def events(seed: int, count: int = 5):
    rng = Random(seed)
    return [Event("source", f"event {number}", graph(rng, 12)) for number in range(count)]


def told(matcher, seed: int = 7):
    return [matcher.match(event, bindings=True) for event in events(seed)]


def brute(model_, subscriptions):
    matcher = BruteForce(model_)
    for one in subscriptions:
        matcher.add(one)
    return matcher


def make(place: Path) -> Path:
    """A folder with a version and a change in its journal."""
    model_, subscriptions = world(1)
    index = Index.build(subscriptions[:50], model_)
    index.save(place / "index")
    index.add_all(subscriptions[50:])
    index.close()
    return place / "index"


@pytest.fixture
def saved(tmp_path):
    return make(tmp_path)


def files_of(path: Path) -> list[Path]:
    return [one for one in sorted(path.rglob("*")) if one.is_file() and one.name != "LOCK"]


def test_an_index_opened_again_matches_as_before(saved):
    model_, subscriptions = world(1)
    assert told(Index.open(saved)) == told(brute(model_, subscriptions))
    assert told(Index.open(saved, model_)) == told(Index.open(saved))


@pytest.mark.parametrize("small", [True, False], ids=["checked at once", "checked on use"])
@pytest.mark.parametrize("spoil", ["cut short", "one bit", "gone"])
def test_a_damaged_file_is_refused_by_name(saved, spoil, small, monkeypatch):
    monkeypatch.setattr(files, "SMALL", 1 << 30 if small else 0)
    names = [str(path.relative_to(saved)) for path in files_of(saved)]
    assert len(names) == 7
    for name in names:
        spoilt = saved.parent / "spoilt"
        shutil.copytree(saved, spoilt)
        content = (spoilt / name).read_bytes()
        if spoil == "gone":
            (spoilt / name).unlink()
        else:
            half = len(content) // 2
            changed = content[:half] + (
                b"" if spoil == "cut short" else bytes([content[half] ^ 1]) + content[half + 1 :]
            )
            (spoilt / name).write_bytes(changed)
        if spoil == "cut short" and name.endswith(".journal"):
            Index.open(spoilt)  # as if its writer had been killed
        else:
            with pytest.raises(IndexFolderError, match=Path(name).name):
                use_all_of(spoilt)
        shutil.rmtree(spoilt)


def use_all_of(path: Path) -> None:
    index = Index.open(path)
    told(index)
    for segment in index._now().segments:
        for number in range(len(segment)):
            assert [segment.records[number].id] == list(segment.ids_of([number]))
    index.merge()


def test_a_folder_of_something_else_is_refused_by_name(tmp_path):
    with pytest.raises(IndexFolderError, match="holds no index"):
        Index.open(tmp_path)
    with pytest.raises(IndexFolderError, match="holds no index"):
        Index.open(tmp_path / "nowhere")
    (tmp_path / "CURRENT").write_text("../../elsewhere\n")
    with pytest.raises(IndexFolderError, match="CURRENT is damaged"):
        Index.open(tmp_path)


def test_another_format_is_refused_by_name(saved):
    header = next(saved.rglob("header.json"))
    said = json.loads(header.read_text().splitlines()[0]) | {"format": files.FORMAT - 1}
    text = json.dumps(said).encode()
    header.write_bytes(b"%s\n%08x\n" % (text, crc32(text)))
    with pytest.raises(
        IndexFolderError, match=f"index/v.* has the format {files.FORMAT - 1}; .* {files.FORMAT}: compile it again"
    ):
        Index.open(saved)


def test_another_ontology_is_refused(saved):
    with pytest.raises(IndexFolderError, match="another ontology"):
        Index.open(saved, ConceptModel(typing="rdfs"))


def test_one_index_writes_and_others_read(saved):
    first, second = Index.open(saved), Index.open(saved)
    before = told(second)
    first.remove("s1")
    with pytest.raises(UsageError, match="is being written by another"):
        second.remove("s2")
    first.close()
    with pytest.raises(UsageError, match="has changed since it was opened"):
        second.remove("s2")
    assert told(second) == before
    assert len(Index.open(saved)) == len(second) - 1


def test_a_reader_goes_on_with_its_version_while_others_replace_it(saved):
    reader, writer = Index.open(saved), Index.open(saved)
    before = told(reader)
    for number in range(5):
        writer.remove(f"s{number}")
        writer.merge()
    assert told(reader) == before
    writer.close()
    assert len(Index.open(saved)) == len(reader) - 5
    assert sum(path.is_dir() for path in saved.iterdir()) == folder._KEPT


def changed(place: Path, more) -> Index:
    """An index with changes in its journal that no version has yet."""
    index = Index.open(place)
    index.remove("s0")
    index.add_all(more)
    return index


WORKS = {
    "merge": lambda place, more: changed(place, more).merge,
    "first save": lambda place, more: partial(Index.build(*reversed(world(1))).save, place / "first"),
    "save elsewhere": lambda place, more: partial(changed(place, more).save, place / "elsewhere"),
}
"""What may be killed: made ready in one step, done in the other."""

DYING = """
import os, resource, shutil, signal, sys
from pathlib import Path
from tests.matching.engine.test_folder import WORKS, world
from triplewire.matching.engine.index import Index

STEPS = ("open", "os.mkdir", "os.rename", "os.truncate", "os.remove", "os.rmdir")
saved = Path(sys.argv[1])
model, more = world(2, 5)
Index.build(more, model).merge()  # so that what is compiled is there before the forks

def use_at_most(place, uses):
    left = uses
    def watch(step, arguments):
        nonlocal left
        if step in STEPS and str(place) in str(arguments):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), 9)
    sys.addaudithook(watch)

def write_at_most(place, size):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which kills in the middle of a write
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

def dies(kind, limit, most):
    place = saved.parent / f"dying {kind} {limit.__name__} {most}"
    shutil.copytree(saved, place)
    child = os.fork()
    if not child:
        work = WORKS[kind](place, more)
        limit(place, most)
        work()
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0

for kind in WORKS:
    assert any(not dies(kind, use_at_most, uses) for uses in range(100))
    for size in (0, 100, 1000, 5000):
        assert dies(kind, write_at_most, size)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> list[Path]:
    """Folders whose writers were killed: at the first, second, third, … use of a file, until they were through; and
    in the middle of writing one."""
    saved = make(tmp_path_factory.mktemp("killed"))
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    subprocess.run([sys.executable, "-c", DYING, str(saved)], env=environment, check=True)
    return list(saved.parent.glob("dying *"))


def found(matcher):
    return [matcher.match(event) for event in events(7, 3)]


def after_changes():
    model_, subscriptions = world(1)
    expected = brute(model_, subscriptions)
    expected.remove("s0")
    for one in world(2, 5)[1]:
        expected.add(one)
    return found(expected)


@pytest.mark.parametrize("kind", WORKS)
def test_a_writer_killed_at_any_step_loses_nothing(kind, killed):
    """What was there is there, with all its changes; and it goes on from there."""
    places = [place for place in killed if place.name.startswith(f"dying {kind} ")]
    assert len(places) > 12
    expected = found(brute(*world(1))) if kind == "first save" else after_changes()
    for place in places:
        survivor = Index.open(place)
        assert found(survivor) == expected
        survivor.merge()
        survivor.close()
        assert found(Index.open(place)) == expected
        assert not list(place.glob("unfinished*"))


@pytest.mark.parametrize("kind", ["first save", "save elsewhere"])
def test_a_first_save_that_was_killed_is_refused_by_name_until_it_is_done_again(kind, killed):
    refused = whole = 0
    for place in (place for place in killed if place.name.startswith(f"dying {kind} ")):
        half = place / ("first" if kind == "first save" else "elsewhere")
        try:
            assert found(Index.open(half)) == found(Index.open(place))
            whole += 1
        except IndexFolderError as error:
            assert half.name in str(error)
            assert "holds no index" in str(error)
            refused += 1
        index = Index.open(place)
        index.save(half)
        index.close()
        assert found(Index.open(half)) == found(Index.open(place))
        assert not list(half.glob("unfinished*"))
    assert refused > 12
    assert whole >= 1


FULL = """
import resource, sys
from pathlib import Path
from tests.matching.engine.test_folder import world
from triplewire.matching.engine.index import Index

def files_of_at_most(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(work):
    try:
        work()
    except OSError:
        return True

saved = Path(sys.argv[1])
index = Index.open(saved)
index.remove("s0")
_, more = world(2, 5)
for one in more[:3]:
    files_of_at_most(index._writer.journal.end + 50)
    assert refused(lambda: index.add(one))
    assert refused(lambda: index.save(saved.parent / "elsewhere"))
    assert refused(index.merge)
    files_of_at_most(resource.RLIM_INFINITY)
    index.remove(f"s{more.index(one) + 1}")
index.add_all(more[3:])
"""


def test_what_a_full_disk_refused_is_not_there_and_what_came_after_it_is(saved):
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    subprocess.run([sys.executable, "-c", FULL, str(saved)], env=environment, check=True)
    model_, subscriptions = world(1)
    expected = brute(model_, subscriptions)
    for number in range(4):
        expected.remove(f"s{number}")
    for one in world(2, 5)[1][3:]:
        expected.add(one)
    assert told(Index.open(saved)) == told(expected)
    with pytest.raises(IndexFolderError, match="elsewhere holds no index"):
        Index.open(saved.parent / "elsewhere")


def test_what_comes_after_a_merge_that_failed_when_all_was_written_is_kept(saved, monkeypatch):
    sync_folder, calls = folder.sync_folder, []

    def failing(path: Path) -> None:
        calls.append(path)
        if len(calls) > 1:
            raise OSError("the disk is gone")
        sync_folder(path)

    index = Index.open(saved)
    name = folder.current_name(saved)
    monkeypatch.setattr(folder, "sync_folder", failing)
    with pytest.raises(OSError, match="the disk is gone"):
        index.merge()
    assert folder.current_name(saved) != name
    index.remove("s0")
    index.close()
    assert not Index.open(saved)._now().has("s0")
    assert len(Index.open(saved)) == len(index)


def test_a_reader_that_has_looked_at_nothing_yet_finds_all_in_a_version_that_is_gone(saved, monkeypatch):
    for small in (1 << 30, 0):
        monkeypatch.setattr(files, "SMALL", small)
        reader, expected = Index.open(saved), told(Index.open(saved))
        writer = Index.open(saved)
        for _ in range(folder._KEPT):
            writer.merge()
        writer.close()
        assert not reader._version.arrays.path.exists()
        assert told(reader) == expected


def test_what_is_added_while_an_index_is_saved_is_saved(tmp_path):
    model_, subscriptions = world(1, 300)
    index = Index.build(subscriptions[:100], model_)
    left = iter(subscriptions[100:])
    adding = threading.Thread(target=lambda: [index.add(one) for one in left])
    adding.start()
    for name in ("a", "b", "a", "c"):
        index.save(tmp_path / name)
    adding.join()
    index.close()
    assert len(Index.open(tmp_path / "c")) == 300


LOADED = """
import runpy, sys
try:
    runpy.run_module("triplewire", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code
print(sorted({"rdflib", "pyparsing", "lark", "pyarrow", "pyspark", "sqlalchemy", "fastapi"} & set(sys.modules)))
"""


def test_a_command_that_matches_with_an_index_loads_no_parser_of_subscriptions(saved):
    (saved.parent / "events.ndjson").write_text(json.dumps(cloud_event("_:H a <http://example.org/A> .")) + "\n")
    arguments = ["match", "--index", str(saved), "--events", str(saved.parent / "events.ndjson")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", LOADED, *arguments]
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    assert told[-1] == "[]"
    assert len(told) > 1
